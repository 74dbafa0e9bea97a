"""Searches find what was meant: a small blog, asked the way its visitors would."""

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
from app.search.session import Known, SearchSession
from app.settings import Settings
from indexer.normalise import document_of
from indexer.records import Origin, RawComment, RawPost
from indexer.schema import index_body

SYNONYMS = Path(__file__).resolve().parents[2] / "synonyms"

POSTS = {
    # oid: title, text, day, categories
    "date-title": ("Date format for files", "<p>Names sort well.</p>", "2015-01-01", "tools"),
    "date-text": ("Keeping things", "<p>One date format: keep it.</p>", "2015-01-01", "tools"),
    "date-apart": ("Calendars", "<p>The format of this date is odd.</p>", "2015-01-01", "tools"),
    "date-alone": ("Dates", "<p>A date, and nothing but.</p>", "2015-01-01", "food"),
    "python-old": ("Python at work", "<p>We sell shoes.</p>", "2001-05-05", "tools"),
    "python-new": ("Python at work", "<p>We sell shoes.</p>", "2021-05-05", "tools"),
    "python-text": ("Snakes", "<p>The python is one.</p>", "2022-05-05", "food"),
    "python-code": ("Prompt", "<pre>python shell</pre><p>Try it.</p>", "2020-01-01", "food"),
    "cornwall": (
        "A week in Cornwall",
        f"<p>{'It rained for the whole day. ' * 5} I read client surveys.</p>",
        "2016-01-01", "food",
    ),
    "cron": ("When cron fails", "<p>Quietly.</p>", "2016-01-01", "tools"),
    "crontabber": ("Meet crontabber", "<p>Jobs that know.</p>", "2016-01-01", "tools"),
    "react": ("Leaving create-react-app", "<p>A React app.</p>", "2016-01-01", "tools"),
    "reactjs": ("ReactJS forms", "<p>Without a library.</p>", "2016-01-01", "tools"),
    "acting": ("On the stage", "<p>He was reacting slowly.</p>", "2016-01-01", "food"),
    "go": ("Writing Go", "<p>It compiles.</p>", "2016-01-01", "tools"),
    "golang": ("Why golang", "<p>It is small.</p>", "2016-01-01", "tools"),
    "going": ("Going home", "<p>We are going.</p>", "2016-01-01", "food"),
    "centre": ("The centre of town", "<p>A fountain.</p>", "2016-01-01", "food"),
    "center": ("Center a box", "<p>With grid.</p>", "2016-01-01", "tools"),
    "cpp": ("Learning C++", "<p>Slowly, with C++11.</p>", "2016-01-01", "tools"),
    "csharp": ("From C# to F#", "<p>On .NET.</p>", "2016-01-01", "tools"),
    "c": ("Plain C", "<p>The letter C and the net.</p>", "2016-01-01", "tools"),
    "node": ("Node.js at last", "<p>See pyproject.toml.</p>", "2016-01-01", "tools"),
    "docker": ("Layers", "<pre>docker build --no-cache .</pre><p>x</p>", "2016-01-01", "tools"),
    "caching": ("A cache in front", "<p>There is no other cache.</p>", "2016-01-01", "tools"),
    "camel": ("Names", "<p>Call getUserName or max_retry_count.</p>", "2016-01-01", "tools"),
    "strict": ("Equality", "<p>Use === always.</p>", "2016-01-01", "tools"),
    "dont": ("Why I don’t", "<p>I just don’t.</p>", "2016-01-01", "food"),
    "cafe": ("Café Müller", "<p>A naïve résumé.</p>", "2016-01-01", "food"),
    "who": ("The Who", "<p>Live.</p>", "2016-01-01", "music"),
    "it": ("It", "<p>A film with a clown.</p>", "2016-01-01", "music"),
    "typo": ("Deploying", "<p>The environmemt was wrong.</p>", "2016-01-01", "tools"),
    **{
        f"environment-{number}": (
            f"Chapter {number}", "<p>An environment.</p>", "2016-01-01", "tools"
        )
        for number in range(6)
    },
    "evil": ("<script>alert(1)</script> & more", "<p>&lt;img src=x&gt; haggis</p>", "", "food"),
    "commented": ("Soup of the week", "<p>With leeks.</p>", "2016-01-01", "food"),
    "arrow": ("Arrows", "<p>Write node->next, or x!=y 🎉 中文.</p>", "2016-01-01", "tools"),
    "ruby-34": ("Ruby 3.4.0 Released", "<p>With a new parser.</p>", "2024-12-25", "tools"),
    "ruby-33": ("Ruby 3.3.4 Released", "<p>Ruby, and 3 fixes.</p>", "2024-07-09", "tools"),
    "php83": ("What is new in php8.3", "<p>Better errors.</p>", "2023-10-02", "tools"),
    "lts": ("Node v18.2.0 is the new LTS", "<p>Upgrade.</p>", "2022-05-17", "tools"),
    "aspnet": ("ASP.NET at last", "<p>It serves.</p>", "2016-01-01", "tools"),
    "swede": ("Rutabaga roasted", "<p>Fast, in an oven with an API.</p>", "2016-01-01", "food"),
    "details": ("Folding text", "<p>The &lt;details&gt; element.</p>", "2016-01-01", "web"),
    "keyboard": ("A keyboard that clicks", "<p>Loudly.</p>", "2016-01-01", "tools"),
    "board": ("On board", "<p>The key hangs there.</p>", "2016-01-01", "food"),
    "survey": ("Our client survey", "<p>With answers.</p>", "2016-01-01", "shop"),
    "surely": ("Slowly but surely", "<p>The client waits.</p>", "2017-01-01", "shop"),
    "generic": ("Parametric", "<p>A List&lt;Integer&gt; in libc++.</p>", "2016-01-01", "web"),
}  # fmt: skip
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
    elastic.indices.create(index=name, **index_body(rules, shards=2, replicas=0))
    for raw in raw_posts():
        document, rejects = document_of(raw)
        assert document, rejects
        elastic.index(index=name, id=document.oid, document=document.source)
    elastic.indices.refresh(index=name)
    yield name
    elastic.indices.delete(index=name)


