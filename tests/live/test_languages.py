"""Languages with real analysis: every one with words, and posts in many of them.

`tests/data/languages.json` has a sample of words for each language, and for some of them posts
(title and text) with searches: the title of the first hit with its marks, the post that is found,
the word that a misspelled one is marked as, and what is being typed for the first post.
"""

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from analyzers.chains import SPELLING, TEXT, WORDS, analysis
from analyzers.languages import LANGUAGES, Language
from analyzers.rules.compile import NO_RULES
from analyzers.signs import split
from app import create_app
from app.index.synonyms import index_settings
from app.settings import Settings
from indexer.posts.records import Origin, RawPost
from tests.writing import index_at_once

DATA = json.loads((Path(__file__).resolve().parents[1] / "data" / "languages.json").read_text())
POSTS = DATA["posts"]

WITHOUT_STOP_WORDS = {
    "chinese", "hebrew", "hindi", "japanese", "korean", "polish", "ukrainian", "vietnamese",
}  # fmt: skip
"""Those of which Elasticsearch has no list, and Hindi: it does not know its other spellings."""

Indexed = Callable[..., Settings]
Client = Callable[..., FlaskClient]


def _tokens(elastic: Elasticsearch, language: Language, chain: str, text: str) -> list[str]:
    body = analysis(NO_RULES, language)
    analyzer = body["analyzer"][chain]
    response = elastic.indices.analyze(
        tokenizer=analyzer["tokenizer"],
        char_filter=[body["char_filter"].get(name, name) for name in analyzer["char_filter"]],
        filter=[body["filter"].get(name, name) for name in analyzer["filter"]],
        text=text,
    )
    return [token["token"] for token in response["tokens"]]


@pytest.mark.parametrize("language", LANGUAGES.values(), ids=lambda tested: tested.name)
def test_tokens_and_stop_words_are_those_of_elasticsearch(
    elastic: Elasticsearch, language: Language
) -> None:
    sample = DATA["samples"][language.name]
    words = split(sample)
    assert _tokens(elastic, language, WORDS, sample) == list(map(language.token, words))
    written = list(map(language.written, words))
    assert _tokens(elastic, language, SPELLING, sample) == written
    kept = [word for word in written if word not in language.stop_words]
    assert _tokens(elastic, language, TEXT, sample) == list(map(language.stem, kept))
    if language.name not in WITHOUT_STOP_WORDS:
        response = elastic.indices.analyze(
            tokenizer="whitespace",
            filter=[{"type": "stop", "stopwords": f"_{language.name}_"}],
            text=" ".join(language.stop_words),
        )
        others = {token["token"] for token in response["tokens"]} - {"mmh"}  # fuer, m-mh
        kept_words = language.stop_words - others
        assert {*map(language.fold, others)} <= {*map(language.fold, kept_words)}


@pytest.fixture(scope="module")
def indexed(
    elastic: Elasticsearch, engine_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Indexed]:
    """The settings of a service for the posts of a language, which are indexed once."""
    made: dict[tuple[str, str, str], Settings] = {}

    def build(language: str, rules: str = "", index_language: str = "") -> Settings:
        key = language, rules, index_language
        if key not in made:
            alias = f"test-{uuid.uuid4().hex[:8]}-{language}"
            raws = [
                RawPost(Origin("test"), oid, title, f"<p>{text}</p>", url=f"/{number}")
                for number, (oid, (title, text)) in enumerate(POSTS[language]["posts"].items())
            ]
            folder = tmp_path_factory.mktemp("rules")
            (folder / "own.synonyms").write_text(rules)
            name = index_language or language
            settings = replace(engine_settings, index=alias, synonyms_dir=folder, language=name)
            made[key] = settings
            made_of = index_settings(settings)
            index_at_once(elastic, alias, raws, made_of.rules, made_of.language)
        return made[key]

    yield build
    for settings in made.values():
        for name in elastic.indices.get(index=f"{settings.index}*", expand_wildcards="all"):
            elastic.indices.delete(index=name)


@pytest.fixture
def client(indexed: Indexed) -> Client:
    return lambda *posts, **options: create_app(indexed(*posts, **options)).test_client()


def search(client: FlaskClient, q: str, **parameters: str) -> Any:
    return client.get("/search", query_string={"q": q, **parameters}).get_json()


def oids(client: FlaskClient, q: str) -> list[str]:
    return [hit["oid"] for hit in search(client, q)["hits"]]


def first_title(client: FlaskClient, q: str) -> str:
    hits = search(client, q)["hits"]
    return str(hits[0]["highlight"]["title"] if hits else "")


@pytest.mark.parametrize("language", [language for language in POSTS if len(POSTS[language]) > 1])
def test_posts_are_found(client: Client, language: str) -> None:
    """By their words, which are marked, inflections of them, typing errors, and beginnings."""
    case, posts = POSTS[language], client(language)
    marked = case.get("marked", {})
    assert {q: first_title(posts, q) for q in marked} == marked
    found = {q: [oid] for q, oid in case.get("found", {}).items()}
    assert {q: oids(posts, q) for q in found} == found
    for typed, meant in case.get("corrected", {}).items():
        shown = json.dumps(search(posts, typed)["hits"], ensure_ascii=False).lower()
        assert f"<mark>{meant}" in shown, typed
    for q in case.get("typed", ()):
        body = search(posts, q, typing="on")
        assert body["hits"][0]["oid"] == "0", q
        assert "corrected" not in body
        suggested = posts.get("/suggest", query_string={"q": q}).get_json()["suggestions"]
        assert [suggestion for suggestion in suggested if suggestion["kind"] == "search"] == []


@pytest.mark.parametrize("language", DATA["order"])
def test_a_word_is_before_its_inflections_its_synonyms_and_others_of_its_stem(
    client: Client, language: str
) -> None:
    case = DATA["order"][language]
    posts = client(f"{language}-order", case["rules"], language)
    first = case["first"]
    found = {q: [hit["title"] for hit in search(posts, q, size="20")["hits"]] for q in first}
    assert {q: titles[: len(first[q])] for q, titles in found.items()} == first


def test_rules_of_words_without_spaces(client: Client) -> None:
    posts = client("japanese", "データベース, db\n検索エンジン => search\n猫, ねこ\n")
    for q, title in {"DB": "データベース", "search": "検索エンジン", "ねこ": "猫"}.items():
        assert title in first_title(posts, q)
    assert first_title(posts, "データベース") == "<mark>データベース</mark>の設計"
    assert first_title(posts, "データ") == "<mark>データ</mark>ベースの設計"


def test_chinese_phrases_exclusions_and_what_no_post_has(client: Client) -> None:
    posts = client("chinese")
    assert oids(posts, '"开发环境"') == ["1"]
    assert oids(posts, '"环境开发"') == []
    assert "0" not in oids(posts, "设计 索引 -数据库")
    hit = search(posts, "数据库设计 模型语言")["hits"][0]
    assert (hit["oid"], hit["missing"]) == ("0", ["模型语言"])
