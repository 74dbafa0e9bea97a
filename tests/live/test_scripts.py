"""Posts in every script: neighbouring words, mistyped ones, highlights, typing, synonyms."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from analyzers.languages import LANGUAGES
from analyzers.rules.compile import NO_RULES, read_rules
from app import create_app
from app.settings import Settings
from indexer.build.builder import IndexSettings, reindex
from indexer.records import Origin, RawPost

Client = Callable[..., FlaskClient]

POSTS = {
    "japanese": [
        ("データベースの設計", "小さなブログのために、表と索引をどう作るかを書きます。"),
        ("Dockerで開発環境を作る", "コンテナを使うと、誰の机でも同じ環境が動きます。"),
        ("猫と暮らす", "毎朝、猫が私を起こします。"),
        ("検索エンジンの仕組み", "言葉を二文字ずつ区切って探します。"),
    ],
    "korean": [
        ("데이터베이스를 설계하는 방법", "작은 블로그에 쓸 표와 색인을 만듭니다."),
        ("Docker를 처음 쓰는 사람에게", "컨테이너는 어디서나 똑같이 움직입니다."),
        ("고양이와 함께 사는 집", "아침마다 고양이가 나를 깨웁니다."),
        ("검색엔진이 일하는 순서", "낱말을 두 글자씩 잘라서 찾습니다."),
    ],
    "chinese": [
        ("数据库设计入门", "为一个小博客建立表和索引。"),
        ("用Docker搭建开发环境", "容器在每个人的电脑上都一样运行。"),
        ("和猫一起生活", "每天早上猫都会叫醒我。"),
        ("搜索引擎怎样工作", "把句子切成两个字的词来查找。"),
    ],
    "thai": [
        ("การออกแบบฐานข้อมูล", "เราสร้างตารางและดัชนีสำหรับบล็อกเล็ก ๆ"),
        ("เริ่มต้นใช้ Docker", "คอนเทนเนอร์ทำงานเหมือนกันทุกเครื่อง"),
        ("อยู่กับแมว", "ทุกเช้าแมวปลุกฉัน"),
    ],
    "polish": [
        ("Projektowanie bazy danych", "Tabele i indeksy dla małego bloga."),
        ("Książki na wieczór", "Czytam książki w bibliotece obok dworca."),
    ],
    "czech": [
        ("Návrh databáze", "Tabulky a rejstříky pro malý blog."),
        ("Knihovny ve městě", "V knihovnách čteme příběhy o moři."),
    ],
    "ukrainian": [
        ("Проєктування бази даних", "Таблиці та індекси для малого блогу."),
        ("Книжки на вечір", "Ми читаємо книжки в бібліотеці біля вокзалу."),
    ],
    "vietnamese": [
        ("Thiết kế cơ sở dữ liệu", "Bảng và chỉ mục cho một trang nhỏ."),
        ("Thư viện trong thành phố", "Chúng tôi đọc truyện gần nhà ga."),
    ],
    "hebrew": [
        ("תכנון מסד נתונים", "טבלאות ואינדקסים לבלוג קטן."),
        ("ספרייה בעיר", "אנחנו קוראים סיפורים ליד תחנת הרכבת."),
    ],
    "persian": [
        ("طراحی بانک اطلاعات", "جدول‌ها و نمایه‌ها برای یک وبلاگ کوچک."),
        ("کتابخانه شهر", "ما کنار ایستگاه داستان می‌خوانیم."),
    ],
    "bengali": [
        ("তথ্যভাণ্ডার নকশা", "ছোট ব্লগের জন্য সারণি বানাই।"),
        ("শহরের গ্রন্থাগার", "আমরা স্টেশনের পাশে গল্প পড়ি।"),
    ],
}


@pytest.fixture
def client(elastic: Elasticsearch, engine_settings: Settings, tmp_path: Path) -> Iterator[Client]:
    """Indexes the posts of a language; gives a client of a service for them."""
    aliases: list[str] = []

    def build(language: str, rules: str = "", index_language: str = "") -> FlaskClient:
        alias = f"test-{uuid.uuid4().hex[:8]}-{language}"
        aliases.append(alias)
        raws = [
            RawPost(Origin("test"), str(number), title, f"<p>{text}</p>", url=f"/{number}")
            for number, (title, text) in enumerate(POSTS[language])
        ]
        compiled = NO_RULES
        if rules:
            (tmp_path / "own.synonyms").write_text(rules)
            compiled = read_rules([tmp_path / "own.synonyms"])
        name = index_language or language
        reindex(elastic, alias, raws, IndexSettings(compiled, 1, 0, LANGUAGES[name]), pytest.fail)
        return create_app(
            replace(engine_settings, index=alias, synonyms_dir=tmp_path, language=name)
        ).test_client()

    yield build
    for alias in aliases:
        for name in elastic.indices.get(index=f"{alias}*", expand_wildcards="all"):
            elastic.indices.delete(index=name)


def search(client: FlaskClient, q: str, **parameters: str) -> Any:
    return client.get("/search", query_string={"q": q, **parameters}).get_json()


def first_title(client: FlaskClient, q: str, **parameters: str) -> str:
    hits = search(client, q, **parameters)["hits"]
    return str(hits[0]["highlight"]["title"] if hits else "")


@pytest.mark.parametrize(
    ("language", "queries"),
    [
        (
            "japanese",
            {
                "データベース": "<mark>データベース</mark>の設計",
                "データベ-スの設計": "<mark>データベ</mark>ー<mark>スの設計</mark>",
                "データヘース": "<mark>データ</mark>ベ<mark>ース</mark>の設計",
                "ﾃﾞｰﾀﾍﾞｰｽ": "<mark>データベース</mark>の設計",
                "Docker 環境": "<mark>Docker</mark>で開発<mark>環境</mark>を作る",
                "ｄｏｃｋｅｒ": "<mark>Docker</mark>で開発環境を作る",
                "dokcer 環境": "<mark>Docker</mark>で開発<mark>環境</mark>を作る",
                "猫": "<mark>猫と</mark>暮らす",
            },
        ),
        (
            "korean",
            {
                "데이터베이스 설계": "<mark>데이터베이스</mark>를 <mark>설계</mark>하는 방법",
                "데이타베이스": "<mark>데이</mark>터<mark>베이스</mark>를 설계하는 방법",
                "docker": "<mark>Docker</mark>를 처음 쓰는 사람에게",
                "도커 Docker는": "<mark>Docker</mark>를 처음 쓰는 사람에게",
                "검색 엔진": "<mark>검색</mark><mark>엔진</mark>이 일하는 순서",
                "집": "고양이와 함께 사는 <mark>집</mark>",
            },
        ),
        (
            "chinese",
            {
                "数据库设计": "<mark>数据库设计</mark>入门",
                "数据厍设计": "<mark>数据</mark>库<mark>设计</mark>入门",
                "docker 环境": "用<mark>Docker</mark>搭建开发<mark>环境</mark>",
                "猫": "<mark>和猫一</mark>起生活",
            },
        ),
        (
            "thai",
            {
                "ออกแบบฐานข้อมูล": "การออกแบบ<mark>ฐานข้อมูล</mark>",
                "ข้อมูล": "การออกแบบฐาน<mark>ข้อมูล</mark>",
                "ข้อมูล ออกแบป": "การออกแบบฐาน<mark>ข้อมูล</mark>",
                "dokcer": "เริ่มต้นใช้ <mark>Docker</mark>",
            },
        ),
        (
            "polish",
            {
                "bazy danych": "Projektowanie <mark>bazy</mark> <mark>danych</mark>",
                "projketowanie bazy": "<mark>Projektowanie</mark> <mark>bazy</mark> danych",
                "ksiazka": "<mark>Książki</mark> na wieczór",
            },
        ),
        (
            "czech",
            {
                "navrh databáze": "<mark>Návrh</mark> <mark>databáze</mark>",
                "knihovna": "<mark>Knihovny</mark> ve městě",
                "knihovyn": "<mark>Knihovny</mark> ve městě",
            },
        ),
        (
            "ukrainian",
            {
                "бази даних": "Проєктування <mark>бази</mark> <mark>даних</mark>",
                "книжка": "<mark>Книжки</mark> на вечір",
                "проєктуваня бази": "<mark>Проєктування</mark> <mark>бази</mark> даних",
            },
        ),
        (
            "vietnamese",
            {
                "thư viện": "<mark>Thư</mark> <mark>viện</mark> trong thành phố",
                "thu vien": "<mark>Thư</mark> <mark>viện</mark> trong thành phố",
                "thànfh phố": "Thư viện trong <mark>thành</mark> <mark>phố</mark>",
            },
        ),
        (
            "hebrew",
            {
                "מסד נתונים": "תכנון <mark>מסד</mark> <mark>נתונים</mark>",
                "סְפַרִייָה": "<mark>ספרייה</mark> בעיר",
                "מסד נתונימ": "תכנון <mark>מסד</mark> <mark>נתונים</mark>",
            },
        ),
        (
            "persian",
            {
                "بانک اطلاعات": "طراحی <mark>بانک</mark> <mark>اطلاعات</mark>",
                "كتابخانه": "<mark>کتابخانه</mark> شهر",
                "بانک اطلاعت": "طراحی <mark>بانک</mark> <mark>اطلاعات</mark>",
            },
        ),
        (
            "bengali",
            {
                "শহরের গ্রন্থাগার": "<mark>শহরের</mark> <mark>গ্রন্থাগার</mark>",
                "গ্রন্থাগর": "শহরের <mark>গ্রন্থাগার</mark>",
            },
        ),
    ],
)
def test_words_are_found_and_marked(client: Client, language: str, queries: dict[str, str]) -> None:
    posts = client(language)
    assert {q: first_title(posts, q) for q in queries} == queries


def test_japanese_posts_are_found_in_an_english_index(client: Client) -> None:
    posts = client("japanese", index_language="english")
    assert first_title(posts, "検索エンジン") == "<mark>検索エンジン</mark>の仕組み"


@pytest.mark.parametrize(
    ("language", "typed"),
    [
        ("japanese", ["デ", "データ", "データベ", "データベースの"]),
        ("korean", ["데", "데이", "데이터베", "데이터베이스를 설"]),
        ("chinese", ["数", "数据", "数据库设"]),
    ],
)
def test_a_word_that_is_being_typed(client: Client, language: str, typed: list[str]) -> None:
    posts = client(language)
    for q in typed:
        body = search(posts, q, typing="on")
        assert body["hits"][0]["oid"] == "0", q
        assert "corrected" not in body
        suggested = posts.get("/suggest", query_string={"q": q}).get_json()["suggestions"]
        assert [suggestion for suggestion in suggested if suggestion["kind"] == "search"] == []


def test_rules_of_words_without_spaces(client: Client) -> None:
    posts = client("japanese", "データベース, db\n検索エンジン => search\n猫, ねこ\n")
    assert "データベース" in first_title(posts, "DB")
    assert "検索エンジン" in first_title(posts, "search")
    assert "猫" in first_title(posts, "ねこ")
    assert first_title(posts, "データベース") == "<mark>データベース</mark>の設計"
    assert first_title(posts, "データ") == "<mark>データ</mark>ベースの設計"


def test_what_a_post_does_not_have_is_shown_as_typed(client: Client) -> None:
    posts = client("chinese")
    hit = search(posts, "数据库设计 模型语言")["hits"][0]
    assert (hit["oid"], hit["missing"]) == ("0", ["模型语言"])


def test_a_phrase_and_an_exclusion(client: Client) -> None:
    posts = client("chinese")
    assert [hit["oid"] for hit in search(posts, '"开发环境"')["hits"]] == ["1"]
    assert search(posts, '"环境开发"')["hits"] == []
    assert "0" not in {hit["oid"] for hit in search(posts, "设计 索引 -数据库")["hits"]}
