#!/usr/bin/env bash
# One would guess: a date with more digits behind the second than microseconds, as .NET (seven) and Go (nine) write it, is cut, so that
# what is in 2026 stays there.
# What happens: msgspec rounds: 2026-12-31T23:59:59.9999999Z, the last moment of a year in .NET, is the first of 2027, and a post of the
# last day of a month is one of the next. arrow does the same. The standard library, pydantic, pendulum, dateutil and Elasticsearch
# cut, so that a date in the index and in the program that reads it are in two years.
# Seen with: msgspec 0.23.0, arrow 1.4.0, pydantic 2.14.4, pendulum 3.3.0, python-dateutil 2.9.0.post0; Python 3.11. With ELASTICSEARCH_URL
# Elasticsearch 9.4.3 is asked. Source: three times with seven and nine digits.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet msgspec==0.23.0 arrow==1.4.0 pydantic==2.14.4 pendulum==3.3.0 python-dateutil==2.9.0.post0
cat > try.py <<'PY'
import datetime
import json

import arrow
import dateutil.parser
import msgspec
import pendulum
import pydantic

READERS = {
    "msgspec": lambda text: msgspec.json.decode(json.dumps(text), type=datetime.datetime), "arrow": lambda text: arrow.get(text).datetime,
    "pydantic": pydantic.TypeAdapter(datetime.datetime).validate_python, "pendulum": pendulum.parse,
    "dateutil": dateutil.parser.parse, "fromisoformat": datetime.datetime.fromisoformat,
}
for text in ("2026-12-31T23:59:59.9999999Z", "2026-12-31T23:59:59.999999999Z", "2026-12-31T23:59:59.1234567Z"):
    for name, read in READERS.items():
        print(f"{text} {name}: {read(text):%Y-%m-%d %H:%M:%S.%f}")
PY
venv/bin/python try.py | tee seen
if [ -n "${ELASTICSEARCH_URL:-}" ]; then
  index=finding-round-$$
  curl --silent --fail -X PUT "$ELASTICSEARCH_URL/$index" -H 'Content-Type: application/json' \
    -d '{"settings": {"number_of_replicas": 0}, "mappings": {"properties": {"day": {"type": "date"}}}}' > created
  curl --silent --fail -X POST "$ELASTICSEARCH_URL/$index/_doc?refresh=true" -H 'Content-Type: application/json' \
    -d '{"day": "2026-12-31T23:59:59.9999999Z"}' > written
  curl --silent --fail "$ELASTICSEARCH_URL/$index/_search?_source=false&docvalue_fields=day" | grep -o '2026-12-31T23:59:59.999Z'
  curl --silent --fail -X DELETE "$ELASTICSEARCH_URL/$index" > deleted
fi
diff seen - <<'SEEN'
2026-12-31T23:59:59.9999999Z msgspec: 2027-01-01 00:00:00.000000
2026-12-31T23:59:59.9999999Z arrow: 2027-01-01 00:00:00.000000
2026-12-31T23:59:59.9999999Z pydantic: 2026-12-31 23:59:59.999999
2026-12-31T23:59:59.9999999Z pendulum: 2026-12-31 23:59:59.999999
2026-12-31T23:59:59.9999999Z dateutil: 2026-12-31 23:59:59.999999
2026-12-31T23:59:59.9999999Z fromisoformat: 2026-12-31 23:59:59.999999
2026-12-31T23:59:59.999999999Z msgspec: 2027-01-01 00:00:00.000000
2026-12-31T23:59:59.999999999Z arrow: 2027-01-01 00:00:00.000000
2026-12-31T23:59:59.999999999Z pydantic: 2026-12-31 23:59:59.999999
2026-12-31T23:59:59.999999999Z pendulum: 2026-12-31 23:59:59.999999
2026-12-31T23:59:59.999999999Z dateutil: 2026-12-31 23:59:59.999999
2026-12-31T23:59:59.999999999Z fromisoformat: 2026-12-31 23:59:59.999999
2026-12-31T23:59:59.1234567Z msgspec: 2026-12-31 23:59:59.123457
2026-12-31T23:59:59.1234567Z arrow: 2026-12-31 23:59:59.123457
2026-12-31T23:59:59.1234567Z pydantic: 2026-12-31 23:59:59.123456
2026-12-31T23:59:59.1234567Z pendulum: 2026-12-31 23:59:59.123456
2026-12-31T23:59:59.1234567Z dateutil: 2026-12-31 23:59:59.123456
2026-12-31T23:59:59.1234567Z fromisoformat: 2026-12-31 23:59:59.123456
SEEN
