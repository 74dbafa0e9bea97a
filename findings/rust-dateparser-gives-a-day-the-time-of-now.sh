#!/usr/bin/env bash
# One would guess: the crate dateparser reads "2026-03-04", a date without a time, as the midnight that begins it, or as no moment at all.
# What happens: the time is that of the clock when it is read, in the zone of the machine. Each build gives a post another date, two posts of
# one day come in the order in which they were read, and with a zone beside UTC the day in UTC is the one before or after for some hours
# of each day. Numbers are American whatever stands between them: 4.3.2026, as German has the fourth of March, is the third of
# April. "Mar 4 2026", "4-Mar-2026", "March 4th, 2026" and 2026-03-04T09:30 (which HTML's datetime-local has) are none at all.
# Seen with: dateparser 0.3.1. Source: 12 dates, each read twice; a zone of UTC+14 and one of UTC-12.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
cargo init --quiet --name seen
for pin in dateparser@0.3.1 chrono@0.4.45; do
  cargo add --quiet "${pin/@/@=}"
done
cat > src/main.rs <<'RS'
use chrono::{FixedOffset, Utc};
use std::{thread::sleep, time::Duration};

fn main() {
    let dates = [
        "2026-03-04", "March 4, 2026", "2026.03.04", "4.3.2026", "13.4.2026", "04/03/2026", "2026-03-04 09:30", "2026-03-04T09:30:00Z",
        "2026-03-04T09:30", "Mar 4 2026", "4-Mar-2026", "March 4th, 2026",
    ];
    for text in dates {
        let Ok(first) = dateparser::parse_with_timezone(text, &Utc) else {
            println!("{text}: not read");
            continue;
        };
        sleep(Duration::from_millis(20));
        let second = dateparser::parse_with_timezone(text, &Utc).unwrap();
        println!("{text}: {}{}", first.format("%-d %B"), if first == second { "" } else { ", at another time a moment later" });
    }
    let days: Vec<String> = [14, -12].iter().map(|hours| {
        let zone = FixedOffset::east_opt(hours * 3600).unwrap();
        dateparser::parse_with_timezone("2026-03-04", &zone).unwrap().format("%-d").to_string()
    }).collect();
    println!("2026-03-04 is one day in UTC from both zones: {}", days[0] == days[1]);
}
RS
cargo run --quiet | tee seen
diff seen - <<'SEEN'
2026-03-04: 4 March, at another time a moment later
March 4, 2026: 4 March, at another time a moment later
2026.03.04: 4 March, at another time a moment later
4.3.2026: 3 April, at another time a moment later
13.4.2026: not read
04/03/2026: 3 April, at another time a moment later
2026-03-04 09:30: 4 March
2026-03-04T09:30:00Z: 4 March
2026-03-04T09:30: not read
Mar 4 2026: not read
4-Mar-2026: not read
March 4th, 2026: not read
2026-03-04 is one day in UTC from both zones: false
SEEN