Ask = Callable[..., Answer]


@pytest.fixture(params=["blended"])
def strategy(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def ask(elastic: Elasticsearch, elasticsearch_url: str, index: str, strategy: Any) -> Ask:
    known = Known()
    if strategy == "blended":
        known.update(SearchSession(elastic, index), index, None)

    def asked(q: str, *parameters: tuple[str, str], **changes: Any) -> Answer:
        settings = Settings(elasticsearch_url=elasticsearch_url, strategy=strategy, **changes)
        request = SearchRequest.parse(MultiDict([("q", q), *parameters]))
        answer = search(elastic, index, request, settings, known)
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
    ("q", "expected"),
    [
        # by title, text and code; newer posts a little above older ones
        ("python", ["python-new", "python-old", "python-text", "python-code"]),
        ("date format", ["date-title", "date-text", "date-apart", "date-alone"]),
        ("date format xqzvkw", ["date-title", "date-text", "date-apart", "date-alone"]),
        # typing errors, and a word of its own that is none
        ("dtae fromat", ["date-title", "date-text"]),
        ("client surey", ["survey"]),
        ("crox fails", ["cron"]),
        ("rutabga", ["swede", "commented"]),
        # beginnings of words, below whole words
        ("crontab", ["crontabber"]),
        ("corn", ["cron", "cornwall"]),
        ("cront", ["crontabber"]),
        # one word as two, two as one
        ("dateformat", ["date-title", "date-text"]),
        ("ruby3", ["ruby-33"]),
        ("ruby v3.4", ["ruby-34"]),
        # what the analysis cuts further
        ("node->next", ["arrow"]),
        ("next->node", ["arrow"]),
        ("x!=y", ["arrow"]),
        ("中文", ["arrow"]),
        ("next🎉", ["arrow"]),
        ("arrows®", ["arrow"]),
        ("C++11", ["cpp"]),
        ("C#/F#", ["csharp"]),
        ("fountain??", ["centre"]),
        ("résum", ["cafe"]),
        # stop words, and a word above its synonym
        ("it", ["it"]),
        ("centre", ["centre"]),
        ("center", ["center"]),
        # quotation marks and what looks like HTML
        ('"date format" files', ["date-title"]),
        ('folding "<details>"', ["details"]),
        ("parametric -List<String>", ["generic"]),
    ],
)
def test_the_first_hits(ask: Ask, q: str, expected: list[str]) -> None:
    assert oids(ask(q))[: len(expected)] == expected


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("pythoon", {"python-old", "python-new", "python-text", "python-code"}),
        ("gol ang", {"go", "golang"}),
        ("fountains", {"centre"}),
        ('"date format"', {"date-title", "date-text"}),
        ('"<details>"', {"details"}),
        ('"List<Integer>"', {"generic"}),
        ('parametric -"<script>"', {"generic"}),
        ("react-js", {"react", "reactjs"}),
        ("fast api", {"swede"}),  # a rule makes it FastAPI
        ('date -"date format"', {"date-alone", "date-apart"}),
        ("pythn -shell", {"python-old", "python-new", "python-text"}),
    ],
)
def test_all_that_is_found(ask: Ask, q: str, expected: set[str]) -> None:
    assert set(oids(ask(q))) == expected


