"""Snippets and sections cut out of marked texts."""

from typing import Any
from urllib.parse import quote, unquote

import pytest

from app.search.render import MARK, UNMARK, excerpts
from app.search.scoring import FRAGMENT_SIZE, LONGEST_SNIPPET
from indexer.html_text import readable


def marked(word: str) -> str:
    return f"{MARK}{word}{UNMARK}"


def snippets(text: str, code: str = "", title: str = "") -> list[str]:
    loose, _ = excerpts({"text": text, "code": code, "title": title})
    return loose


FILLER = "Nothing of interest is said here. " * 40


def test_the_sentence_of_a_mark_comes_whole() -> None:
    text = f"{FILLER}The {marked('cat')} sat down. Then it slept.\nAnother block."
    assert snippets(text) == [f"The {marked('cat')} sat down."]


def test_a_block_ends_a_sentence() -> None:
    assert snippets(f"A heading\nThe {marked('cat')}\nmore") == [f"The {marked('cat')}"]


def test_the_sentence_with_more_different_words_is_first() -> None:
    fewer = f"An {marked('index')} for {marked('indexing')}."
    both = f"An {marked('index')} for a {marked('dog')}."
    assert snippets(f"{fewer} {FILLER}{both}") == [both, fewer]


def test_of_sentences_as_good_the_first_ones() -> None:
    sentences = [f"Number {number} has a {marked('cat')}." for number in range(9)]
    assert snippets(f" {FILLER}".join(sentences)) == sentences[:2]


def test_a_long_sentence_is_cut_between_words_around_its_mark() -> None:
    words = "word " * 200
    (snippet,) = snippets(f"{words}{marked('cat')} {words}")
    assert marked("cat") in snippet
    assert FRAGMENT_SIZE / 2 < len(snippet) < 2 * FRAGMENT_SIZE
    assert snippet.split()[:2] == ["…", "word"]
    assert snippet.split()[-2:] == ["word", "…"]


def test_a_word_without_an_end_is_cut() -> None:
    (snippet,) = snippets(f"{'x' * 9_000}{marked('cat')}{'y' * 9_000}")
    assert snippet.startswith(f"… {marked('cat')}")
    assert len(snippet) <= LONGEST_SNIPPET + len("… " + " …")


def test_a_long_marked_phrase_stays_marked() -> None:
    phrase = marked("to be or not to be " * 20)
    (snippet,) = snippets(f"{FILLER}{phrase} {FILLER}")
    assert phrase in snippet


def test_without_a_mark_the_text_begins() -> None:
    shown = snippets(FILLER)
    assert len(shown) == 1
    assert FILLER.startswith(shown[0].removesuffix(" …"))
    assert FRAGMENT_SIZE <= len(shown[0]) < 2 * FRAGMENT_SIZE


def test_every_word_is_shown_however_far_apart() -> None:
    words = ["cat", "dog", "fox", "owl"]
    text = FILLER.join(f"Here is a {marked(word)} alone." for word in words)
    assert all(marked(word) in " ".join(snippets(text)) for word in words)
    late = f"The {marked('cat')} sat. {FILLER}" * 30 + f"A {marked('dog')} came."
    assert f"A {marked('dog')} came." in snippets(late)


def test_words_that_the_title_shows_count_less() -> None:
    cats = f"The {marked('cat')} and the {marked('hen')}."
    text = f"{cats} {FILLER}A {marked('dog')} came. {FILLER}A {marked('fox')} too."
    in_title = f"{marked('cat')} {marked('hen')}"
    assert snippets(text, title=in_title) == [
        f"A {marked('dog')} came.",
        f"A {marked('fox')} too.",
    ]


def test_a_word_that_only_code_has_is_shown_too() -> None:
    shown = snippets(f"A {marked('cat')}.", f"x = 1\n{marked('dog')}()\ny = 2")
    assert shown == [f"A {marked('cat')}.", f"{marked('dog')}()"]


def sections_of(page: str, *words: str, q: str = "") -> list[tuple[str, str, str]]:
    """Heading with those above it, the fragment of the URL, and snippet of each section of a page
    of which these words match."""
    page_text = readable(page)
    prose, code = page_text.prose, page_text.code
    for word in words:
        prose, code = prose.replace(word, marked(word)), code.replace(word, marked(word))
    headings: list[dict[str, Any]] = [
        {name: getattr(heading, name) for name in heading.__slots__}
        for heading in page_text.headings
    ]
    _, sections = excerpts({"text": prose, "code": code}, headings, q)
    return [
        (
            " › ".join((*passage.above, passage.heading)).replace(MARK, "").replace(UNMARK, ""),
            passage.url("/p").removeprefix("/p#"),
            snippet,
        )
        for passage, snippet in sections
    ]


PAGE = (
    "<p>Start.</p><h2>Setup</h2><p>About cats.</p><h3 id='linux'>On Linux</h3><p>With a dog.</p>"
    "<pre>apt fox\n\nowl</pre><h2>Usage</h2><pre># hen</pre><p>Enough.</p><h3>On Linux</h3>"
)


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("cat", "Setup"),
        ("dog", "Setup › On Linux"),
        ("fox", "Setup › On Linux"),
        ("owl", "Setup › On Linux"),
        ("hen", "Usage"),
        ("Usage", "Usage"),
    ],
)
def test_the_place_of_a_match_tells_its_section(word: str, path: str) -> None:
    assert [section[0] for section in sections_of(PAGE, word)] == [path]


def test_a_match_before_the_first_heading_is_in_no_section() -> None:
    assert sections_of(PAGE, "Start") == []


