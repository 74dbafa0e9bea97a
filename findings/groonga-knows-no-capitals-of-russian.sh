#!/usr/bin/env bash
# One would guess: Groonga's NormalizerAuto, which its tutorial uses, and which is the default of PGroonga, lets capitals and small
# letters find each other in each script that has both, as it does for café and ÜBER.
# What happens: it changes capitals of Latin letters that its table (of Unicode 5.0) has, not those of Russian, Greek or Armenian, nor Œ, Ł, Ø and Đ.
# Русский at the beginning of a sentence is not found by русский, nor Москва by москва, and Łódź not by łódź. NormalizerNFKC150
# changes all of them, and has to be named for each index.
# Seen with: Groonga 13.0.0 (Debian 12: 13.0.0+dfsg-3~deb12u1). Source: issue 303 of groonga/groonga, of 2015; words of titles. Needs Debian 12
# with its package lists (apt-get update).
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
chmod 755 "$folder"
pins=(groonga-bin@13.0.0+dfsg-3~deb12u1 libgroonga0@13.0.0+dfsg-3~deb12u1 libmsgpackc2@4.0.0-3)
apt-get download "${pins[@]/@/=}" > /dev/null 2>&1 # to apt it is groonga-bin=13.0.0…
for package in *.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH=$PWD/root/usr/lib/x86_64-linux-gnu
for normalizer in NormalizerAuto NormalizerNFKC150; do
  {
    echo "table_create Posts TABLE_NO_KEY"
    echo "column_create Posts title COLUMN_SCALAR ShortText"
    echo "table_create Terms TABLE_PAT_KEY ShortText --default_tokenizer TokenBigram --normalizer $normalizer"
    echo "column_create Terms titles COLUMN_INDEX|WITH_POSITION Posts title"
    echo "load --table Posts"
    echo '[{"title":"Café"},{"title":"Über uns"},{"title":"Русский язык"},{"title":"Москва"},{"title":"Ελλάδα"},{"title":"Œuvre"},{"title":"Łódź"},{"title":"Ørsted"}]'
    for word in café über русский москва ελλάδα œuvre łódź ørsted; do
      echo "select Posts --match_columns title --output_columns title --query $word"
    done
  } | root/usr/bin/groonga -n "$normalizer.db" | tail -n 8 | python3 -c '
import json, sys
print(sys.argv[1], *(" ".join(row[0] for row in json.loads(line)[1][0][2:]) or "-" for line in sys.stdin), sep=", ")' "$normalizer"
done | tee seen
diff seen - <<'SEEN'
NormalizerAuto, Café, Über uns, -, -, -, -, -, -
NormalizerNFKC150, Café, Über uns, Русский язык, Москва, Ελλάδα, Œuvre, Łódź, Ørsted
SEEN