@pytest.mark.parametrize(
    "q",
    [
        *("xqzvkw", "bcdfghjk lmnpqrst", "srua6xjr8", "…", "?!", "pyth0n", "xyzzy3"),
        *('"pythn"', '"format date"', '"dates format"', '"List<String>"'),
        "parametric -List<Integer>",
        " ".join(["ab"] * 66),
        " ".join(f"xq{chr(97 + n % 26)}v" for n in range(40)),
    ],
)
def test_what_finds_nothing(ask: Ask, q: str) -> None:
    body = ask(q).body
    assert (body["count"], body["hits"], body["tier"]) == (0, [], None)
    assert "corrected" not in body


@pytest.mark.parametrize("q", ["日本語", "go语言", "->->", "a=>b", "हिन्दी", "©2015", "🇩🇪", "½x"])
def test_no_query_is_refused(ask: Ask, q: str) -> None:
    assert ask(q).body["q"] == q


def test_only_what_is_kept_out_is_left_out(ask: Ask) -> None:
    others = {oid for oid in POSTS if not oid.startswith("python")} | {"sopa"}
    assert set(oids(ask("-python", ("size", "50")))) == others


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("react", {"react", "reactjs", "acting"}),
        ("reactjs", {"react", "reactjs", "acting"}),
        ("centre", {"centre", "center"}),
        ("center", {"centre", "center"}),
        ("go", {"go", "golang"}),
        ("golang", {"go", "golang"}),
        ("C++", {"cpp"}),
        ("c#", {"csharp"}),
        ("F#", {"csharp"}),
        (".NET", {"csharp"}),
        ("node.js", {"node"}),
        ("pyproject.toml", {"node"}),
        ("ruby 3.4", {"ruby-34"}),
        ("3.4.0", {"ruby-34"}),
        ("3.3", {"ruby-33"}),
        ("php8.3", {"php83"}),
        ("php 8.3", {"php83"}),
        ("node 18 lts", {"lts"}),
        ("asp.net", {"aspnet"}),
        ("--no-cache", {"docker"}),
        ("getUserName", {"camel"}),
        ("getusername", {"camel"}),
        ("user name", {"camel"}),
        ("max_retry_count", {"camel"}),
        ("retry", {"camel"}),
        ("===", {"strict"}),
        ("don't", {"dont"}),
        ("dont", {"dont"}),
        ("don’t", {"dont"}),
        ("cafe", {"cafe"}),
        ("café", {"cafe"}),
        ("resume", {"cafe"}),
        ("muller", {"cafe"}),
        ("the who", {"who"}),
        ("create-react-app", {"react"}),
        ("rutabaga leeks", {"commented"}),
    ],
)
def test_words_as_people_write_them(ask: Ask, q: str, expected: set[str]) -> None:
    answer = ask(q)
    assert set(with_all(answer)) == expected
    assert "corrected" not in answer.body


