#!/usr/bin/env bash
# One would guess: in the package limits (of Flask-Limiter and slowapi) a request that is refused costs nothing, the strategies differ only
# in where a window begins, and two identifiers are two limits.
# What happens: in a fixed window, the usual strategy, a refused request is counted in full: of 3 a minute, with 2 used, one that costs 2 is
# refused, and so is then one that costs 1; one that costs 5 is refused and locks out all others until the window ends. The moving and the
# sliding window do not count it. parse("100/hour; 5/second") is 100 an hour: it reads the first limit and drops the stricter one without an
# error (parse_many reads both). Identifiers are joined by a slash, so that ("notes", "2026/rye") and ("notes/2026", "rye") share one limit.
# Seen with: limits 5.8.0, in memory. Source: four requests under each strategy.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet limits==5.8.0
cat > try.py <<'PY'
from limits import parse, parse_many
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter, SlidingWindowCounterRateLimiter

three, one = parse("3/hour"), parse("1/hour")
for strategy in (FixedWindowRateLimiter, MovingWindowRateLimiter, SlidingWindowCounterRateLimiter):
    limiter = strategy(MemoryStorage())
    costs = [limiter.hit(three, "ann", cost=cost) for cost in (2, 2, 1)]
    large = [limiter.hit(three, "bob", cost=cost) for cost in (5, 1)]
    shared = [limiter.hit(one, *identifiers) for identifiers in (("notes", "2026/rye"), ("notes/2026", "rye"))]
    print(f"{strategy.__name__}: 2, 2, 1 {costs}; 5, 1 {large}; two identifiers {shared}")
for text in ("100/hour; 5/second", "100/hour, 5/second"):
    print(f"{text}: parse {parse(text)}, parse_many {parse_many(text)}")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
FixedWindowRateLimiter: 2, 2, 1 [True, False, False]; 5, 1 [False, False]; two identifiers [True, False]
MovingWindowRateLimiter: 2, 2, 1 [True, False, True]; 5, 1 [False, True]; two identifiers [True, False]
SlidingWindowCounterRateLimiter: 2, 2, 1 [True, False, True]; 5, 1 [False, True]; two identifiers [True, False]
100/hour; 5/second: parse 100 per 1 hour, parse_many [100 per 1 hour, 5 per 1 second]
100/hour, 5/second: parse 100 per 1 hour, parse_many [100 per 1 hour, 5 per 1 second]
SEEN
