"""Snippets cut out of marked texts."""

from app.search.scoring import FRAGMENT_SIZE, LONGEST_SNIPPET
from app.search.snippets import MARK, UNMARK
from app.search.snippets import snippets as snippets_of


def marked(word: str) -> str:
    return f"{MARK}{word}{UNMARK}"


def snippets(text: str) -> list[str]:
    return snippets_of([text])


FILLER = "Nothing of interest is said here. " * 40


def test_the_sentence_of_a_mark_comes_whole() -> None:
    text = f"{FILLER}The {marked('cat')} sat down. Then it slept.\nAnother block."
    assert snippets(text) == [f"The {marked('cat')} sat down."]


def test_a_block_ends_a_sentence() -> None:
    assert snippets(f"A heading\nThe {marked('cat')}\nmore") == [f"The {marked('cat')}"]


def test_the_sentence_with_more_different_words_is_first() -> None:
    one = f"An {marked('index')} for {marked('indexing')}."
    both = f"An {marked('index')} for a {marked('dog')}."
    assert snippets(f"{one} {FILLER}{both}") == [both, one]


def test_of_sentences_as_good_the_first_ones() -> None:
    sentences = [f"Number {number} has a {marked('cat')}." for number in range(9)]
    assert snippets(f" {FILLER}".join(sentences)) == sentences[:2]


def test_a_long_sentence_is_cut_between_words_around_its_mark() -> None:
    words = "word " * 200
    (found,) = snippets(f"{words}{marked('cat')} {words}")
    assert marked("cat") in found
    assert FRAGMENT_SIZE / 2 < len(found) < 2 * FRAGMENT_SIZE
    assert found.split()[:2] == ["…", "word"]
    assert found.split()[-2:] == ["word", "…"]


def test_a_word_without_an_end_is_cut() -> None:
    (found,) = snippets(f"{'x' * 9_000}{marked('cat')}{'y' * 9_000}")
    assert found.startswith(f"… {marked('cat')}")
    assert len(found) <= LONGEST_SNIPPET + len("… " + " …")


def test_a_long_marked_phrase_stays_marked() -> None:
    phrase = marked("to be or not to be " * 20)
    (found,) = snippets(f"{FILLER}{phrase} {FILLER}")
    assert phrase in found


def test_without_a_mark_the_text_begins() -> None:
    found = snippets(FILLER)
    assert len(found) == 1
    assert FILLER.startswith(found[0].removesuffix(" …"))
    assert FRAGMENT_SIZE <= len(found[0]) < 2 * FRAGMENT_SIZE


def test_every_word_is_shown_however_far_apart() -> None:
    words = ["cat", "dog", "fox", "owl"]
    text = FILLER.join(f"Here is a {marked(word)} alone." for word in words)
    assert all(marked(word) in " ".join(snippets(text)) for word in words)
    late = f"The {marked('cat')} sat. {FILLER}" * 30 + f"A {marked('dog')} came."
    assert f"A {marked('dog')} came." in snippets(late)


def test_words_that_the_title_shows_count_less() -> None:
    cats = f"The {marked('cat')} and the {marked('hen')}."
    texts = [f"{cats} {FILLER}A {marked('dog')} came. {FILLER}A {marked('fox')} too."]
    in_title = f"{marked('cat')} {marked('hen')}"
    assert snippets_of(texts, in_title)[:2] == [
        f"A {marked('dog')} came.",
        f"A {marked('fox')} too.",
    ]


def test_a_word_that_only_code_has_is_shown_too() -> None:
    shown = snippets_of([f"A {marked('cat')}.", f"x = 1\n{marked('dog')}()\ny = 2"])
    assert shown == [f"A {marked('cat')}.", f"{marked('dog')}()"]
