"""Searches find what was meant: a small blog, asked the way its visitors would.

`tests/data/searches.json` has the posts (title, text, day and category by oid) and searches: the
first hits in their order, all hits, those with every word, what is corrected to what, how much of a
search the posts have, and what is marked.
"""

import json
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from werkzeug.datastructures import MultiDict

from analyzers.rules.compile import Rules
from analyzers.rules.parse import rule_files
from app.errors import OutdatedIndex
from app.search.blended import Answer, search
from app.search.request import SearchRequest
from app.search.session import SearchSession
from app.search.view import IndexView, open_session, read_view
from app.settings import Settings
from indexer.posts.records import Origin, RawComment, RawPost
from indexer.schema import index_body
from tests.writing import write_posts

SYNONYMS = Path(__file__).resolve().parents[2] / "synonyms"

CASES = json.loads((Path(__file__).parents[1] / "data" / "searches.json").read_text())
POSTS = CASES["posts"]
COMMENTS = {"commented": ("c1", "Add a rutabaga, I say.", "Olu")}


def raw_posts() -> Iterator[RawPost]:
    for line, (oid, (title, text, day, category)) in enumerate(POSTS.items(), 1):
        comments: tuple[RawComment, ...] = ()
        if oid in COMMENTS:
            name, comment, author = COMMENTS[oid]
            comments = (RawComment(oid=name, comment=comment, author=author),)
        yield RawPost(
            Origin("posts", line), oid, title, text, f"/{oid}", day or None,
            categories=[category], comments=comments,
        )  # fmt: skip
    yield RawPost(Origin("posts", 0), "sopa", "Sopa", "<p>soup</p>", language="pt-BR")


@pytest.fixture(scope="module")
def index(elastic: Elasticsearch) -> Iterator[str]:
    name = f"test-meaning-x{uuid.uuid4().hex[:8]}"
    rules = Rules(rule_files(SYNONYMS))
    elastic.indices.create(index=name, **index_body(rules, shards=2))
    write_posts(elastic, name, raw_posts())
    yield name
    elastic.indices.delete(index=name)


Ask = Callable[..., Answer]


