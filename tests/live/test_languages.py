"""Languages with real analysis: every one with words, German and Russian with posts."""

import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from analyzers.bigrams import split
from analyzers.chains import SPELLING, TEXT, WORDS, analysis
from analyzers.languages import LANGUAGES, Language
from analyzers.rules.compile import NO_RULES
from app import create_app
from app.settings import Settings
from indexer.build.builder import IndexSettings, reindex
from indexer.records import Origin, RawPost

SAMPLES = {
    "arabic": "مكتبة الكتب أحمد",
    "armenian": "գրքեր տներ",
    "basque": "etxeak mendietan",
    "bengali": "বাংলা ভাষায় বইগুলো",
    "catalan": "l'escola cançons d'hivern",
    "chinese": "数据库 Python入门 的",
    "czech": "knihovnami příběhů žlutý",
    "danish": "Smørrebrød husene årene",
    "dutch": "fietsen huizen ideeën",
    "english": "Café's naïve running",
    "estonian": "õpetajad tähtede",
    "finnish": "talossa hyvää kirjoja",
    "french": "L'École écrivaient œuvres",
    "german": "Häuser Straße fuer neue aktuell",
    "greek": "Άνθρωπος βιβλία δρόμους",
    "hebrew": "סְפָרִים בספרייה",
    "hindi": "किताबें लड़कों",
    "hungarian": "házakban gyümölcsök",
    "indonesian": "membaca bukunya",
    "irish": "d'athair leabhair",
    "italian": "dell'amicizia città biblioteche",
    "japanese": "データベース設計 Running ﾃﾞｰﾀ ＨＴＴＰ 猫",
    "korean": "데이터베이스를 설계하는 Docker를 2024년",
    "lithuanian": "namuose žmonės",
    "norwegian": "bøkene årene",
    "persian": "کتاب‌های فارسی می‌خوانم",
    "polish": "książkami żółtych bibliotek",
    "portuguese": "canções coração livros",
    "romanian": "cărților școală",
    "russian": "Ёлки книгами café",
    "serbian": "Ђаци књигама šuma",
    "spanish": "canción niños bibliotecas",
    "swedish": "böckerna månaderna",
    "thai": "ภาษา Python บ้าน",
    "turkish": "Işık'ta kitapları İstanbul",
    "ukrainian": "книжками ґанок її",
    "vietnamese": "Thư viện điện tử và sách",
}

OTHER_STEMMERS = {"bengali", "czech", "persian"}
"""Those that Elasticsearch does not stem with Snowball, and Python does or not at all."""
WITHOUT_STOP_WORDS = {
    "chinese", "hebrew", "japanese", "korean", "polish", "ukrainian", "vietnamese",
}  # fmt: skip
"""Those of which Elasticsearch has no list."""

GERMAN = {
    "haus": ("Alte Häuser", "Wir haben drei Häuser in der Straße neben dem Bahnhof renoviert."),
    "garten": ("Im Garten", "Die Äpfel sind reif, und die Gärtner ernten sie für den Markt."),
    "fahrrad": ("Fahrräder", "Ein neues Fahrrad kostet heute mehr als früher zwei Fahrräder."),
}
FRENCH = {
    "bases": ("Choisir une base de données", "Les données restent."),
    "donnée": ("Une seule donnée", "Elle est utile."),
    "flow": ("Commencer avec Flow", "Flow trouve des erreurs."),
    "pourquoi": ("Pourquoi pas", "Un texte sans code."),
}
RUSSIAN = {
    "книги": ("Новые книги", "Мы читаем книги вечером и говорим о писателях."),
    "ёлка": ("Ёлка", "Во дворе стоит большая ёлка, а под ней лежат подарки."),
    "город": ("О городе", "В нашем городе открыли библиотеку и три магазина."),
}


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
def test_tokens_are_the_same_in_elasticsearch(elastic: Elasticsearch, language: Language) -> None:
    sample = SAMPLES[language.name]
    words = split(sample)
    assert _tokens(elastic, language, WORDS, sample) == list(map(language.token, words))
    written = list(map(language.written, words))
    assert _tokens(elastic, language, SPELLING, sample) == written
    if language.name not in OTHER_STEMMERS:
        kept = [word for word in written if word not in language.stop_words]
        assert _tokens(elastic, language, TEXT, sample) == list(map(language.stem, kept))


@pytest.mark.parametrize(
    "language",
    [tested for tested in LANGUAGES.values() if tested.name not in WITHOUT_STOP_WORDS],
    ids=lambda tested: tested.name,
)
def test_stop_words_are_those_of_elasticsearch(elastic: Elasticsearch, language: Language) -> None:
    response = elastic.indices.analyze(
        tokenizer="whitespace",
        filter=[{"type": "stop", "stopwords": f"_{language.name}_"}],
        text=" ".join(language.stop_words),
    )
    spelled_out = {token["token"] for token in response["tokens"]}
    assert not spelled_out or language.spelled_out
    assert {language.fold(word) for word in spelled_out} <= set(
        map(language.fold, language.stop_words - spelled_out)
    )


