#!/usr/bin/env bash
# One would guess: whether Groonga finds a post for a word depends on the words of that post, and another post does not change it.
# What happens: if no post has the word, it looks for words that begin with it ("escalation"; match_escalation_threshold is 0). `run`
# finds posts with running and runner, until somebody writes one with run: from then on that one is all that is found. A site that was
# tried out with few posts seems to find parts of words, and loses them as it grows, word by word. The end of a word (`ning`)
# is not found.
# Seen with: Groonga 13.0.0 (Debian 12: 13.0.0+dfsg-3~deb12u1). Source: its reference of `select`; three posts. Needs Debian 12 with its package
# lists (apt-get update).
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
chmod 755 "$folder"
pins=(groonga-bin@13.0.0+dfsg-3~deb12u1 libgroonga0@13.0.0+dfsg-3~deb12u1 libmsgpackc2@4.0.0-3)
apt-get download "${pins[@]/@/=}" > /dev/null 2>&1 # to apt it is groonga-bin=13.0.0…
for package in *.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH=$PWD/root/usr/lib/x86_64-linux-gnu
{
  echo "table_create Posts TABLE_NO_KEY"
  echo "column_create Posts title COLUMN_SCALAR ShortText"
  echo "table_create Terms TABLE_PAT_KEY ShortText --default_tokenizer TokenBigram --normalizer NormalizerAuto"
  echo "column_create Terms titles COLUMN_INDEX|WITH_POSITION Posts title"
  for title in "Running shoes" "A runner" "Run fast"; do
    echo "load --table Posts"
    echo "[{\"title\":\"$title\"}]"
    for word in run ning; do echo "select Posts --match_columns title --output_columns title --query $word"; done
  done
} | root/usr/bin/groonga -n posts.db | python3 -c '
import json, sys
for line in sys.stdin:
    answer = json.loads(line)[1]
    print([row[0] for row in answer[0][2:]] if isinstance(answer, list) else f"{answer}:")' | tail -n +5 | tee seen
diff seen - <<'SEEN'
1:
['Running shoes']
[]
1:
['Running shoes', 'A runner']
[]
1:
['Run fast']
[]
SEEN
