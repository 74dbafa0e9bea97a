#!/usr/bin/env bash
# One would guess: chrono, which has a parser for each of many languages, reads a month and a year in all of them, and the year of a date
# wherever it reads its day and month.
# What happens: "May 2026" is the first of May in English, Spanish, Dutch, Italian and Russian; in French, German, Portuguese, Swedish and
# Finnish no month without a day is found at all. In Spanish "3 de septiembre del 2025", as Latin America writes it, is the third of
# September of the next year, as if none were given, and "septiembre 3, 2025" the first of September 2003.
# Seen with: chrono-node 2.10.3, asked on 30 November 2026. Source: the twelve months with and without a day in nine languages.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund chrono-node@2.10.3
cat > try.mjs <<'JS'
import * as chrono from "chrono-node";
const asked = new Date("2026-11-30T12:00:00Z");
const read = (language, text) => {
  const found = chrono[language].parse(text, asked);
  return found.map((date) => `${date.date().toISOString().slice(0, 10)} from "${date.text}"`).join() || "nothing";
};
const mays = { en: "May", es: "mayo", nl: "mei", it: "maggio", ru: "май", fr: "mai", de: "Mai", pt: "maio", sv: "maj", fi: "toukokuu" };
for (const [language, may] of Object.entries(mays)) console.log(`${language}, ${may} 2026:`, read(language, `${may} 2026`));
for (const text of ["3 de septiembre de 2025", "3 de septiembre del 2025", "septiembre 3, 2025"]) console.log(`${text}:`, read("es", text));
JS
TZ=UTC node try.mjs | tee seen
diff seen - <<'SEEN'
en, May 2026: 2026-05-01 from "May 2026"
es, mayo 2026: 2026-05-01 from "mayo 2026"
nl, mei 2026: 2026-05-01 from "mei 2026"
it, maggio 2026: 2026-05-01 from "maggio 2026"
ru, май 2026: 2026-05-01 from "май 2026"
fr, mai 2026: nothing
de, Mai 2026: nothing
pt, maio 2026: nothing
sv, maj 2026: nothing
fi, toukokuu 2026: nothing
3 de septiembre de 2025: 2025-09-03 from "3 de septiembre de 2025"
3 de septiembre del 2025: 2026-09-03 from "3 de septiembre"
septiembre 3, 2025: 2003-09-01 from "septiembre 3"
SEEN