@pytest.fixture(scope="module")
def index(elastic: Elasticsearch) -> Iterator[Any]:
    """Builds an index with posts in a language; gives its alias."""
    built: list[str] = []

    def build(language: str, posts: dict[str, tuple[str, str]]) -> str:
        alias = f"test-{uuid.uuid4().hex[:8]}-{language}"
        raws = [
            RawPost(Origin("test"), oid, title, f"<p>{text}</p>", pub_date="2024-01-01")
            for oid, (title, text) in posts.items()
        ]
        settings = IndexSettings(NO_RULES, 1, 0, LANGUAGES[language])
        reindex(elastic, alias, raws, settings, pytest.fail)
        built.append(alias)
        return alias

    yield build
    for alias in built:
        for name in elastic.indices.get(index=f"{alias}*", expand_wildcards="all"):
            elastic.indices.delete(index=name)


@pytest.fixture(scope="module")
def german(index: Any) -> str:
    return str(index("german", GERMAN))


@pytest.fixture(scope="module")
def russian(index: Any) -> str:
    return str(index("russian", RUSSIAN))


def _found(elastic: Elasticsearch, alias: str, text: str, field: str = "text") -> set[str]:
    response = elastic.search(index=alias, query={"match": {field: text}})
    return {hit["_source"]["oid"] for hit in response["hits"]["hits"]}


@pytest.mark.parametrize(
    ("query", "oid"),
    [
        ("Haus", "haus"),
        ("haeuser", "haus"),
        ("hauser", "haus"),
        ("strassen", "haus"),
        ("Apfel", "garten"),
        ("Gärtnern", "garten"),
        ("Fahrrads", "fahrrad"),
        ("neue", "fahrrad"),
    ],
)
def test_german_inflections_are_found(
    elastic: Elasticsearch, german: str, query: str, oid: str
) -> None:
    assert _found(elastic, german, query) == {oid}


@pytest.mark.parametrize(
    ("query", "oid"),
    [
        ("книга", "книги"),
        ("книгами", "книги"),
        ("писатель", "книги"),
        ("ёлки", "ёлка"),
        ("елка", "ёлка"),
        ("магазин", "город"),
        ("библиотека", "город"),
    ],
)
def test_russian_inflections_are_found(
    elastic: Elasticsearch, russian: str, query: str, oid: str
) -> None:
    assert _found(elastic, russian, query) == {oid}


@pytest.mark.parametrize(
    ("language", "typed", "meant"),
    [
        ("german", "bahnhoff", "bahnhof"),
        ("german", "häusre", "häuser"),
        ("german", "gartner", "gärtner"),
        ("russian", "библеотеку", "библиотеку"),
        ("russian", "вечерм", "вечером"),
        ("russian", "пдарки", "подарки"),
    ],
)
def test_typing_errors_are_corrected(
    elastic: Elasticsearch, request: pytest.FixtureRequest, language: str, typed: str, meant: str
) -> None:
    alias = request.getfixturevalue(language)
    suggest = {"text": typed, "term": {"field": "all.words", "suggest_mode": "always"}}
    response = elastic.search(index=alias, size=0, suggest={"word": suggest})
    assert response["suggest"]["word"][0]["options"][0]["text"] == meant
    assert _found(elastic, alias, meant, "text.words")


def test_stop_words_are_dropped(elastic: Elasticsearch, german: str, russian: str) -> None:
    assert _found(elastic, german, "und für der") == set()
    assert _found(elastic, german, "fur", "text.words") == {"garten"}
    assert _found(elastic, russian, "в на и") == set()


@pytest.fixture
def settings(engine_settings: Settings, german: str, tmp_path: Any) -> Settings:
    return replace(engine_settings, index=german, synonyms_dir=tmp_path, language="german")


def test_searches_find_german_posts(client: FlaskClient) -> None:
    hits = client.get("/search?q=haus").get_json()["hits"]
    assert [hit["oid"] for hit in hits] == ["haus"]
    assert "<mark>Häuser</mark>" in hits[0]["highlight"]["title"]
    body = client.get("/search?q=bahnhfo").get_json()
    assert [hit["oid"] for hit in body["hits"]] == ["haus"]


@pytest.fixture
def french(index: Any, settings: Settings) -> FlaskClient:
    changed = replace(settings, index=index("french", FRENCH), language="french")
    return create_app(changed).test_client()


def test_words_without_their_accents_are_the_same_words(french: FlaskClient) -> None:
    with_accents, without = (
        french.get(f"/search?q={word}").get_json() for word in ("données", "donnees")
    )
    assert {hit["oid"] for hit in with_accents["hits"]} == {"bases", "donnée"}
    assert {hit["oid"] for hit in without["hits"]} == {"bases", "donnée"}
    assert "<mark>données</mark>" in without["hits"][0]["highlight"]["title"]
    assert "corrected" not in without


def test_a_question_word_is_not_needed(french: FlaskClient) -> None:
    hits = french.get("/search?q=pourquoi flow").get_json()["hits"]
    assert [hit["oid"] for hit in hits] == ["flow"]
    assert "missing" not in hits[0]


def test_another_language_than_that_of_the_index_is_reported(settings: Settings) -> None:
    def index_check(settings: Settings) -> dict[str, str]:
        token = "an-operators-token"
        settings = replace(settings, write_tokens=token)
        headers = {"Authorization": f"Bearer {token}"}
        response = create_app(settings).test_client().get("/__heartbeat__", headers=headers)
        check: dict[str, str] = response.get_json()["checks"]["index"]
        return check

    assert index_check(settings)["status"] == "ok"
    check = index_check(replace(settings, language="english"))
    assert check["status"] == "warning"
    assert "german" in check["seen"]
