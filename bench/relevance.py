"""How well searches find what was meant: judged queries, asked of the service over HTTP.

    ELASTICSEARCH_URL=… python bench/relevance.py CORPUS QUERIES
    ELASTICSEARCH_URL=… python bench/relevance.py CORPUS QUERIES --strategy fallback
    ELASTICSEARCH_URL=… python bench/relevance.py CORPUS QUERIES --compare fallback blended
    python bench/relevance.py CORPUS QUERIES --compare before.json http://127.0.0.1:8000

CORPUS and QUERIES are JSON Lines, .gz too: posts with oid, title, text, pub_date, categories, url;
queries with q, kind, grades ({oid: 2 for the title, 1 for the text}) and related. The corpus is
indexed under a name of its own, a service is started on it without a cache, and both are gone
afterwards. What `--compare` puts side by side may be a strategy, the address of a running service
that has the corpus already, or a file that `--save` wrote: that is how two versions are compared.
"""

import gzip
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.relevance_measures import (
    Answered,
    Figures,
    Judged,
    by_kind,
    figures,
    macro,
    ndcg,
)
from bench.relevance_service import asked, indexed, serving

STRATEGIES = ("blended", "fallback")
_HEAD = (
    f"{'kind':<15}{'n':>6}{'nDCG':>8}{'inflect':>9}{'succ@1':>8}{'MRR':>7}"
    f"{'none':>7}{'p50 ms':>8}{'p95 ms':>8}{'req':>6}"
)
Pairs = list[tuple[Judged, Answered]]


@click.command()
@click.argument("corpus", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("queries", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--strategy", "strategies", multiple=True, type=click.Choice(STRATEGIES))
@click.option("--compare", nargs=2, help="Two of: a strategy, an address, a saved file.")
@click.option("--url", help="Ask this running service instead of starting one.")
@click.option("--every", default=1, show_default=True, help="Take only each so-manieth query.")
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Keep the answers.")
@click.option("--limit", default=30, show_default=True, help="Queries to list as won and as lost.")
def main(
    corpus: Path,
    queries: Path,
    strategies: Sequence[str],
    compare: tuple[str, str] | None,
    url: str | None,
    every: int,
    save: Path | None,
    limit: int,
) -> None:
    """Ask judged QUERIES of a service that has CORPUS, and print how good its answers are."""
    judged = [Judged.of(line) for line in _lines(queries)][::every]
    wanted = list(compare or ([url] if url else strategies or ["blended"]))
    results: list[Pairs] = []
    with ExitStack() as stack:
        own = any(name in STRATEGIES for name in wanted)
        if own and "ELASTICSEARCH_URL" not in os.environ:
            raise click.UsageError('set ELASTICSEARCH_URL: eval "$(make -s services)"')
        alias = stack.enter_context(indexed(corpus)) if own else ""
        for name in wanted:
            results.append(_answers(name, judged, alias))
            click.echo(f"\n{name} · {corpus.name} · {len(judged)} queries\n{table(results[-1])}")
    if save:
        answers = {judged.q: asdict(found) for judged, found in results[-1]}
        save.write_text(json.dumps(answers))
    if compare:
        click.echo(comparison(compare, results[0], results[1], limit))


def _answers(name: str, judged: Sequence[Judged], alias: str) -> Pairs:
    if name in STRATEGIES:
        with serving(alias, name) as url:
            return list(zip(judged, asked(url, judged), strict=True))
    if name.startswith(("http://", "https://")):
        return list(zip(judged, asked(name.rstrip("/"), judged), strict=True))
    kept = json.loads(Path(name).read_text())
    missing = [one.q for one in judged if one.q not in kept]
    if missing:
        raise click.ClickException(f"{name} has no answer to {missing[0]!r} and others")
    return [(one, _kept(kept[one.q])) for one in judged]


def _kept(answer: Mapping[str, object]) -> Answered:
    ranking = answer["ranking"]
    assert isinstance(ranking, list)
    return Answered(
        tuple(map(str, ranking)),
        int(str(answer["count"])),
        float(str(answer["seconds"])),
        int(str(answer["requests"])),
    )


def _lines(path: Path) -> Iterator[dict[str, object]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        yield from map(json.loads, file)


def table(pairs: Pairs) -> str:
    """The figures per kind and the macro figure, as lines of text."""
    kinds = by_kind(pairs)
    rows = [_row(kind, found) for kind, found in kinds.items()]
    return "\n".join([_HEAD, *rows, _row("macro", macro(kinds, figures(pairs)))])


def _row(name: str, found: Figures) -> str:
    return (
        f"{name:<15}{found.queries:>6}{found.strict:>8.3f}{found.inflected:>9.3f}"
        f"{found.success:>8.3f}{found.mrr:>7.3f}{found.nothing:>7.3f}"
        f"{found.p50:>8.1f}{found.p95:>8.1f}{found.requests:>6.2f}"
    )


def comparison(names: tuple[str, str], one: Pairs, other: Pairs, limit: int) -> str:
    """What the second gained and lost against the first, per kind and query by query."""
    first, second = by_kind(one), by_kind(other)
    gains = [
        (ndcg(late.ranking, judged.grades) - ndcg(early.ranking, judged.grades), judged)
        for (judged, early), (_, late) in zip(one, other, strict=True)
    ]
    won = sorted((gain for gain in gains if gain[0] > 0.005), key=lambda gain: -gain[0])
    lost = sorted((gain for gain in gains if gain[0] < -0.005), key=lambda gain: gain[0])
    lines = [f"\n{names[0]} → {names[1]}, nDCG@10 (strict)"]
    lines += [
        f"{kind:<15}{first[kind].strict:>8.3f} → {second[kind].strict:.3f} "
        f"({second[kind].strict - first[kind].strict:+.3f})"
        for kind in first
    ]
    for title, found in (("won", won), ("lost", lost)):
        lines.append(f"\n{len(found)} queries {title}")
        lines += [f"  {gain:+.3f}  {judged.kind:<15}{judged.q}" for gain, judged in found[:limit]]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
