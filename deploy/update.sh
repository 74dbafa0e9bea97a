#!/bin/sh
# Updates a service that runs with Docker Compose, and prints how to go back. `make update` runs it;
# with PULL=1 it runs `git pull` first. Searches go on: the index is rebuilt beside the live one, and
# behind the proxy one of the two containers of the service answers while the other is replaced.
set -eu
cd "$(dirname "$0")/.."

if [ "${1:-}" = --pull ]; then
  git pull --ff-only
  exec "$0"  # the new version of this script
fi

VERSION=$(git describe --tags --exact-match --match 'v*' 2>/dev/null | sed 's/^v//' | grep .) ||
  VERSION=0.1.0+g$(git rev-parse --short=12 HEAD)
export VERSION
services=$(docker compose config --services)
# Not `config --images app`: it also lists the engines' images, in any order.
image=$(docker compose config | sed -n '/^  app:/,/^  [a-z]/s/^    image: //p')
previous=${image%:*}:previous

say() { echo "update: $*" >&2; }

say "building version $VERSION"
if docker image inspect "$image" >/dev/null 2>&1; then
  docker tag "$image" "$previous"
fi
docker compose build app

say "starting the engines; they are replaced only if docker-compose.yml names another version"
docker compose up --detach --no-deps --wait elasticsearch redis

say "rebuilding the index if this version needs it; the old version answers meanwhile"
docker compose run --rm --no-deps rebuild

# Not the proxy: while it is replaced, connections are refused.
for service in app app-second index export; do
  if echo "$services" | grep -qx "$service"; then
    say "replacing $service"
    docker compose up --detach --no-deps --wait "$service"
  fi
done

docker compose exec -T app blogsearch doctor || say "doctor found a problem, see above."
if echo "$services" | grep -qx proxy; then
  say "the proxy was not replaced; for another nginx.conf or version: docker compose up --detach --no-deps proxy"
fi
cat >&2 <<END
update: done. To go back to the previous version:
  docker compose exec app blogsearch rollback     # if the index was rebuilt, see above
  docker tag $previous $image
  docker compose up --detach --no-deps $(echo app app-second index export | tr ' ' '\n' | grep -Fx "$services" | tr '\n' ' ')
END
