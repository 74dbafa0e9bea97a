#!/usr/bin/env bash
# One would guess: dateparser, which needs no language, reads "14 Mart 2025" (Turkish) as the 14th of March, or says that it cannot.
# What happens: it takes out what looks like a time zone before it tries its languages, and MART is the time of the Marquesas, SET
# one of its zones, too. "14 2025" is left, which is the 14th of the present month, and "3 2025" of "3 Mart 2025" is March, on the present
# day. So it is with "3 set 2025" (Italian, Portuguese: September). A weekday beside it, or `languages=["tr"]`, helps. Two more months are
# those of other languages: "listopada", October in Croatian, is November (Polish), and the Polish short form "paź" (October) November.
# Seen with: dateparser 1.5.0, asked on 30 November 2026. Source: the twelve months of 21 languages, each in three forms.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet dateparser==1.5.0
cat > try.py <<'PY'
import datetime

import dateparser

asked = {"RELATIVE_BASE": datetime.datetime(2026, 11, 30)}
for text in ("14 Mart 2025", "3 Mart 2025", "3 Mart 2025 Pazartesi", "14 set 2025", "3 set 2025", "14 listopada 2025", "14 paź 2025"):
    print(f"{text}: {dateparser.parse(text, settings=asked)}")
for text, language in (("14 Mart 2025", "tr"), ("14 set 2025", "it"), ("14 listopada 2025", "hr"), ("14 paź 2025", "pl")):
    print(f"{text} in {language}: {dateparser.parse(text, languages=[language], settings=asked)}")
PY
venv/bin/python -W ignore try.py | tee seen
diff seen - <<'SEEN'
14 Mart 2025: 2025-11-14 00:00:00-09:30
3 Mart 2025: 2025-03-30 00:00:00-09:30
3 Mart 2025 Pazartesi: 2025-03-03 00:00:00
14 set 2025: 2025-11-14 00:00:00+01:00
3 set 2025: 2025-03-30 00:00:00+01:00
14 listopada 2025: 2025-11-14 00:00:00
14 paź 2025: 2025-11-14 00:00:00
14 Mart 2025 in tr: 2025-03-14 00:00:00
14 set 2025 in it: 2025-09-14 00:00:00
14 listopada 2025 in hr: 2025-10-14 00:00:00
14 paź 2025 in pl: 2025-10-14 00:00:00
SEEN