# -- corrections -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("q", "to"),
    [
        *((q, "python") for q in ("pythn", "PYTHNO", "ypthon", "oython", "pythoon", "pithon")),
        ("dtae fromat", "date format"),
        ("client surey", "client survey"),
        ("crox fails", "cron fails"),
        ("dateformat", "date format"),
        ("gol ang", "golang"),
        ("fountainn", "fountain"),
    ],
)
def test_the_query_as_it_was_understood(ask: Ask, q: str, to: str) -> None:
    body = ask(q).body
    assert body["corrected"] == {"from": q, "to": to}
    assert body["instead"] == f"/search?q={q.replace(' ', '+')}&typos=off"


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


def test_words_before_it_and_words_that_cannot_go_on_are_corrected(ask: Ask) -> None:
    answer = ask("daet form", ("typing", "on"))
    assert oids(answer)[0] == "date-title"
    assert answer.body["corrected"]["to"] == "date form"
    assert "python-old" in oids(ask("pythnn", ("typing", "on")))


# -- several words -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("q", "tier", "matches"),
    [
        ("date format", "phrase", (3, 4)),
        ("format date", "all words", (3, 4)),
        ("daet format", "phrase", (3, 4)),
        ("date format xqzvkw", "some words", (0, 4)),
        ("cornwall fountain", "some words", (0, 2)),
        ("client surveys", "phrase", (2, 3)),  # Cornwall has it as typed
        ("survey clients", "all words", (2, 3)),
    ],
)
def test_how_much_the_posts_have(ask: Ask, q: str, tier: str, matches: tuple[int, int]) -> None:
    body = ask(q).body
    assert (body["tier"], (body["matches"]["all_words"], body["count"])) == (tier, matches)
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


@pytest.mark.parametrize(
    ("q", "parameters", "expected"),
    [
        ("pythn", [("category", "food")], {"python-text", "python-code"}),
        ("pythn", [("since", "2021-05-06")], {"python-text"}),
        ("pythn", [("until", "2001-05-05")], {"python-old"}),
        ("pythn", [("category", "music")], set()),
        ("soup", [("lang", "pt")], {"sopa"}),
        ("soup", [("lang", "pt-BR")], {"sopa"}),
        ("soup", [("lang", "de")], set()),
    ],
)
def test_filters_keep_typo_tolerance(
    ask: Ask, q: str, parameters: list[tuple[str, str]], expected: set[str]
) -> None:
    answer = ask(q, *parameters)
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


@pytest.mark.parametrize(
    ("q", "marked"),
    [
        ("reacting", "He was <mark>reacting</mark> slowly."),
        ("c++", "<mark>C++</mark>"),
        ("cafe", "<mark>Café</mark>"),
        ("php", "What is new in <mark>php8.3</mark>"),
        ("cornw", "<mark>Cornwall</mark>"),
        ("fast api", "<mark>Fast</mark>"),
        ("->", "<mark>-&gt;</mark>"),
        ("===", "<mark>===</mark>"),
        ("environm", "<mark>environment</mark>"),
        ("rutaba", "<mark>Rutabaga</mark>"),
    ],
)
def test_marks_stand_on_the_words_of_the_post(ask: Ask, q: str, marked: str) -> None:
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


@pytest.mark.parametrize(
    "q", ["date format", "pythn work", '"date format" files', "the who", "cornw"]
)
def test_the_parts_of_a_score_add_up_to_it(ask: Ask, q: str) -> None:
    for hit in ask(q, ("debug-search", "")).debug["hits"]:
        scores = [part["score"] for part in hit["parts"]]
        assert sum(scores) == pytest.approx(hit["score"], abs=0.01)
        assert scores == sorted(scores, reverse=True)


def test_the_explanation_says_when_the_rules_have_changed(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "own.synonyms").write_text("soup, broth\n")
    debug = ask("soup", ("debug-search", ""), synonyms_dir=tmp_path).debug
    assert "other rules" in debug["synonyms"]["note"]


@pytest.mark.parametrize("q", ["python", "c++", '"date format"'])
def test_an_index_of_another_version_is_recognized(
    elastic: Elasticsearch, settings: Settings, alias: str, q: str
) -> None:
    mappings = {"properties": {"kind": {"type": "keyword"}, "oid": {"type": "keyword"}}}
    elastic.indices.create(index=f"{alias}-000001", aliases={alias: {}}, mappings=mappings)
    with pytest.raises(OutdatedIndex, match="blogsearch reindex"):
        search(elastic, alias, SearchRequest(q=q), settings)


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