def test_the_words_of_a_heading_count_more_than_those_below_it() -> None:
    page = "<h2>About</h2><p>The dog bites.</p><h2>The dog</h2><p>It bites, too.</p>"
    assert sections_of(page, "dog", "bites")[0][0] == "The dog"


def test_the_heading_that_is_the_query_is_first() -> None:
    page = "<h2>Server to client</h2><p>client server</p><h2>Client to server</h2><p>x</p>"
    words = ("Server", "server", "client", "Client")
    assert sections_of(page, *words, q="client to Server")[0][0] == "Client to server"


def test_three_sections_that_show_different_words_at_most() -> None:
    words = ("ant", "bee", "cat", "dog")
    page = "".join(f"<h2>Part {number}</h2><p>A {word}.</p>" for number, word in enumerate(words))
    sections = sections_of(page, *words)
    assert [snippet for _, _, snippet in sections] == [f"A {marked(word)}." for word in words[:3]]
    loose, _ = excerpts(
        {"text": f"One\n{marked('ant')}\nTwo\n{marked('bee')}"},
        [{"line": 0, "code_line": 0, "level": 2, "id": ""}],
    )
    assert loose == []


def test_words_beyond_three_sections_are_shown_beside_them() -> None:
    words = ("ant", "bee", "cat", "dog")
    text = "\n".join(f"Part\nA {marked(word)}." for word in words)
    headings = [{"line": 2 * n, "code_line": 0, "level": 2, "id": ""} for n in range(len(words))]
    loose, sections = excerpts({"text": text}, headings)
    assert len(sections) == 3
    assert loose == [f"A {marked('dog')}."]


def test_a_second_section_with_the_same_word_needs_it_in_its_heading() -> None:
    page = "<h2>A cat</h2><p>x</p><h2>B</h2><p>a cat</p><h2>The cat</h2><p>y</p>"
    assert [section[0] for section in sections_of(page, "cat")] == ["A cat", "The cat"]


def test_without_a_match_below_its_heading_a_section_begins() -> None:
    page = f"<h2>The cat</h2><p>It sat. {FILLER}</p>"
    assert sections_of(page, "cat")[0][2].startswith("It sat. ")
    assert sections_of("<h2>The cat</h2><pre>\n a\nb</pre>", "cat")[0][2] == "a"
    assert sections_of("<h2>The cat</h2>", "cat")[0][2] == ""


def test_a_mark_that_ends_below_its_heading() -> None:
    text = f"The {MARK}web\nworkers{UNMARK} run."
    _, [(passage, snippet)] = excerpts(
        {"text": text}, [{"line": 0, "code_line": 0, "level": 2, "id": ""}]
    )
    assert passage.heading == f"The {marked('web')}"
    assert snippet == f"{marked('workers')} run."


@pytest.mark.parametrize(
    ("page", "word", "fragment"),
    [
        ("<h2 id='a-b'>Cat</h2>", "Cat", "a-b"),
        ("<h2 id='größe %'>Cat</h2>", "Cat", ":~:text=Cat"),
        ("<h2 id='größe%'>Cat</h2>", "Cat", "gr%C3%B6%C3%9Fe%25"),
        ("<h2>Cat</h2>", "Cat", ":~:text=Cat"),
        ("<h2>A <b>Cat</b>-fish, &amp; so</h2>", "Cat", ":~:text=A%20Cat%2Dfish%2C%20%26%20so"),
        ("<h2>Cat</h2><p>It sat down on the mat.</p>", "Cat", "It sat down on the"),
        ("<p>One day.</p><h2>Cat</h2><h3>Dog</h3>", "Cat", ":~:text=One%20day.-,Cat&text=Cat"),
        ("<h2>כותרת חתול</h2>", "חתול", ":~:text=" + quote("כותרת חתול")),
    ],
)  # fmt: skip
def test_the_url_leads_to_the_heading(page: str, word: str, fragment: str) -> None:
    [(_, url, _)] = sections_of(page, word)
    if fragment.startswith("It "):
        fragment = f":~:text=Cat,-{fragment}&text={fragment}"
        url = unquote(url)
    assert url == fragment


def test_a_long_heading_is_named_by_its_first_words() -> None:
    [(_, url, _)] = sections_of(f"<h2>Cat {'word ' * 90}</h2><p>Below.</p>", "Cat")
    assert url.startswith(":~:text=Cat%20word")
    assert url.endswith("%20word")
    assert len(url) < 200


def test_the_text_fragment_follows_the_fragment_of_a_post() -> None:
    _, [(passage, _)] = excerpts(
        {"text": marked("Cat")}, [{"line": 0, "code_line": 0, "level": 2, "id": ""}]
    )
    assert passage.url("/p#post-3") == "/p#post-3:~:text=Cat"


def test_headings_that_are_not_in_the_text_are_left_out() -> None:
    loose, sections = excerpts(
        {"text": f"A {marked('cat')}."}, [{"line": 9, "code_line": 0, "level": 2, "id": ""}]
    )
    assert (loose, sections) == ([f"A {marked('cat')}."], [])


def test_a_sentence_without_spaces_comes_whole_or_is_cut() -> None:
    filler = "ここには何も書かれていません。" * 30
    text = f"{filler}朝に{marked('猫')}が起きます。それから寝ます。{filler}"
    assert snippets(text) == [f"朝に{marked('猫')}が起きます。"]
    (long,) = snippets(f"{'長' * 900}{marked('猫')}{'文' * 900}")
    assert marked("猫") in long
    assert len(long) < 2 * FRAGMENT_SIZE
