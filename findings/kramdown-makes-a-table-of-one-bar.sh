#!/usr/bin/env bash
# One would guess: kramdown, which reads the posts of Jekyll, takes a line for a table where it begins with a bar or has a row of dashes below it, as
# Markdown of GitHub and PHP Markdown Extra ask for.
# What happens: one bar anywhere in a paragraph is enough. "Run ls | wc to count" is a table with two cells, without a heading, "Either | or" is too, and
# "if (a || b) return" has three cells, one of them empty. The bars are gone from page, feed and index, the sentence stands in two columns, and a
# phrase over the bar is found nowhere. In `code` a bar is a bar. So it is with the parser GFM, which Jekyll takes, too. A line that
# begins with a colon makes a list of definitions of the line above: "10:30" above ": later".
# Seen with: kramdown 2.4.0, kramdown-parser-gfm 1.1.0 (Debian 12). Source: 45 lines. Needs Debian 12 with its package lists (apt-get update).
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder"
chmod 755 "$folder"
pins=(ruby-kramdown@2.4.0-2 ruby-kramdown-parser-gfm@1.1.0-2)
# To apt it is ruby-kramdown=2.4.0-2. Ruby itself is the one of Debian.
apt-get download "${pins[@]/@/=}" ruby3.1 libruby3.1 libgmp10 libyaml-0-2 libffi8 > /dev/null 2>&1
for package in *.deb; do dpkg -x "$package" root; done
ruby=root/usr/lib/ruby libraries=root/usr/lib/x86_64-linux-gnu gems=root/usr/share/rubygems-integration/all/gems
export LD_LIBRARY_PATH=$PWD/$libraries RUBYOPT=--disable-gems
RUBYLIB=$(printf '%s:' "$PWD"/{$ruby/3.1.0,$libraries/ruby/3.1.0,$ruby/vendor_ruby,$gems/kramdown-2.4.0/lib,$gems/kramdown-parser-gfm-1.1.0/lib} \
  "$PWD"/$ruby/gems/3.1.0/gems/rexml-*/lib)
export RUBYLIB
cat > try.rb <<'RB'
require "kramdown"
require "kramdown-parser-gfm"

["Run ls | wc to count", "Either | or", "if (a || b) return", "`ls | wc`", "| a | b |", "10:30\n: later"].each do |text|
  pages = %w[kramdown GFM].map { |parser| Kramdown::Document.new(text, input: parser).to_html.gsub(/\s*\n\s*/, "") }
  puts "#{text.inspect}: #{pages.uniq.join(' or ')}"
end
RB
root/usr/bin/ruby3.1 try.rb | tee seen
diff seen - <<'SEEN'
"Run ls | wc to count": <table><tbody><tr><td>Run ls</td><td>wc to count</td></tr></tbody></table>
"Either | or": <table><tbody><tr><td>Either</td><td>or</td></tr></tbody></table>
"if (a || b) return": <table><tbody><tr><td>if (a</td><td> </td><td>b) return</td></tr></tbody></table>
"`ls | wc`": <p><code>ls | wc</code></p>
"| a | b |": <table><tbody><tr><td>a</td><td>b</td></tr></tbody></table>
"10:30\n: later": <dl><dt>10:30</dt><dd>later</dd></dl>
SEEN