@pytest.fixture(params=["blended"])
def strategy(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(scope="module")
def view(elastic: Elasticsearch, index: str) -> IndexView:
    return read_view(elastic, index)


@pytest.fixture
def ask(
    elastic: Elasticsearch, elasticsearch_url: str, index: str, view: IndexView, strategy: Any
) -> Ask:

    def asked(q: str, *parameters: tuple[str, str], **changes: Any) -> Answer:
        settings = Settings(elasticsearch_url=elasticsearch_url, strategy=strategy, **changes)
        request = SearchRequest.parse(MultiDict([("q", q), *parameters]))
        answer = search(SearchSession(elastic, index, view), request, settings)
        if strategy == "blended":
            kinds = [sent["kind"] for sent in answer.debug["requests"]]
            assert kinds == ["first", "second", "third"][: len(kinds)]
        return answer

    return asked


def oids(answer: Answer) -> list[str]:
    return [hit["oid"] for hit in answer.body["hits"]]


def with_all(answer: Answer) -> list[str]:
    """The oids of the hits that have every word."""
    return [hit["oid"] for hit in answer.body["hits"] if not hit.get("missing")]


def first_title(answer: Answer) -> str:
    return answer.body["hits"][0]["highlight"]["title"]


# -- what is found, and in which order -------------------------------------------------------------


@pytest.mark.parametrize(
    ("q", "titles"),
    [
        ("ouput", ["Monday", "The output of looms"]),
        ("write tests", ["How to write tests"]),
    ],
)
def test_titles_come_before_texts_and_words_as_typed_before_inflections(
    elastic: Elasticsearch, elasticsearch_url: str, q: str, titles: list[str]
) -> None:
    """Of a word that resembles a misspelled one, and of words as they are typed."""
    same = "Cloth and much of it, day after day, from the same old machines."
    texts = {
        "The output of looms": same,
        "Traffic": f"Output. {same}",
        "Monday": "The ouput was wrong.",
        "Writing tests": "In small steps.",
        "How to write tests": "In small steps, one after the other, as long as it takes.",
        "Roads": "A car. Write tests, write tests. A car.",
        **{f"Note {number}": "Nothing of that kind." for number in range(40)},
    }
    name = f"test-titles-x{uuid.uuid4().hex[:8]}"
    elastic.indices.create(index=name, **index_body(Rules(), shards=1))
    try:
        write_posts(
            elastic,
            name,
            [RawPost(Origin("posts", 1), t, t, f"<p>{text}</p>") for t, text in texts.items()],
        )
        session = open_session(elastic, name)
        request = SearchRequest.parse(MultiDict([("q", q)]))
        found = search(session, request, Settings(elasticsearch_url=elasticsearch_url))
        assert oids(found)[: len(titles)] == titles
    finally:
        elastic.indices.delete(index=name)


def test_the_first_hits(ask: Ask) -> None:
    first = CASES["first"]
    assert {q: oids(ask(q))[: len(first[q])] for q in first} == first


def test_all_that_is_found(ask: Ask) -> None:
    found = CASES["all"]
    assert {q: sorted(oids(ask(q))) for q in found} == found


def test_what_finds_nothing(ask: Ask) -> None:
    for q in CASES["nothing"]:
        body = ask(q).body
        assert (body["count"], body["hits"], body["tier"]) == (0, [], None), q
        assert "corrected" not in body


def test_no_query_is_refused(ask: Ask) -> None:
    for q in CASES["not refused"]:
        assert ask(q).body["q"] == q


def test_only_what_is_kept_out_is_left_out(ask: Ask) -> None:
    others = {oid for oid in POSTS if not oid.startswith("python")} | {"sopa"}
    pages = [oids(ask("-python", ("size", "50"), ("page", page))) for page in "12"]
    assert set().union(*pages) == others


def test_words_as_people_write_them(ask: Ask) -> None:
    answers = {q: ask(q) for q in CASES["words"]}
    assert {q: sorted(with_all(answer)) for q, answer in answers.items()} == CASES["words"]
    assert [q for q, answer in answers.items() if "corrected" in answer.body] == []


# -- corrections -----------------------------------------------------------------------------------


def test_the_query_as_it_was_understood(ask: Ask) -> None:
    for q, to in CASES["corrected"].items():
        body = ask(q).body
        assert body["corrected"] == {"from": q, "to": to}
        instead = f"search?q={q.replace(' ', '+')}&typos=off"
        assert body["instead"] == instead
        assert ask(q, ("size", "5")).body["instead"] == f"{instead}&size=5"


def test_a_misspelling_that_stands_in_a_post_is_mended_too(ask: Ask) -> None:
    answer = ask("environmemt")
    assert {f"environment-{number}" for number in range(6)} <= set(oids(answer))
    assert oids(ask("environmemt", ("typos", "off"))) == ["typo"]


def test_the_words_beside_it_decide_what_a_word_is_corrected_to(ask: Ask) -> None:
    assert {"survey", "surely"} <= set(oids(ask("surey")))
    assert oids(ask("client surey", ("sort", "newest")))[0] == "surely"


def test_a_short_word_of_its_own_is_not_called_a_misspelling(ask: Ask) -> None:
    answer = ask("crox")
    assert oids(answer)[0] == "cron"
    assert "corrected" not in answer.body
    assert answer.body["dropped"] == ["crox"]


def test_typos_off_changes_nothing(ask: Ask) -> None:
    answer = ask("pythn", ("typos", "off"))
    assert (answer.body["count"], "corrected" in answer.body) == (0, False)


@pytest.mark.parametrize(("q", "requests"), [("python", 1), ("fountains", 2), ("pythn", 2)])
def test_a_word_of_the_blog_takes_one_request(ask: Ask, q: str, requests: int) -> None:
    answer = ask(q)
    assert len(answer.debug["requests"]) == requests
    assert ("corrected" in answer.body) == (q == "pythn")


def test_a_word_that_is_being_typed_is_the_beginning_of_one(ask: Ask) -> None:
    for q in ("date fo", "date form", "date format", "DATE FORMA"):
        answer = ask(q, ("typing", "on"))
        assert oids(answer)[0] == "date-title", q
        assert "corrected" not in answer.body
    assert "<mark>crontabber</mark>" in first_title(ask("cront", ("typing", "on")))


@pytest.mark.parametrize(
    "q",
    [
        "fjord-ferry-timetable",
        "harbourLock.openGates",
        "O'Skellig",
        "पुस्तकालय",
        "fjord-ferry o'skel",
    ],
)
def test_what_is_being_typed_stays_found_behind_its_signs(ask: Ask, q: str) -> None:
    lost = [q[:end] for end in range(4, len(q)) if q[end - 1].isalnum() and q[end - 2].isalnum()]
    assert [text for text in lost if oids(ask(text, ("typing", "on")))[:1] != ["harbour"]] == []


def test_words_before_it_and_words_that_cannot_go_on_are_corrected(ask: Ask) -> None:
    answer = ask("daet form", ("typing", "on"))
    assert oids(answer)[0] == "date-title"
    assert answer.body["corrected"]["to"] == "date form"
    assert "python-old" in oids(ask("pythnn", ("typing", "on")))
    assert [oids(ask(q, ("typing", "on")))[:1] for q in ("code bases", "code bases a")] == [
        ["codebase"],
        ["codebase"],
    ]


# -- several words -------------------------------------------------------------------------------


def test_how_much_the_posts_have(ask: Ask) -> None:
    for q, expected in CASES["extent"].items():
        body = ask(q).body
        assert [body["tier"], body["matches"]["all_words"], body["count"]] == expected, q
        assert body.get("dropped", []) == [word for word in q.split() if word == "xqzvkw"]


def test_words_that_never_meet(ask: Ask) -> None:
    missing = {hit["oid"]: hit["missing"] for hit in ask("cornwall fountain").body["hits"]}
    assert missing == {"cornwall": ["fountain"], "centre": ["cornwall"]}


def test_a_title_in_another_inflection_is_above_a_mention(ask: Ask) -> None:
    assert with_all(ask("client surveys")) == ["survey", "cornwall"]


def test_pages_hold_no_more_than_what_is_meant(ask: Ask) -> None:
    pages = [ask("date format xqzvkw", ("size", "2"), ("page", page)) for page in "123"]
    assert [len(oids(answer)) for answer in pages] == [2, 2, 0]
    assert {answer.body["count"] for answer in pages} == {4}
    assert {tuple(answer.body["dropped"]) for answer in pages} == {("xqzvkw",)}


# -- date, filters, comments -----------------------------------------------------------------------


def test_newer_a_little_above_older(ask: Ask) -> None:
    scores = {hit["oid"]: hit["score"] for hit in ask("shoes").body["hits"]}
    without = {hit["oid"]: hit["score"] for hit in ask("shoes", recency=False).body["hits"]}
    added = {oid: (scores[oid] or 0) - (without[oid] or 0) for oid in scores}
    assert added["python-new"] > added["python-old"] >= 0
    assert max(added.values()) < 0.06


def test_newest_first(ask: Ask) -> None:
    order = ["python-text", "python-new", "python-code", "python-old"]
    assert oids(ask("python", ("sort", "newest"))) == order
    assert oids(ask("pythn", ("sort", "newest"))) == order
    answer = ask("shoes work xqzvkw", ("sort", "newest"))
    assert oids(answer) == ["python-new", "python-old"]


def test_filters_keep_typo_tolerance(ask: Ask) -> None:
    for q, name, value, expected in (
        ("pythn", "category", "food", {"python-text", "python-code"}),
        ("pythn", "since", "2021-05-06", {"python-text"}),
        ("pythn", "until", "2001-05-05", {"python-old"}),
        ("pythn", "category", "music", set()),
        ("soup", "lang", "pt", {"sopa"}),
        ("soup", "lang", "pt-BR", {"sopa"}),
        ("soup", "lang", "de", set()),
    ):
        answer = ask(q, (name, value))
        assert set(oids(answer)) == expected
        assert ("corrected" in answer.body) == (q == "pythn" and bool(expected))


def test_a_comment_speaks_for_its_post(ask: Ask) -> None:
    answer = ask("rutabaga")
    assert oids(answer) == ["swede", "commented"]
    comment = answer.body["hits"][1]["comments"][0]
    assert comment["author"] == "Olu"
    assert comment["url"] == "/commented#comment-c1"
    assert "<mark>rutabaga</mark>" in comment["highlight"][0]


# -- the answer ----------------------------------------------------------------------------------


def test_whatever_a_post_contains_the_page_is_safe(ask: Ask) -> None:
    hit = ask("haggis").body["hits"][0]
    assert hit["title"] == "<script>alert(1)</script> & more"
    assert hit["highlight"]["title"] == "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more"
    assert hit["highlight"]["text"] == ["&lt;img src=x&gt; <mark>haggis</mark>"]


def test_marks_stand_on_the_words_of_the_post(ask: Ask) -> None:
    for q, marked in CASES["marked"].items():
        highlight = ask(q).body["hits"][0]["highlight"]
        assert marked in " ".join([highlight["title"], *highlight["text"]])


def test_a_synonym_is_marked(ask: Ask) -> None:
    titles = [hit["highlight"]["title"] for hit in ask("golang").body["hits"]]
    assert titles[1] == "Writing <mark>Go</mark>"


def test_the_explanation(ask: Ask) -> None:
    debug = ask("reactjs fomrs", ("debug-search", "")).debug
    forms = debug["words"][1]
    assert (forms["variants"][0]["text"], forms["variants"][0]["posts"]) == ("forms", 1)
    assert forms["weight"] > 0
    assert [rule["words"] for rule in debug["synonyms"]["rules"]] == ["reactjs"]
    assert debug["tier"] == "phrase"
    assert debug["hits"][0]["reason"]
    assert not any("bodies" in sent for sent in debug["requests"])
    sent = ask("reactjs fomrs", ("debug-search", "requests")).debug["requests"]
    assert ["query" in body for body in sent[0]["bodies"]] == [True, False]


def test_why_a_marked_word_is_the_same_as_a_typed_one(ask: Ask) -> None:
    def why(q: str, word: str, *parameters: tuple[str, str]) -> str:
        hits = ask(q, ("debug-search", ""), *parameters).debug["hits"]
        reasons = {same["word"]: same["why"] for hit in hits for same in hit["same"]}
        return str(reasons.get(word, reasons))

    assert why("clients", "client") == "stem: clients and client become client"
    assert why("cafe", "café") == "normalisation: cafe and café become cafe"
    assert why("pythn", "python") == "spelling: pythn is taken for python"
    assert why("cornw", "cornwall") == "beginning: cornw"
    assert why("Cornw", "cornwall", ("typing", "on")) == "beginning: Cornw"
    assert re.fullmatch(r"rule: .*synonyms:\d+: centre => center → center", why("center", "centre"))
    assert re.fullmatch(r"rule: tech\.synonyms:\d+: .*", why("golang", "go"))


def test_the_parts_of_a_score_add_up_to_it(ask: Ask) -> None:
    for q in ("pythn work", '"date format" files', "the who", "cornw"):
        for hit in ask(q, ("debug-search", "")).debug["hits"]:
            scores = [part["score"] for part in hit["parts"]]
            assert sum(scores) == pytest.approx(hit["score"], abs=0.01)
            assert scores == sorted(scores, reverse=True)


def test_an_index_of_another_version_is_recognized(elastic: Elasticsearch, alias: str) -> None:
    mappings = {"properties": {"kind": {"type": "keyword"}, "oid": {"type": "keyword"}}}
    elastic.indices.create(index=f"{alias}-000001", aliases={alias: {}}, mappings=mappings)
    with pytest.raises(OutdatedIndex, match="blogsearch reindex"):
        open_session(elastic, alias)


# -- the strategy fallback -------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["fallback"], indirect=True)
def test_the_strategy_of_2017(ask: Ask) -> None:
    answer = ask("pythn")
    assert set(oids(answer)) == {"python-old", "python-new", "python-text", "python-code"}
    assert answer.body["strategy"] == "match_phrase"
    assert [request["kind"] for request in answer.debug["requests"]] == ["suggest", "match_phrase"]
    term = answer.debug["search_terms"][0]
    assert (term["term"], term["score"]) == ("pythn", 1.1)
    assert term["boost_title"] == 2 * term["boost_text"]
    answer = ask("the format of a date xqzvkw")
    assert answer.body["strategy"] == "match"
    assert {"date-title", "date-apart", "date-alone"} <= set(oids(answer))


@pytest.mark.parametrize("strategy", ["fallback"], indirect=True)
def test_2017_finds_posts_by_their_comments(ask: Ask) -> None:
    first, second = ask("rutabaga").body["hits"]
    assert (first["oid"], first.get("comments")) == ("swede", None)
    (comment,) = second["comments"]
    assert comment["url"] == "/commented#comment-c1"
    assert comment["highlight"] == ["Add a <mark>rutabaga</mark>, I say."]
    assert ask("rutabga").body["hits"][1]["comments"] == [comment]
    assert oids(ask("rutabaga", ("category", "tools"))) == []
