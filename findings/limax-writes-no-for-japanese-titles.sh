#!/usr/bin/env bash
# One would guess: limax, which writes addresses for titles in Chinese, Japanese and other scripts, has a word for each word of a title, or none.
# What happens: where a title has kana, it is Japanese, and only the kana are written: 日本語の検索 (search in Japanese), 東京の天気 (the weather in Tokyo)
# and 今年の本 (the books of this year) have the address "no", the particle の between their nouns, and 検索する "suru". Three posts
# are one page, or one is overwritten. Without kana the same nouns are read as Chinese: 検索 is jian3-suo3. transliteration and any-ascii
# write all characters, as Chinese; slugify writes nothing.
# Seen with: limax 4.2.3, transliteration 2.6.1, any-ascii 0.3.3, slugify 1.6.9. Source: seven titles.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund limax@4.2.3 transliteration@2.6.1 any-ascii@0.3.3 slugify@1.6.9
cat > try.mjs <<'JS'
import anyAscii from "any-ascii";
import limax from "limax";
import slugify from "slugify";
import { slugify as transliterated } from "transliteration";
for (const title of ["日本語の検索", "東京の天気", "今年の本", "検索する", "検索", "ラーメンの店", "你好世界"])
  console.log(`${title}: limax ${limax(title) || "nothing"}, transliteration ${transliterated(title)}, any-ascii ${anyAscii(title)}, slugify ${slugify(title) || "nothing"}`);
JS
node try.mjs | tee seen
diff seen - <<'SEEN'
日本語の検索: limax no, transliteration ri-ben-yu-nojian-suo, any-ascii RiBenYunoJianSuo, slugify nothing
東京の天気: limax no, transliteration dong-jing-notian-qi, any-ascii DongJingnoTianQi, slugify nothing
今年の本: limax no, transliteration jin-nian-noben, any-ascii JinNiannoBen, slugify nothing
検索する: limax suru, transliteration jian-suo-suru, any-ascii JianSuosuru, slugify nothing
検索: limax jian3-suo3, transliteration jian-suo, any-ascii JianSuo, slugify nothing
ラーメンの店: limax rmenno, transliteration ramennodian, any-ascii ramennoDian, slugify nothing
你好世界: limax ni3-hao3-shi4-jie4, transliteration ni-hao-shi-jie, any-ascii NiHaoShiJie, slugify nothing
SEEN
