"""Searches find what was meant: a small blog, asked the way its visitors would."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from werkzeug.datastructures import MultiDict

from analyzers.rules.compile import read_rules
from analyzers.rules.parse import rule_files
from app.errors import OutdatedIndex
from app.search import Answer, search
from app.search.known import Known
from app.search.request import SearchRequest
from app.search.session import SearchSession
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
    rules = read_rules(rule_files(SYNONYMS))
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
def strategy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ask(elastic: Elasticsearch, elasticsearch_url: str, index: str, strategy: str) -> Ask:
    known = Known()
    if strategy == "blended":
        known.update(SearchSession(elastic, index), index, None)

    def asked(q: str, *parameters: tuple[str, str], **changes: Any) -> Answer:
        settings = Settings(elasticsearch_url=elasticsearch_url, strategy=strategy, **changes)
        request = SearchRequest.parse(MultiDict([("q", q), *parameters]))
        answer = search(elastic, index, request, settings, known)
        kinds = [sent["kind"] for sent in answer.debug["requests"]]
        if strategy == "blended":
            order = [kind for kind in ("first", "second", "details") if kind in kinds]
            assert kinds == order
        return answer

    return asked


def oids(answer: Answer) -> list[str]:
    return [hit["oid"] for hit in answer.body["hits"]]


def with_all(answer: Answer) -> list[str]:
    """The oids of the hits that have every word."""
    return [hit["oid"] for hit in answer.body["hits"] if not hit.get("missing")]


# -- typos ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", ["pythn", "Pythn", "PYTHNO", "ypthon", "oython", "pythoon", "pithon"])
def test_typos_are_mended(ask: Ask, q: str) -> None:
    answer = ask(q)
    assert set(oids(answer)) == {"python-old", "python-new", "python-text", "python-code"}
    assert answer.body["corrected"] == {"from": q, "to": "python"}
    assert answer.body["instead"] == f"/search?q={q}&typos=off"


def test_two_typos_in_two_words(ask: Ask) -> None:
    answer = ask("dtae fromat")
    assert oids(answer)[:2] == ["date-title", "date-text"]
    assert answer.body["corrected"]["to"] == "date format"


def test_a_misspelling_that_stands_in_a_post_is_mended_too(ask: Ask) -> None:
    answer = ask("environmemt")
    assert {f"environment-{number}" for number in range(6)} <= set(oids(answer))


def test_the_words_beside_it_decide_what_a_word_is_corrected_to(ask: Ask) -> None:
    alone = ask("surey")
    assert {"survey", "surely"} <= set(oids(alone))
    beside = ask("client surey")
    assert oids(beside)[0] == "survey"
    assert "surely" in oids(beside)
    assert beside.body["corrected"]["to"] == "client survey"
    by_date = ask("client surey", ("sort", "newest"))
    assert oids(by_date)[0] == "surely"


def test_a_short_word_of_its_own_is_not_called_a_misspelling(ask: Ask) -> None:
    answer = ask("crox")
    assert oids(answer)[0] == "cron"
    assert "corrected" not in answer.body
    assert answer.body["dropped"] == ["crox"]
    beside = ask("crox fails")
    assert oids(beside)[0] == "cron"
    assert beside.body["corrected"]["to"] == "cron fails"


def test_typos_off_changes_nothing(ask: Ask) -> None:
    answer = ask("pythn", ("typos", "off"))
    assert answer.body["count"] == 0
    assert "corrected" not in answer.body
    assert oids(ask("environmemt", ("typos", "off"))) == ["typo"]


def test_quoted_words_and_words_with_digits_are_never_changed(ask: Ask) -> None:
    assert ask('"pythn"').body["count"] == 0
    assert ask("pyth0n").body["count"] == 0


def test_a_correctly_spelled_word_takes_one_request(ask: Ask) -> None:
    answer = ask("python")
    assert len(answer.debug["requests"]) == 1
    assert "corrected" not in answer.body
    assert answer.body["count"] == 4


@pytest.mark.parametrize("q", ["xqzvkw", "bcdfghjk lmnpqrst", "srua6xjr8", "…", "?!"])
def test_nonsense_finds_nothing(ask: Ask, q: str) -> None:
    answer = ask(q)
    assert answer.body["count"] == 0
    assert answer.body["hits"] == []
    assert answer.body["tier"] is None
    assert "corrected" not in answer.body


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("node->next", "arrow"),
        ("next->node", "arrow"),
        ("x!=y", "arrow"),
        ("中文", "arrow"),
        ("next🎉", "arrow"),
        ("arrows®", "arrow"),
        ("C++11", "cpp"),
        ("C#/F#", "csharp"),
        ("fountain??", "centre"),
        ("résum", "cafe"),
    ],
)
def test_what_the_analysis_cuts_further_is_found(ask: Ask, q: str, expected: str) -> None:
    assert oids(ask(q))[:1] == [expected]


@pytest.mark.parametrize(("q", "mark"), [("->", "-&gt;"), ("===", "===")])
def test_operators_are_marked_whole(ask: Ask, q: str, mark: str) -> None:
    assert f"<mark>{mark}</mark>" in ask(q).body["hits"][0]["highlight"]["text"][0]


@pytest.mark.parametrize("q", ["日本語", "go语言", "->->", "a=>b", "हिन्दी", "©2015", "🇩🇪", "½x"])
def test_no_query_is_refused(ask: Ask, q: str) -> None:
    assert ask(q).body["q"] == q


def test_the_beginning_of_a_word_finds_it_below_whole_words(ask: Ask) -> None:
    assert oids(ask("crontab")) == ["crontabber"]
    assert oids(ask("corn"))[:2] == ["cron", "cornwall"]
    assert oids(ask("cront"))[0] == "crontabber"
    assert "<mark>Cornwall</mark>" in ask("cornw").body["hits"][0]["highlight"]["title"]


def test_words_written_as_one_and_one_as_two(ask: Ask) -> None:
    answer = ask("dateformat")
    assert oids(answer) == ["date-title", "date-text"]
    assert answer.body["corrected"]["to"] == "date format"
    answer = ask("gol ang")
    assert set(oids(answer)) == {"go", "golang"}
    assert answer.body["corrected"]["to"] == "golang"


def test_another_inflection_is_no_correction(ask: Ask) -> None:
    answer = ask("fountains")
    assert oids(answer) == ["centre"]
    assert len(answer.debug["requests"]) == 2
    assert "corrected" not in answer.body
    assert ask("fountainn").body["corrected"]["to"] == "fountain"


# -- several words -------------------------------------------------------------------------------


def test_the_phrase_comes_first_then_all_words(ask: Ask) -> None:
    answer = ask("date format")
    assert oids(answer) == ["date-title", "date-text", "date-apart", "date-alone"]
    assert answer.body["matches"] == {"all_words": 3, "most_words": 3, "some_words": 4}
    assert answer.body["tier"] == "phrase"
    assert ask("format date").body["tier"] == "all words"


def test_a_title_in_another_inflection_is_above_a_mention(ask: Ask) -> None:
    answer = ask("client surveys")
    assert with_all(answer) == ["survey", "cornwall"]
    assert answer.body["tier"] == "phrase"  # Cornwall has it as typed
    assert ask("survey clients").body["tier"] == "all words"


def test_a_mended_phrase_is_a_phrase(ask: Ask) -> None:
    answer = ask("daet format")
    assert with_all(answer) == ["date-title", "date-text", "date-apart"]
    assert answer.body["matches"]["all_words"] == 3
    assert answer.body["tier"] == "phrase"


def test_a_word_that_no_post_has_is_named(ask: Ask) -> None:
    answer = ask("date format xqzvkw")
    assert answer.body["tier"] == "most words"
    assert answer.body["dropped"] == ["xqzvkw"]
    assert answer.body["matches"] == {"all_words": 0, "most_words": 3, "some_words": 4}
    assert oids(answer) == ["date-title", "date-text", "date-apart", "date-alone"]


def test_words_that_never_meet(ask: Ask) -> None:
    answer = ask("cornwall fountain")
    assert answer.body["matches"] == {"all_words": 0, "most_words": 0, "some_words": 2}
    assert answer.body["tier"] == "some words"
    assert set(oids(answer)) == {"cornwall", "centre"}
    assert "dropped" not in answer.body
    missing = {hit["oid"]: hit["missing"] for hit in answer.body["hits"]}
    assert missing == {"cornwall": ["fountain"], "centre": ["cornwall"]}


def test_pages_hold_no_more_than_what_is_meant(ask: Ask) -> None:
    first = ask("date format xqzvkw", ("size", "2"))
    second = ask("date format xqzvkw", ("size", "2"), ("page", "2"))
    third = ask("date format xqzvkw", ("size", "2"), ("page", "3"))
    assert [len(oids(answer)) for answer in (first, second, third)] == [2, 2, 0]
    assert {answer.body["count"] for answer in (first, second, third)} == {4}
    assert {tuple(answer.body["dropped"]) for answer in (first, second, third)} == {("xqzvkw",)}


def test_quoted_text_is_a_phrase_and_nothing_else(ask: Ask) -> None:
    assert oids(ask('"date format"')) == ["date-title", "date-text"]
    assert ask('"format date"').body["count"] == 0
    assert ask('"dates format"').body["count"] == 0
    assert oids(ask('"date format" files')) == ["date-title"]


def test_a_query_is_not_html(ask: Ask) -> None:
    assert oids(ask('"<details>"')) == ["details"]
    assert oids(ask('folding "<details>"')) == ["details"]
    assert oids(ask('"List<Integer>"')) == ["generic"]
    assert oids(ask('"List<String>"')) == []
    assert oids(ask("parametric -List<String>")) == ["generic"]
    assert oids(ask('parametric -"<script>"')) == ["generic"]
    assert oids(ask("parametric -List<Integer>")) == []


def test_a_compound_word_is_found_by_its_synonym(ask: Ask) -> None:
    assert set(oids(ask("react-js"))) == {"react", "reactjs"}


def test_words_of_a_synonym_that_are_apart_are_scored_and_marked(ask: Ask) -> None:
    answer = ask("fast api")  # a rule makes it FastAPI
    assert oids(answer) == ["swede"]
    hit = answer.body["hits"][0]
    assert hit["score"] is not None
    assert hit["score"] > 1  # more than its date
    assert "<mark>Fast</mark>" in hit["highlight"]["text"][0]
    assert "<mark>API</mark>" in hit["highlight"]["text"][0]


def test_a_number_is_split_from_its_word(ask: Ask) -> None:
    assert oids(ask("ruby3"))[:1] == ["ruby-33"]
    assert oids(ask("xyzzy3")) == []


def test_the_v_of_a_version_is_not_a_word(ask: Ask) -> None:
    answer = ask("ruby v3.4")
    assert oids(answer)[0] == "ruby-34"
    assert answer.body["tier"] == "phrase"


@pytest.mark.parametrize("q", ["environm", "rutaba"])
def test_the_beginning_of_a_word_is_marked(ask: Ask, q: str) -> None:
    hits = ask(q).body["hits"]
    assert hits
    assert all("<mark>" in str(hit) for hit in hits)


def test_a_word_is_kept_out(ask: Ask) -> None:
    assert "date-text" not in oids(ask("date -keep"))
    assert oids(ask('date -"date format"')) == ["date-alone", "date-apart"]
    assert "python-code" not in oids(ask("pythn -shell"))
    others = {oid for oid in POSTS if not oid.startswith("python")} | {"sopa"}
    assert set(oids(ask("-python", ("size", "50")))) == others


# -- words as people write them --------------------------------------------------------------------


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
    ],
)
def test_words_as_people_write_them(ask: Ask, q: str, expected: set[str]) -> None:
    answer = ask(q)
    assert set(with_all(answer)) == expected
    assert "corrected" not in answer.body


def test_a_word_that_is_being_typed_is_the_beginning_of_one(ask: Ask) -> None:
    for q in ("date fo", "date form", "date format", "DATE FORMA"):
        answer = ask(q, ("typing", "on"))
        assert oids(answer)[0] == "date-title", q
        assert "corrected" not in answer.body
    assert oids(ask("cront", ("typing", "on")))[0] == "crontabber"
    assert "<mark>crontabber</mark>" in str(ask("cront", ("typing", "on")).body["hits"][0])


def test_words_before_it_and_words_that_cannot_go_on_are_corrected(ask: Ask) -> None:
    answer = ask("daet form", ("typing", "on"))
    assert oids(answer)[0] == "date-title"
    assert answer.body["corrected"]["to"] == "date form"
    assert "python-old" in oids(ask("pythnn", ("typing", "on")))


def test_a_search_of_stop_words_only(ask: Ask) -> None:
    assert oids(ask("it"))[0] == "it"


def test_the_word_itself_stands_above_its_synonym(ask: Ask) -> None:
    assert oids(ask("centre"))[0] == "centre"
    assert oids(ask("center"))[0] == "center"


# -- ranking -------------------------------------------------------------------------------------


def test_title_above_text_above_code(ask: Ask) -> None:
    order = oids(ask("python"))
    assert set(order[:2]) == {"python-old", "python-new"}
    assert order[2:] == ["python-text", "python-code"]


def test_newer_a_little_above_older(ask: Ask) -> None:
    assert oids(ask("shoes")) == ["python-new", "python-old"]
    scores = {hit["oid"]: hit["score"] for hit in ask("shoes").body["hits"]}
    without = {hit["oid"]: hit["score"] for hit in ask("shoes", recency=False).body["hits"]}
    added = {oid: scores[oid] - without[oid] for oid in scores}
    assert added["python-new"] > added["python-old"] >= 0
    assert max(added.values()) < 0.06


def test_newest_first(ask: Ask) -> None:
    order = ["python-text", "python-new", "python-code", "python-old"]
    assert oids(ask("python", ("sort", "newest"))) == order
    assert oids(ask("pythn", ("sort", "newest"))) == order
    answer = ask("shoes work xqzvkw", ("sort", "newest"))
    assert oids(answer) == ["python-new", "python-old"]


def test_filters_keep_typo_tolerance(ask: Ask) -> None:
    assert set(oids(ask("pythn", ("category", "food")))) == {"python-text", "python-code"}
    both = ask("pythn", ("category", "food"), ("category", "tools"))
    assert both.body["count"] == 4
    assert oids(ask("pythn", ("since", "2021-05-06"))) == ["python-text"]
    assert oids(ask("pythn", ("until", "2001-05-05"))) == ["python-old"]
    answer = ask("pythn", ("category", "music"))
    assert answer.body["count"] == 0
    assert "corrected" not in answer.body


def test_a_language_is_searched_alone(ask: Ask) -> None:
    assert oids(ask("soup", ("lang", "pt"))) == ["sopa"]
    assert oids(ask("soup", ("lang", "pt-BR"))) == ["sopa"]
    assert oids(ask("soup", ("lang", "de"))) == []


def test_a_comment_speaks_for_its_post(ask: Ask) -> None:
    answer = ask("rutabaga")
    assert oids(answer) == ["swede", "commented"]
    comment = answer.body["hits"][1]["comments"][0]
    assert comment["author"] == "Olu"
    assert comment["url"] == "/commented#comment-c1"
    assert "<mark>rutabaga</mark>" in comment["highlight"][0]
    assert with_all(ask("rutabaga leeks")) == ["commented"]
    assert oids(ask("rutabga")) == ["swede", "commented"]


# -- the answer ----------------------------------------------------------------------------------


def test_whatever_a_post_contains_the_page_is_safe(ask: Ask) -> None:
    hit = ask("haggis").body["hits"][0]
    assert hit["title"] == "<script>alert(1)</script> & more"
    assert hit["highlight"]["title"] == "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more"
    assert hit["highlight"]["text"] == ["&lt;img src=x&gt; <mark>haggis</mark>"]


def test_marks_stand_on_the_words_of_the_post(ask: Ask) -> None:
    assert ask("react").body["hits"][-1]["highlight"]["text"] == [
        "He was <mark>reacting</mark> slowly."
    ]
    assert "<mark>C++</mark>" in ask("c++").body["hits"][0]["highlight"]["title"]
    assert ask("golang").body["hits"][1]["highlight"]["title"] == "Writing <mark>Go</mark>"
    assert "<mark>Café</mark>" in ask("cafe").body["hits"][0]["highlight"]["title"]
    assert ask("php").body["hits"][0]["highlight"]["title"] == "What is new in <mark>php8.3</mark>"


def test_the_explanation(ask: Ask) -> None:
    debug = ask("reactjs fomrs", ("debug-search", "")).debug
    forms = debug["words"][1]
    assert (forms["variants"][0]["text"], forms["variants"][0]["posts"]) == ("forms", 1)
    assert forms["weight"] > 0
    assert [rule["words"] for rule in debug["synonyms"]["rules"]] == ["reactjs"]
    assert debug["tier"] == "phrase"
    assert debug["reason"]
    assert debug["hits"][0]["reason"]
    assert [sent["kind"] for sent in debug["requests"]] == ["first", "second"]
    assert not any("bodies" in sent for sent in debug["requests"])
    sent = ask("reactjs fomrs", ("debug-search", "requests")).debug["requests"]
    assert ["query" in body for body in sent[0]["bodies"]] == [True, False]


@pytest.mark.parametrize(
    "q", ["date format", "pythn work", '"date format" files', "the who", "cornw", "rutabaga"]
)
def test_the_parts_of_a_score_add_up_to_it(ask: Ask, q: str) -> None:
    hits = ask(q, ("debug-search", "")).debug["hits"]
    for hit in hits:
        assert sum(part["score"] for part in hit["parts"]) == pytest.approx(hit["score"], abs=0.01)
        scores = [part["score"] for part in hit["parts"]]
        assert scores == sorted(scores, reverse=True)


def test_the_explanation_says_when_the_rules_have_changed(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "own.synonyms").write_text("soup, broth\n")
    debug = ask("soup", ("debug-search", ""), synonyms_dir=tmp_path).debug
    assert "other rules" in debug["synonyms"]["note"]


def test_two_words_are_found_as_the_one_that_posts_write(ask: Ask) -> None:
    answer = ask("key board", ("debug-search", ""))
    assert oids(answer) == ["keyboard", "board"]
    assert answer.body["hits"][0]["highlight"]["title"] == "A <mark>keyboard</mark> that clicks"
    assert "keyboard" in {part["part"] for part in answer.debug["hits"][0]["parts"]}
    for hit, explained in zip(answer.body["hits"], answer.debug["hits"], strict=True):
        assert sum(part["score"] for part in explained["parts"]) == pytest.approx(
            hit["score"], abs=0.01
        )


def test_the_word_that_two_others_are_written_as_is_found_beside_more_words(ask: Ask) -> None:
    answer = ask("key board clicks")
    assert oids(answer)[0] == "keyboard"
    assert "missing" not in answer.body["hits"][0]
    assert answer.body["tier"] == "all words"
    assert "corrected" not in answer.body


def test_two_hundred_characters_of_short_words(ask: Ask) -> None:
    assert ask(" ".join(["ab"] * 66)).body["count"] == 0
    assert ask(" ".join(f"xq{chr(97 + n % 26)}v" for n in range(40))).body["count"] == 0


@pytest.mark.parametrize("q", ["python", "c++", '"date format"'])
def test_an_index_of_another_version_is_recognized(
    elastic: Elasticsearch, settings: Settings, alias: str, q: str
) -> None:
    mappings = {"properties": {"kind": {"type": "keyword"}, "oid": {"type": "keyword"}}}
    elastic.indices.create(index=f"{alias}-000001", aliases={alias: {}}, mappings=mappings)
    with pytest.raises(OutdatedIndex, match="--force"):
        search(elastic, alias, SearchRequest(q=q), settings)


# -- the strategy fallback -------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["fallback"], indirect=True)
def test_the_strategy_of_2017(ask: Ask) -> None:
    answer = ask("pythn")
    assert set(oids(answer)) == {"python-old", "python-new", "python-text", "python-code"}
    assert answer.body["strategy"] == "match_phrase"
    assert [request["kind"] for request in answer.debug["requests"]] == ["suggest", "match_phrase"]
    terms = answer.debug["search_terms"]
    assert terms[0]["term"] == "pythn"
    assert terms[0]["score"] == 1.1
    assert terms[0]["boost_title"] == 2 * terms[0]["boost_text"]


@pytest.mark.parametrize("strategy", ["fallback"], indirect=True)
def test_2017_falls_back_to_single_words(ask: Ask) -> None:
    answer = ask("the format of a date xqzvkw")
    assert answer.body["strategy"] == "match"
    assert {"date-title", "date-apart", "date-alone"} <= set(oids(answer))


@pytest.mark.parametrize("strategy", ["fallback"], indirect=True)
def test_2017_finds_posts_by_their_comments(ask: Ask) -> None:
    first, second = ask("rutabaga").body["hits"]
    assert (first["oid"], first.get("comments")) == ("swede", None)
    assert (second["oid"], second["title"]) == ("commented", "Soup of the week")
    (comment,) = second["comments"]
    assert comment["url"] == "/commented#comment-c1"
    assert comment["highlight"] == ["Add a <mark>rutabaga</mark>, I say."]
    assert ask("rutabga").body["hits"][1]["comments"] == [comment]
    assert [hit["oid"] for hit in ask("rutabaga", ("category", "tools")).body["hits"]] == []
