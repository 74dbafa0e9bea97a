"""What a word may have been meant to be: costs, readings, inflections."""

import pytest

from analyzers.languages import ENGLISH
from app.search import scoring
from app.search.query_parser import parse_query
from app.search.spelling import Interpretation, TermStats, edit_cost, interpret

KNOWN_WORD = TermStats(words=20, forms=20, stems=25)
RARE = TermStats(words=1, forms=1, stems=1)
NOWHERE = TermStats()


def read(
    typed: str,
    stats: TermStats,
    options: list[dict[str, object]],
    *,
    last: bool = True,
    supported: bool = False,
) -> Interpretation:
    term = parse_query(typed, ENGLISH).terms[0]
    return interpret(term, stats, options, ENGLISH, last=last, supported=supported)


def corrected(reading: Interpretation) -> bool:
    return reading.likeliest.kind == "spelling"


def option(text: str, freq: int = 10, score: float = 0.8) -> dict[str, object]:
    return {"text": text, "freq": freq, "score": score}


def texts(reading: Interpretation) -> list[str]:
    return [variant.text for variant in reading.variants if variant.kind in ("spelling", "split")]


@pytest.mark.parametrize(
    ("typed", "meant", "expected"),
    [
        ("python", "python", 0.0),
        ("pythn", "python", scoring.COST_LEFT_OUT),
        ("pyhton", "python", scoring.COST_SWAPPED),
        ("ypthon", "python", scoring.COST_SWAPPED),
        ("pythonn", "python", scoring.COST_DOUBLED),
        ("pythoxn", "python", scoring.COST_ADDED),
        ("pythan", "python", scoring.COST_ALIKE),
        ("kython", "cython", scoring.COST_ALIKE),
        ("pythob", "python", scoring.COST_NEAR_KEY),
        ("pythoq", "python", scoring.COST_REPLACED),
        ("pthn", "python", 2 * scoring.COST_LEFT_OUT),
        ("", "abc", 3 * scoring.COST_LEFT_OUT),
    ],
)
def test_cost_of_a_typo(typed: str, meant: str, expected: float) -> None:
    assert edit_cost(typed, meant, ENGLISH) == pytest.approx(expected)


def test_swapping_equal_letters_is_nothing() -> None:
    assert edit_cost("aab", "aab", ENGLISH) == 0


def test_an_unknown_word_is_read_as_the_likeliest() -> None:
    reading = read("pythn", NOWHERE, [option("pithon", 1), option("python", 50)])
    assert corrected(reading)
    assert texts(reading) == ["python"]
    assert reading.likeliest.weight == 1


def test_the_cheaper_typo_wins_over_the_commoner_word() -> None:
    reading = read("redict", NOWHERE, [option("redirect", 17), option("predict", 1)])
    assert texts(reading) == ["predict"]


def test_a_known_word_stays_as_it_is() -> None:
    reading = read("react", KNOWN_WORD, [option("reach", 500)])
    assert reading.as_typed


def test_words_like_a_rare_one_follow_it() -> None:
    reading = read("acces", RARE, [option("access", 80), option("axis", 80)])
    assert reading.as_typed
    assert [variant.text for variant in reading.similar] == ["access"]


def test_a_rare_word_in_a_title_is_meant() -> None:
    known = TermStats(words=1, forms=1, stems=1, titles=1)
    assert texts(read("acces", known, [option("access", 80)])) == []


def test_a_rare_word_is_not_a_typo_of_its_plural() -> None:
    reading = read("shard", TermStats(words=1, forms=1, stems=9), [option("shards", 80)])
    assert (texts(reading), reading.similar) == ([], ())


def test_an_inflection_known_by_its_stem_is_not_mended() -> None:
    reading = read("formats", TermStats(stems=7), [option("format", 9), option("formats2", 1)])
    assert not corrected(reading)
    assert "format" in texts(reading)


def test_stems_alike_by_accident_do_not_hide_a_typo() -> None:
    assert ENGLISH.stem("utills") == ENGLISH.stem("utils")
    reading = read("utills", TermStats(stems=30), [option("utils", 30)])
    assert corrected(reading)
    assert texts(reading) == ["utils"]


def test_a_beginning_is_likelier_than_two_typos() -> None:
    reading = read("cornw", TermStats(prefix=6), [option("corner", 1), option("cron", 5)])
    assert reading.likeliest.kind == "prefix"


def test_the_last_word_is_more_likely_unfinished_than_mistyped() -> None:
    options = [option("put", 50), option("pat", 20)]
    assert read("pyt", TermStats(prefix=6), options).likeliest.kind == "prefix"
    assert corrected(read("pyt", TermStats(prefix=6), options, last=False))


def test_a_rare_word_that_stands_with_another_word_of_the_query_is_meant() -> None:
    assert read("honesty", RARE, [option("honestly", 40)], supported=True).as_typed


def test_two_words_written_as_one() -> None:
    reading = read("sourcecode", NOWHERE, [])
    assert "source code" in texts(reading)
    assert all(len(part) >= 2 for text in texts(reading) for part in text.split())


def test_a_space_is_left_out_as_easily_as_a_letter() -> None:
    assert "go mod" in texts(read("gomod", NOWHERE, [option("good", 90)]))
    assert texts(read("govenment", NOWHERE, [option("government", 90)])) == ["government"]


@pytest.mark.parametrize(
    ("typed", "meant", "doubtful"),
    [
        ("grey", "grep", True),
        ("utter", "user", True),
        ("feld", "field", False),
        ("rusy", "rust", False),  # the keys are neighbours
        ("pyton", "python", False),
        ("enviroment", "environment", False),
    ],
)
def test_a_short_word_with_another_letter_may_be_a_word(
    typed: str, meant: str, doubtful: bool
) -> None:
    assert read(typed, NOWHERE, [option(meant, 30)]).doubtful == doubtful


def test_nothing_is_offered_that_a_person_could_not_read() -> None:
    assert texts(read("op", NOWHERE, [option("op0061", 9)])) == []


def test_short_words_take_one_typo_only() -> None:
    assert texts(read("abc", NOWHERE, [option("xbd", 9)])) == []


def test_numbers_are_no_alternatives() -> None:
    assert texts(read("ios", NOWHERE, [option("105", 9)])) == []


@pytest.mark.parametrize(
    ("word", "other", "expected"),
    [
        ("format", "formatting", True),
        ("license", "licenses", True),
        ("studies", "study", True),
        ("database", "databases", True),
        ("utils", "utills", False),
        ("extensive", "extensiv", False),
        ("react", "reach", False),
    ],
)
def test_akin(word: str, other: str, expected: bool) -> None:
    assert ENGLISH.akin(word, other) is expected
    assert ENGLISH.akin(other, word) is expected


def test_a_stop_word_is_meant_only_at_the_cheapest_slip() -> None:
    assert texts(read("art", NOWHERE, [option("at", 80)])) == []
    assert texts(read("teh", NOWHERE, [option("the", 80)])) == ["the"]
