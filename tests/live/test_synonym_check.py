"""Rules judged by real analysis: eaten, refused, colliding, frequent; and nothing live touched."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch

from analyzers import check as checking
from analyzers.lint.check import Frequencies, Report, check
from analyzers.lint.scratch_index import PREFIX, Refused, trial
from analyzers.rules import NO_RULES, RuleSet, rule_files
from analyzers.rules.parse import Rule

SHIPPED = Path(__file__).resolve().parents[2] / "synonyms"

Check = Callable[..., Report]


@pytest.fixture
def run(elastic: Elasticsearch, tmp_path: Path) -> Check:
    def run(text: str, posts: dict[str, int] | None = None, total: int = 1000) -> Report:
        path = tmp_path / "x.synonyms"
        path.write_text(text)

        def count(words: Sequence[str]) -> Frequencies:
            found = posts or {}
            return Frequencies(total, {word: found.get(word, 0) for word in words})

        return check(elastic, [path], (), None if posts is None else count)

    return run


def _told(report: Report) -> list[tuple[int, str, str]]:
    return [(found.line, found.severity, found.code) for found in report.findings]


def test_the_shipped_files_pass_their_own_check(elastic: Elasticsearch) -> None:
    report = check(elastic, rule_files(SHIPPED))
    assert report.findings == ()
    assert report.rules is not None
    for path in rule_files(SHIPPED):
        assert check(elastic, [path]).findings == (), path.name


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("machine learning, ml\njs => java script\nnodejs, node.js\nc++, cpp\n.net => net", []),
        ("@@@ => foo", [(1, "error", "eaten")]),
        ("<b> => strong", [(1, "error", "eaten")]),
        ("x => the", [(1, "error", "stop_word")]),
        ("information technology, it", [(1, "error", "stop_word")]),
        ("et, and", [(1, "warning", "stop_word")]),
        ("state of the art, sota", []),
        ("to be or not to be, hamlet", []),
        ("café, cafe", [(1, "warning", "same_token")]),
        ("c# => csharp", [(1, "warning", "same_token")]),
        ("formatting => format", [(1, "warning", "same_stem")]),
        ("going => go", [(1, "warning", "same_stem")]),
        ("going => golang", []),
        ("café => bistro\ncafe => pub", [(2, "error", "conflict")]),
        ("a\u0301b => x\náb => y", [(2, "error", "conflict")]),
    ],
)
def test_judges_rules_by_their_tokens(
    run: Check, text: str, told: list[tuple[int, str, str]]
) -> None:
    report = run(text)
    assert _told(report) == told
    assert (report.rules is None) == any(severity == "error" for _, severity, _ in told)


def test_a_rule_of_another_file_may_be_about_the_same_token(
    elastic: Elasticsearch, tmp_path: Path
) -> None:
    mine, theirs = tmp_path / "a.synonyms", tmp_path / "b.synonyms"
    mine.write_text("cafe => pub")
    theirs.write_text("café => bistro")
    (found,) = check(elastic, [mine], [theirs]).errors
    assert (found.file, found.code) == ("b.synonyms", "conflict")
    assert "a.synonyms:1" in found.message


def test_what_elasticsearch_refuses_is_told_with_its_line(
    elastic: Elasticsearch, run: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge sees what is known to be refused; here it looks away."""
    monkeypatch.setattr(checking.Judge, "findings", lambda *_: iter(()))
    (found,) = run("a, b\n\n@@@ => foo\nc, d").errors
    assert (found.line, found.code) == (3, "refused")
    assert "@@@" in found.message


def test_what_does_not_hold_is_told_with_its_line(
    elastic: Elasticsearch, run: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler that forgot a rule would be found out."""
    compile_them = RuleSet.of.__func__  # type: ignore[attr-defined]

    def forgetful(cls: type[RuleSet], rules: Sequence[Rule]) -> RuleSet:
        made = compile_them(cls, rules)
        lines = tuple(line for line in made.lines if "learning" not in line)
        return RuleSet(made.rules, lines, made.sources, "", made.entries, made.folded, made.longest)

    monkeypatch.setattr(RuleSet, "of", classmethod(forgetful))
    (found,) = run("a, b\nmachine learning, ml").errors
    assert (found.line, found.code) == (2, "does_not_hold")
    assert "machine learning" in found.message


def test_a_contraction_of_a_frequent_word_is_told_with_its_posts(run: Check) -> None:
    posts = {"go": 400, "golang": 10, "js": 300, "javascript": 500, "dont": 3, "don't": 9}
    report = run("go => golang\njs => javascript\ndont => don't\npost, article", posts)
    (found,) = report.warnings
    assert (found.line, found.code) == (1, "frequent_word")
    assert "400 of 1,000 posts" in found.message
    assert report.rules is not None


def test_nothing_is_frequent_in_a_handful_of_posts(run: Check) -> None:
    assert run("go => golang", {"go": 9}, total=10).findings == ()


def test_a_trial_leaves_nothing_behind(elastic: Elasticsearch, run: Check) -> None:
    def names() -> set[str]:
        return set(elastic.indices.get(index=f"{PREFIX}*", expand_wildcards="all"))

    before = names()
    with trial(elastic, NO_RULES) as made:
        assert names() - before >= {made.index}
    bad = RuleSet.of([Rule("x", 1, ("@@@",), ("foo",), "contraction")])
    with pytest.raises(Refused) as refusal, trial(elastic, bad):
        pytest.fail("created")
    assert refusal.value.line == 1
    assert made.index not in names()


def test_each_text_gets_its_own_tokens(elastic: Elasticsearch) -> None:
    texts = ["a machine", "", "@@@", "<b>bold</b> &amp; 😀", "the", "c++ isn’t", "x" * 50, "last"]
    with trial(elastic, NO_RULES) as made:
        assert made.before(texts) == [
            ("a", "machine"),
            (),
            (),
            ("bold", "😀"),
            ("the",),
            ("cplusplus", "isn't"),
            ("x" * 50,),
            ("last",),
        ]
        assert made.stems(["the machines", "the"]) == [("machin",), ()]
        many = [f"word{n}" for n in range(2500)]
        assert made.before(many) == [(word,) for word in many]
