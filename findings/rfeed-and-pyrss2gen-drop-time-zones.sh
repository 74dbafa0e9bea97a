#!/usr/bin/env bash
# One would guess: a date with a time zone is the same moment in the feed that is written of it.
# What happens: rfeed and PyRSS2Gen write the hours and minutes as they are and put GMT behind them. A post of 09:30 in Rome is one of
# 09:30 GMT, an hour or two too late: whoever leaves out posts dated in the future leaves it out just when it is new. feedgen keeps the
# zone, but its Atom says of each entry without `updated` that it has changed now, at each build.
# Seen with: rfeed 1.1.1, PyRSS2Gen 1.1, feedgen 1.0.0, feedgenerator 2.2.1; read with feedparser 6.0.14. Source: one item in five feeds.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
python3 -m venv venv
venv/bin/pip --disable-pip-version-check install --quiet setuptools==80.9.0 wheel==0.45.1
venv/bin/pip --disable-pip-version-check install --quiet --no-build-isolation rfeed==1.1.1 PyRSS2Gen==1.1
venv/bin/pip --disable-pip-version-check install --quiet feedgen==1.0.0 feedgenerator==2.2.1 feedparser==6.0.14
cat > try.py <<'PY'
from calendar import timegm
from datetime import datetime, timedelta, timezone

import feedgenerator, feedparser, PyRSS2Gen, rfeed
from feedgen.feed import FeedGenerator

DAY, SITE = datetime(2024, 6, 14, 9, 30, tzinfo=timezone(timedelta(hours=2))), "https://blog.example.org/"
item = rfeed.Item(title="Rye", link=SITE, pubDate=DAY)
feeds = {"rfeed": rfeed.Feed(title="Mill", link=SITE, description="All", items=[item]).rss()}
item = PyRSS2Gen.RSSItem(title="Rye", link=SITE, pubDate=DAY)
feeds["PyRSS2Gen"] = PyRSS2Gen.RSS2(title="Mill", link=SITE, description="All", items=[item]).to_xml("utf-8")
feed = feedgenerator.Rss201rev2Feed("Mill", SITE, "All")
feed.add_item("Rye", SITE, "", pubdate=DAY)
feeds["feedgenerator"] = feed.writeString("utf-8")
feed = FeedGenerator()
for set_field in (feed.id, feed.title, feed.description):
    set_field("Mill")
feed.link(href=SITE)
entry = feed.add_entry()
entry.id(SITE), entry.title("Rye"), entry.link(href=SITE), entry.published(DAY)
feeds["feedgen"], feeds["feedgen, Atom"] = feed.rss_str(), feed.atom_str()
for name, text in feeds.items():
    (read,) = feedparser.parse(text).entries
    print(f"{name}: {read.published}, {(timegm(read.published_parsed) - DAY.timestamp()) / 3600:+} hours")
print("feedgen, Atom: changed", "then" if timegm(read.updated_parsed) == DAY.timestamp() else "when the feed was built")
PY
venv/bin/python try.py | tee seen
diff seen - <<'SEEN'
rfeed: Fri, 14 Jun 2024 09:30:00 GMT, +2.0 hours
PyRSS2Gen: Fri, 14 Jun 2024 09:30:00 GMT, +2.0 hours
feedgenerator: Fri, 14 Jun 2024 09:30:00 +0200, +0.0 hours
feedgen: Fri, 14 Jun 2024 09:30:00 +0200, +0.0 hours
feedgen, Atom: 2024-06-14T09:30:00+02:00, +0.0 hours
feedgen, Atom: changed when the feed was built
SEEN
