"""What was typed, taken apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.search.words import apart, joined, understand


def tokens(q: str) -> list[str]:
    return [word.token for word in understand(q).words]


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("Date Format", ["date", "format"]),
        ("node.js", ["node-js"]),
        ("pyproject.toml?", ["pyproject-toml"]),
        ("snake_case", ["snake-case"]),
        ("createReactApp", ["createreactapp"]),
        ("macOS/Linux", ["macos", "linux"]),
        ("1,500 pages", ["1,500", "pages"]),
        ("python2.4", ["python2.4"]),
        ("Go's", ["go"]),
        ("don’t", ["don't"]),
        ("café", ["cafe"]),
        ("C++ C# .NET F#", ["c++", "c#", ".net", "f#"]),
        ("===", ["==="]),
        ("(foo)", ["foo"]),
        ("?! …", []),
        ("foo->bar", ["foo-->-bar"]),
        ("C++11", ["c++-11"]),
        ("C#/.NET", ["c#-.net"]),
        ("why??", ["why"]),
        ("a ?? b", ["a", "??", "b"]),
        ("rust🎉 rust® ©2015", ["rust", "rust", "2015"]),
        ("中文rust", ["中-文-rust"]),
        ("Łukasz Straße Søren", ["lukasz", "strasse", "soren"]),
    ],
)
def test_words(q: str, expected: list[str]) -> None:
    assert tokens(q) == expected


def test_quoted_text_and_words_to_keep_out() -> None:
    query = understand('"date format" python -java -"old news"')
    assert query.quoted == ("date format",)
    assert query.out == ("java", "old news")
    assert [word.token for word in query.words] == ["python"]


def test_curly_quotes_quote_too() -> None:
    assert understand("“date format”").quoted == ("date format",)


def test_two_hyphens_are_an_option_not_an_exclusion() -> None:
    query = understand("--no-cache")
    assert query.out == ()
    assert query.words[0].pieces == ("no", "cache")


def test_a_hyphen_inside_a_word_excludes_nothing() -> None:
    assert understand("create-react-app").out == ()


def test_an_unclosed_quote_is_a_character_like_any_other() -> None:
    assert tokens('"date format') == ["date", "format"]


@pytest.mark.parametrize("q", ["python3", "c++", "node.js", "ab", "the", "1984", "==="])
def test_what_is_never_mended(q: str) -> None:
    assert not understand(q).words[0].mendable


@pytest.mark.parametrize("q", ["pythn", "Café", "don't"])
def test_what_may_be_mended(q: str) -> None:
    assert understand(q).words[0].mendable


def test_stop_words_are_required_only_where_there_is_nothing_else() -> None:
    assert [word.token for word in understand("the who").required] == ["who"]
    assert [word.token for word in understand("it is").required] == ["it", "is"]
    assert understand('it "date format"').required == ()


def test_words_know_where_they_stood() -> None:
    q = "a (node.js) “x y” don’t!"
    for word in understand(q).words:
        assert q[word.start : word.end].replace("’", "'") == word.text


def test_pieces_and_joins_know_where_they_stood() -> None:
    q = "see node.js"
    see, glued = understand(q).words
    assert [q[piece.start : piece.end] for piece in apart(glued)] == ["node", "js"]
    both = joined(see, glued)
    assert q[both.start : both.end] == q


@given(st.text(max_size=200))
def test_anything_can_be_typed(q: str) -> None:
    query = understand(q)
    for word in query.words:
        assert word.pieces
        assert 0 <= word.start < word.end <= len(q)
    assert len({word.at for word in query.words}) == len(query.words)


def test_pieces_are_the_tokens_that_the_analysis_makes() -> None:
    assert [word.pieces for word in understand("foo->bar C++11 日本語 हिन्दी").words][:3] == [
        ("foo", "->", "bar"),
        ("c++", "11"),
        ("日", "本", "語"),
    ]
    assert [piece.text for piece in apart(understand("foo->bar").words[0])] == ["foo", "->", "bar"]


def test_a_word_ends_with_its_last_letter_and_the_marks_on_it() -> None:
    words = understand("¡rust🎉! कार्गो").words
    assert [(word.text, word.start, word.end) for word in words] == [
        ("rust", 1, 5),
        ("कार्गो", 8, 14),
    ]
