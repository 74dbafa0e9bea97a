"""What a word may have been meant to be: costs, readings, inflections."""

import pytest

from app.search import relevance
from app.search.inflection import akin, stem
from app.search.slips import cost
from app.search.spelling import Known, Reading, read

KNOWN_WORD = Known(words=20, forms=20, stems=25)


def option(text: str, freq: int = 10, score: float = 0.8) -> dict[str, object]:
    return {"text": text, "freq": freq, "score": score}


def texts(reading: Reading) -> list[str]:
    return [other.text for other in reading.alternatives]


@pytest.mark.parametrize(
    ("typed", "meant", "expected"),
    [
        ("python", "python", 0.0),
        ("pythn", "python", relevance.COST_LEFT_OUT),
        ("pyhton", "python", relevance.COST_SWAPPED),
        ("ypthon", "python", relevance.COST_SWAPPED),
        ("pythonn", "python", relevance.COST_DOUBLED),
        ("pythoxn", "python", relevance.COST_ADDED),
        ("pythan", "python", relevance.COST_ALIKE),
        ("kython", "cython", relevance.COST_ALIKE),
        ("pythob", "python", relevance.COST_NEAR_KEY),
        ("pythoq", "python", relevance.COST_REPLACED),
        ("pthn", "python", 2 * relevance.COST_LEFT_OUT),
        ("", "abc", 3 * relevance.COST_LEFT_OUT),
    ],
)
def test_cost_of_a_typo(typed: str, meant: str, expected: float) -> None:
    assert cost(typed, meant) == pytest.approx(expected)


def test_swapping_equal_letters_is_nothing() -> None:
    assert cost("aab", "aab") == 0


def test_an_unknown_word_is_read_as_the_likeliest() -> None:
    reading = read("pythn", Known(), [option("pytho", 1), option("python", 50)])
    assert reading.mended
    assert texts(reading) == ["python"]
    assert reading.alternatives[0].weight == 1


def test_the_cheaper_typo_wins_over_the_commoner_word() -> None:
    reading = read("redict", Known(), [option("redirect", 17), option("predict", 1)])
    assert texts(reading) == ["predict", "redirect"]
    assert reading.alternatives[1].weight < 0.05


def test_an_unlikely_word_is_left_out_where_the_likely_one_fills_the_page() -> None:
    found = [option("redirect", 17), option("predict", relevance.ENOUGH)]
    assert texts(read("redict", Known(), found)) == ["predict"]


def test_an_unlikely_word_is_left_out_where_it_would_be_most_of_the_count() -> None:
    found = [option("redirect", relevance.MOST_UNLIKELY), option("predict", 2)]
    assert texts(read("redict", Known(), found)) == ["predict"]


def test_what_a_rare_word_may_be_a_typo_of_is_kept_however_frequent() -> None:
    # Both weigh little beside the typed word, but hardly less than one another.
    found = [option("from", 2), option("iron", relevance.MOST_UNLIKELY + 10)]
    reading = read("fron", Known(words=1, forms=1, stems=1), found)
    assert set(texts(reading)) == {"from", "iron"}
    assert reading.alternatives[1].weight < relevance.MIN_WEIGHT


def test_a_known_word_stays_as_it_is() -> None:
    reading = read("react", KNOWN_WORD, [option("reach", 500)])
    assert reading == Reading(1.0, (), "known")


def test_a_rare_word_close_to_a_common_one_is_a_typo() -> None:
    reading = read("acces", Known(words=1, forms=1, stems=1), [option("access", 80)])
    assert reading.mended
    assert texts(reading) == ["access"]
    assert 0 < reading.typed_weight < 1


def test_a_rare_word_in_a_title_is_meant() -> None:
    known = Known(words=1, forms=1, stems=1, titles=1)
    assert texts(read("acces", known, [option("access", 80)])) == []


def test_a_rare_word_is_not_spoiled_by_one_less_like_it() -> None:
    reading = read("clock", Known(words=1, forms=1, stems=1), [option("click", 66)])
    assert not reading.mended
    assert reading.alternatives[0].weight < reading.typed_weight


def test_a_rare_word_is_not_a_typo_of_its_plural() -> None:
    reading = read("shard", Known(words=1, forms=1, stems=9), [option("shards", 80)])
    assert texts(reading) == []


def test_an_inflection_known_by_its_stem_is_not_mended() -> None:
    reading = read("formats", Known(stems=7), [option("format", 9), option("formats2", 1)])
    assert not reading.mended
    assert "format" in texts(reading)


def test_stems_alike_by_accident_do_not_hide_a_typo() -> None:
    assert stem("utills") == stem("utils")
    reading = read("utills", Known(stems=30), [option("utils", 30)])
    assert reading.mended
    assert texts(reading) == ["utils"]


def test_a_beginning_is_likelier_than_two_typos() -> None:
    reading = read("cornw", Known(begins=6), [option("corner", 1), option("cron", 5)])
    assert not reading.mended
    one_typo = read("corn", Known(begins=6), [option("cron", 5)])
    assert one_typo.mended


def test_two_words_written_as_one() -> None:
    reading = read("sourcecode", Known(), [])
    assert "source code" in texts(reading)
    assert all(len(part) >= 3 for text in texts(reading) for part in text.split())


def test_nothing_is_offered_that_a_person_could_not_read() -> None:
    assert texts(read("op", Known(), [option("op0061", 9)])) == []


def test_short_words_take_one_typo_only() -> None:
    assert texts(read("abc", Known(), [option("xbd", 9)])) == []


def test_numbers_are_no_alternatives() -> None:
    assert texts(read("ios", Known(), [option("105", 9)])) == []


@pytest.mark.parametrize(
    ("one", "other", "expected"),
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
def test_akin(one: str, other: str, expected: bool) -> None:
    assert akin(one, other) is expected
    assert akin(other, one) is expected


def test_a_stop_word_is_meant_only_at_the_cheapest_slip() -> None:
    assert texts(read("art", Known(), [option("at", 80)])) == []
    assert texts(read("teh", Known(), [option("the", 80)])) == ["the"]
