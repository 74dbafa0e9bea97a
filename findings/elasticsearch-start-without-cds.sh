#!/usr/bin/env bash
# One would guess: class data sharing (a CDS or AOT archive, JDK 13 and later) makes a second start of Elasticsearch quicker,
# as it does for other large Java programs.
# What happens: Elasticsearch 9.4.3 starts its server with --patch-module=java.base=… (the bridge of its entitlements), and
# with a patched java.base a JVM uses no archive at all, not even that of the JDK itself.
# Version: Elasticsearch 9.4.3, JDK 17 or later. Source: its own GET _nodes/jvm, and `java -Xshare:on`, which insists on it.
set -euo pipefail
cd "$(mktemp -d)"
url="${ELASTICSEARCH_URL:-http://127.0.0.1:9200}"
java="${ES_JAVA_HOME:-${JAVA_HOME:-}}"
java="${java:+$java/bin/}java"

version="$(curl -fsS "$url" | python3 -c 'import json, sys; print(json.load(sys.stdin)["version"]["number"])')"
curl -fsS "$url/_nodes/_local/jvm" > jvm.json
patch="$(python3 -c '
import json
(node,) = json.load(open("jvm.json"))["nodes"].values()
print(next(word for word in node["jvm"]["input_arguments"] if word.startswith("--patch-module=java.base=")))
')"
[ "$version" = "9.4.3" ] || { echo "this was seen with elasticsearch:9.4.3"; exit 2; }
echo "Elasticsearch $version runs with ${patch##*/}"
"$java" -version 2>&1 | head -1

"$java" -Xshare:on -version > plain.txt 2>&1
echo "without it: $(tail -1 plain.txt)"
mkdir patch
if "$java" -Xshare:on --patch-module=java.base=patch -version > patched.txt 2>&1; then
  echo "changed: a patched java.base takes the archive now"
  exit 1
fi
grep -i "CDS" patched.txt
