"""`blogsearch popularity`: store how much each post is read, which ranks it a little higher."""

from collections import defaultdict
from pathlib import Path

import click
from msgspec.structs import replace

from app.commands.runs import publish_after
from app.commands.tools import UNCHANGED, Tools, command, pass_tools, read_csv
from indexer.posts.addresses import address_of
from indexer.posts.normalise import Invalid
from indexer.posts.normalise import popularity as number_of
from indexer.posts.records import quantity
from indexer.store.generations import require_live
from indexer.store.scan import doc_values
from indexer.write.live import Change, write

_LISTED = 20  # addresses without a post
_DAYS = 90


@command(exit_codes=UNCHANGED)
@click.argument(
    "file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--from-clicks", is_flag=True, help="Use hits opened in 90 days, as far as /insights has them."
)
@pass_tools
def popularity(tools: Tools, file: Path | None, from_clicks: bool) -> None:
    """Set how much each post is read, from FILE: a CSV with an address and a number per line.

    The numbers may be the page views of any web analytics. A header is ignored, and numbers of
    addresses that differ only in spelling are added up. Posts that FILE does not name keep their
    number. A post that is read more ranks a little higher (docs/more.md). The field `popularity` in
    JSON Lines, in front matter or over HTTP does the same.

    \b
    blogsearch popularity views.csv
    blogsearch popularity --from-clicks
    """
    if from_clicks == bool(file):
        raise click.UsageError("Name a FILE, or use --from-clicks.")
    index = tools.settings.index
    require_live(tools.elastic, index)
    unknown: list[str] = []
    numbers: defaultdict[str, float] = defaultdict(float)
    if file:
        posts = doc_values(tools.elastic, index, ("oid", "address"))
        oids = {post["address"]: post["oid"] for post in posts if "address" in post}
        # The CSV may leave out the host, and so may the posts' addresses.
        by_path = {_path(address): oid for address, oid in oids.items()}
        sums: defaultdict[str, float] = defaultdict(float)

        def take(address: str, number: str) -> None:
            value = number_of(number.strip())
            if value is None or not address.strip():
                raise Invalid("not an address and a number", "Example: /posts/a/,120")
            sums[address_of(address.strip())] += value

        read_csv(file, take)
        for address, number in sums.items():
            if oid := oids.get(address) or by_path.get(_path(address)):
                numbers[oid] += number
            else:
                unknown.append(address)
    else:
        for row in tools.service.counts.report(_DAYS).searched:
            for oid, times in row.posts.items():
                numbers[oid] += times
    with publish_after(tools, builds=False):
        written = write(
            tools.elastic, index, {oid: _popular(number) for oid, number in numbers.items()}
        )
    if failed := [post.refusal for post in written.values() if post.refusal]:
        raise click.ClickException(
            f"{quantity(len(failed), 'post')} could not be written: {failed[0].reason}. "
            f"{failed[0].remedy}"
        )
    output = tools.output
    changed = sum(post.result == "updated" for post in written.values())
    output.say(f"Numbers for {quantity(len(numbers), 'post')}, {changed:,} changed.")
    if unknown:
        listed = ", ".join(sorted(unknown)[:_LISTED])
        unnamed = quantity(len(unknown), "address")
        output.note(f"{unnamed} without a post, such as {listed}")
    output.result({"posts": len(numbers), "changed": changed, "unknown": sorted(unknown)})


def _path(address: str) -> str:
    return f"/{address.partition('/')[2]}"


def _popular(number: float) -> Change:
    return lambda stored: stored and replace(stored, popularity=number)
