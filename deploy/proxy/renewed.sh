#!/bin/sh
# certbot's deploy hook: copies a new certificate to where the proxy of docker-compose.yml reads it,
# and makes nginx reload it. certbot sets RENEWED_LINEAGE, such as /etc/letsencrypt/live/search.example.org.
set -eu
cd "$(dirname "$0")/../.."
user=${PROXY_USER:-$(sed -n 's/^PROXY_USER=//p' .env 2>/dev/null || true)}
mkdir -p certificates
install -m 644 "$RENEWED_LINEAGE/fullchain.pem" certificates/fullchain.pem
install -m 600 -o "${user:-101}" "$RENEWED_LINEAGE/privkey.pem" certificates/privkey.pem
[ -z "$(docker compose ps --quiet proxy)" ] || docker compose exec -T proxy nginx -s reload
