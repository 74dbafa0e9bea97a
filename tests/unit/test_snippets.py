"""Snippets and sections cut out of marked texts. `[cat]` stands for a marked word."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from app.search.render import MARK, UNMARK, excerpts
from app.search.scoring import FRAGMENT_SIZE, LONGEST_SNIPPET
from app.search.session import HeadingPlace
from indexer.posts.html_text import readable

CASES = json.loads((Path(__file__).parents[1] / "data/unit/snippets.json").read_text("utf-8"))
"""By test: its cases."""

FILLER = "Nothing of interest is said here. " * 40
HEADING: HeadingPlace = {"line": 0, "code_line": 0, "level": 2, "id": ""}


def marked(text: str) -> str:
    return text.replace("[", MARK).replace("]", UNMARK)


def bracketed(text: str) -> str:
    return text.replace(MARK, "[").replace(UNMARK, "]")


def snippets(
    text: str,
    code: str = "",
    title: str = "",
    headings: Sequence[HeadingPlace] = (),
    announced: str = "",
) -> list[str]:
    given = {"text": marked(text), "code": marked(code), "title": marked(title)}
    shown, _ = excerpts(given, headings, announced=[announced] if announced else ())
    return [bracketed(snippet) for snippet in shown]


FEWER, BOTH = "An [index] for [indexing].", "An [index] for a [dog]."
CATS, DOG, FOX = "The [cat] and the [hen].", "A [dog] came.", "A [fox] too."
NUMBERED = [f"Number {number} has a [cat]." for number in range(9)]
JAPANESE = "ここには何も書かれていません。" * 30


@pytest.mark.parametrize(
    ("text", "more", "expected"),
    [
        (f"{FILLER}The [cat] sat down. Then it slept.\nMore.", {}, ["The [cat] sat down."]),
        ("A heading\nThe [cat]\nmore", {}, ["The [cat]"]),
        (
            "One. Dr. Foo, e.g. the [cat] of St. Ives. Two.",
            {},
            ["Dr. Foo, e.g. the [cat] of St. Ives."],
        ),
        ("One. The U.S. Yahoo! Inc [cat] came. Two.", {}, ["The U.S. Yahoo! Inc [cat] came."]),
        ("One. A [cat] needs:\nfood\nwater", {}, ["A [cat] needs:\nfood"]),
        ("A [cat] eats:\nMore.", {"announced": "0\neat &lt;\n}"}, ["A [cat] eats:\neat <"]),
        (
            "A [cat] eats:\nMore.",
            {"announced": "0\neat dog\n}", "code": "eat [dog]\n}"},
            ["A [cat] eats:\neat [dog]", "eat [dog]"],
        ),
        (f"{FEWER} {FILLER}{BOTH}", {}, [BOTH, FEWER]),
        (f" {FILLER}".join(NUMBERED), {}, NUMBERED[:2]),
        (f"The [cat] sat. {FILLER}" * 30 + DOG, {}, ["The [cat] sat.", DOG]),
        (f"{CATS} {FILLER}{DOG} {FILLER}{FOX}", {"title": "[cat] [hen]"}, [DOG, FOX]),
        ("A [cat].", {"code": "x = 1\n[dog]()\ny = 2"}, ["A [cat].", "[dog]()"]),
        (f"{JAPANESE}朝に[猫]が起きます。それから寝ます。{JAPANESE}", {}, ["朝に[猫]が起きます。"]),
        ("A [cat].", {"headings": [{**HEADING, "line": 9}]}, ["A [cat]."]),
        ("One\n[ant]\nTwo\n[bee]", {"headings": [HEADING]}, []),
    ],
)
def test_the_sentences_that_show_most(text: str, more: dict[str, Any], expected: list[str]) -> None:
    assert snippets(text, **more) == expected


def test_a_long_sentence_is_cut_between_words_around_its_mark() -> None:
    words = "word " * 200
    (snippet,) = snippets(f"{words}[cat] {words}")
    assert "[cat]" in snippet
    assert FRAGMENT_SIZE / 2 < len(snippet) < 2 * FRAGMENT_SIZE
    assert snippet.split()[:2] == ["…", "word"]
    assert snippet.split()[-2:] == ["word", "…"]
    (snippet,) = snippets(f"{'長' * 900}[猫]{'文' * 900}")
    assert "[猫]" in snippet
    assert len(snippet) < 2 * FRAGMENT_SIZE


def test_a_word_without_an_end_is_cut() -> None:
    (snippet,) = snippets(f"{'x' * 9_000}[cat]{'y' * 9_000}")
    assert snippet.startswith("… [cat]")
    assert len(snippet) <= LONGEST_SNIPPET + len("… " + " …")


def test_a_long_marked_phrase_stays_marked() -> None:
    phrase = f"[{'to be or not to be ' * 20}]"
    (snippet,) = snippets(f"{FILLER}{phrase} {FILLER}")
    assert phrase in snippet


def test_without_a_mark_the_text_begins() -> None:
    (shown,) = snippets(FILLER)
    assert FILLER.startswith(shown.removesuffix(" …"))
    assert FRAGMENT_SIZE <= len(shown) < 2 * FRAGMENT_SIZE


# -- sections --------------------------------------------------------------------------------------


def sections_of(page: str, *words: str) -> list[tuple[str, str, str]]:
    """Heading with those above it, the fragment of the URL, and snippet of each section of a page
    of which these words match."""
    text = readable(page)
    prose, code = text.prose, text.code
    for word in words:
        prose, code = prose.replace(word, f"[{word}]"), code.replace(word, f"[{word}]")
    headings: list[Any] = [
        {name: getattr(heading, name) for name in heading.__slots__} for heading in text.headings
    ]
    _, sections = excerpts({"text": marked(prose), "code": marked(code)}, headings)
    return [
        (
            " › ".join((*passage.above, passage.heading)).replace(MARK, "").replace(UNMARK, ""),
            passage.url("/p").removeprefix("/p#"),
            bracketed(snippet),
        )
        for passage, snippet in sections
    ]


@pytest.mark.parametrize(("page", "words", "headings"), CASES["the_sections_that_answer_best"])
def test_the_sections_that_answer_best(
    page: str, words: tuple[str, ...], headings: list[str]
) -> None:
    assert [section[0] for section in sections_of(page, *words)][: len(headings) or 1] == headings


def test_three_sections_that_show_different_words_at_most() -> None:
    words = ("ant", "bee", "cat", "dog")
    page = "".join(f"<h2>Part {number}</h2><p>A {word}.</p>" for number, word in enumerate(words))
    assert [snippet for _, _, snippet in sections_of(page, *words)] == [
        "A [ant].", "A [bee].", "A [cat]."
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("page", "snippet"),
    [
        (f"<h2>The cat</h2><p>It sat. {FILLER}</p>", "It sat. "),
        ("<h2>The cat</h2><pre>\n a\nb</pre>", "a"),
        ("<h2>The cat</h2>", ""),
    ],
)
def test_without_a_match_below_its_heading_a_section_begins(page: str, snippet: str) -> None:
    [(_, _, shown)] = sections_of(page, "cat")
    assert shown[: len("It sat. ")] == snippet


@pytest.mark.parametrize(("page", "word", "fragment"), CASES["the_url_leads_to_the_heading"])
def test_the_url_leads_to_the_heading(page: str, word: str, fragment: str) -> None:
    [(_, url, _)] = sections_of(page, word)
    assert url == fragment


def test_a_long_heading_is_named_by_its_first_words() -> None:
    [(_, url, _)] = sections_of(f"<h2>Cat {'word ' * 90}</h2><p>Below.</p>", "Cat")
    assert url.startswith(":~:text=Cat%20word")
    assert url.endswith("%20word")
    assert len(url) < 200


def test_the_text_fragment_follows_the_fragment_of_a_post() -> None:
    _, [(passage, _)] = excerpts({"text": marked("[Cat]")}, [HEADING])
    assert passage.url("/p#post-3") == "/p#post-3:~:text=Cat"
