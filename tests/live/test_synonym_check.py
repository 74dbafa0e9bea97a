"""The check of rule files with real analysis."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from elastic_transport import RequestsHttpNode
from elasticsearch import BadRequestError, Elasticsearch

from analyzers.lint import CheckResult, PostCounts, check, verification_findings
from analyzers.rules.compile import NO_RULES, RuleSet, read_rules
from analyzers.rules.parse import Rule, rule_files
from analyzers.scratch_index import (
    RulesRejected,
    delete_stale_indices,
    mark_as_scratch,
    scratch_index,
)

SHIPPED = Path(__file__).resolve().parents[2] / "synonyms"

Check = Callable[..., CheckResult]


@pytest.fixture
def run(elastic: Elasticsearch, tmp_path: Path) -> Check:
    def run(text: str, posts: dict[str, int] | None = None, total: int = 1000) -> CheckResult:
        path = tmp_path / "x.synonyms"
        path.write_text(text)

        def count_posts(words: Sequence[str]) -> PostCounts:
            checked_posts = posts or {}
            return PostCounts(total, {word: checked_posts.get(word, 0) for word in words})

        return check(elastic, [path], (), None if posts is None else count_posts)

    return run


def _codes(result: CheckResult) -> list[tuple[int, str, str]]:
    return [(finding.line, finding.severity, finding.code) for finding in result.findings]


def test_the_shipped_files_have_no_findings(elastic: Elasticsearch) -> None:
    result = check(elastic, rule_files(SHIPPED))
    assert result.findings == ()
    assert result.rules is not None
    for path in rule_files(SHIPPED):
        assert check(elastic, [path]).findings == (), path.name


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ("machine learning, ml\njs => java script\nnodejs, node.js\nc++, cpp\n.net => net", []),
        ("日本 => 東京\nnihon, 日本語", []),
        ("@@@ => foo", [(1, "error", "no_tokens")]),
        ("<b> => strong", []),
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
        (
            "alone\n@@@ => foo\nx => y\ny => x\ngoing => go",
            [
                (1, "error", "single_term"),
                (2, "error", "no_tokens"),
                (4, "error", "cycle"),
                (5, "warning", "same_stem"),
            ],
        ),
    ],
)
def test_rules_are_checked_by_their_tokens(
    run: Check, text: str, findings: list[tuple[int, str, str]]
) -> None:
    result = run(text)
    assert _codes(result) == findings
    assert (result.rules is None) == any(severity == "error" for _, severity, _ in findings)


def test_terms_of_different_files_may_be_the_same_token(
    elastic: Elasticsearch, tmp_path: Path
) -> None:
    mine, theirs = tmp_path / "a.synonyms", tmp_path / "b.synonyms"
    mine.write_text("cafe => pub")
    theirs.write_text("café => bistro")
    (error,) = check(elastic, [mine], [theirs]).errors
    assert (error.file, error.code) == ("b.synonyms", "conflict")
    assert "a.synonyms:1" in error.message


def test_a_rule_that_elasticsearch_rejects_is_reported_with_its_line(
    elastic: Elasticsearch, tmp_path: Path
) -> None:
    path = tmp_path / "x.synonyms"
    path.write_text("a, b\n\n@@@ => foo\nc, d")
    rules = read_rules([path])
    (finding,) = verification_findings(elastic, rules, rules.rules)
    assert (finding.line, finding.code) == (3, "rejected")
    assert "@@@" in finding.message


def test_terms_that_become_other_tokens_are_reported_with_their_line(
    elastic: Elasticsearch, tmp_path: Path
) -> None:
    path = tmp_path / "x.synonyms"
    path.write_text("a, b\nmachine learning, ml")
    rules = read_rules([path])
    incomplete = RuleSet(rules.rules, rules.lines[:1], rules.sources[:1], rules.entries)
    (finding,) = verification_findings(elastic, incomplete, rules.rules)
    assert (finding.line, finding.code) == (2, "wrong_tokens")
    assert "machine learning" in finding.message


def test_a_contraction_of_a_frequent_word_is_reported_with_its_posts(run: Check) -> None:
    posts = {"go": 400, "golang": 10, "js": 300, "javascript": 500, "dont": 3, "don't": 9}
    result = run("go => golang\njs => javascript\ndont => don't\npost, article", posts)
    (warning,) = result.warnings
    assert (warning.line, warning.code) == (1, "frequent_word")
    assert "400 of 1,000 posts" in warning.message
    assert result.rules is not None


def test_no_word_is_frequent_in_a_few_posts(run: Check) -> None:
    assert run("go => golang", {"go": 9}, total=10).findings == ()


def test_a_scratch_index_is_deleted(elastic: Elasticsearch, tmp_path: Path) -> None:
    with scratch_index(elastic, NO_RULES) as index:
        assert elastic.indices.exists(index=index.name)
    assert not elastic.indices.exists(index=index.name)


def test_only_scratch_indices_of_killed_processes_are_deleted(
    elastic: Elasticsearch, alias: str
) -> None:
    left, own, state = (f"{alias}-preview-{name}" for name in ("0a1b", "000003", "state"))
    elastic.indices.create(index=left, **mark_as_scratch({"settings": {"hidden": True}}))
    # The service whose alias is `<alias>-preview` has these.
    elastic.indices.create(index=own, mappings={"_meta": {"blogsearch": {"state": "ready"}}})
    elastic.indices.create(index=state)
    assert delete_stale_indices(elastic, f"{alias}-preview-*") == []  # a process may be using it
    assert delete_stale_indices(elastic, f"{alias}-preview-*", older_than=0) == [left]
    assert set(elastic.indices.get(index=f"{alias}-preview-*")) == {own, state}


def test_rejected_rules_are_named_by_their_line(elastic: Elasticsearch) -> None:
    invalid = RuleSet((), ("a => b", "@@@ => foo"), (Rule("x", 1, ("@@@",), ("foo",)),) * 2, {})
    with pytest.raises(RulesRejected) as rejection, scratch_index(elastic, invalid):
        pytest.fail("created")
    assert rejection.value.line == 2


def test_a_refusal_that_is_not_about_the_rules_is_no_finding(
    elasticsearch_url: str, tmp_path: Path
) -> None:
    class Node(RequestsHttpNode):
        def perform_request(self, method: str, target: str, *rest: Any, **more: Any) -> Any:
            # Refused with 400, as an index is for which the cluster has no shard left.
            refused = f"{target}&unknown=1" if method == "PUT" else target
            return super().perform_request(method, refused, *rest, **more)

    file = tmp_path / "x.synonyms"
    file.write_text("a => b\n")
    with (
        Elasticsearch(elasticsearch_url, node_class=Node) as client,
        pytest.raises(BadRequestError, match="illegal_argument"),
    ):
        check(client, [file])


def test_each_text_gets_its_own_tokens(elastic: Elasticsearch) -> None:
    texts = ["a machine", "", "@@@", "<b>bold</b> &amp; 😀", "the", "c++ isn’t", "x" * 50, "last"]
    with scratch_index(elastic, NO_RULES) as index:
        assert list(index.tokens("before_synonyms", texts).values()) == [
            ("a", "machine"),
            (),
            (),
            ("b", "bold", "b", "😀"),
            ("the",),
            ("cplusplus", "isn't"),
            ("x" * 50,),
            ("last",),
        ]
        stems = index.tokens("without_synonyms", ["the machines", "the"])
        assert stems == {"the machines": ("machin",), "the": ()}
        many = [f"word{n}" for n in range(2500)]
        assert index.tokens("before_synonyms", many) == {word: (word,) for word in many}
