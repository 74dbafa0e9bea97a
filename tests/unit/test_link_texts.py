"""Which links lead to a post."""

import pytest

from indexer.write.links import MAX_LINK_TEXTS, LinkedPost, texts_by_post


def post(address: str, title: str = "A title") -> LinkedPost:
    return LinkedPost(address, title, address.rpartition("/")[2], address)


def links(address: str, *texts: str) -> set[str]:
    return {f"{address.rpartition('/')[2]}\n{address}\n{text}" for text in texts}


@pytest.mark.parametrize(
    ("addresses", "target", "leads_to"),
    [
        (["a.org/other"], "a.org/other", "a.org/other"),
        (["a.org/unmistakable"], "a.org/unmistakable", "a.org/unmistakable"),
        (["a.org/ninechars"], "old.org/2020/ninechars", "a.org/ninechars"),
        (["a.org/eightcha"], "old.org/eightcha", None),
        (["a.org/1/two-have-it", "a.org/2/two-have-it"], "old.org/two-have-it", None),
        (
            ["a.org/1/two-have-it", "a.org/2/two-have-it"],
            "a.org/2/two-have-it",
            "a.org/2/two-have-it",
        ),
    ],
)
def test_a_link_leads_to_its_address_or_to_an_unmistakable_slug(
    addresses: list[str], target: str, leads_to: str | None
) -> None:
    texts = texts_by_post([post(address) for address in addresses], links(target, "a text"))
    assert {oid for oid, of_post in texts.items() if of_post} == ({leads_to} - {None})


def test_texts_with_words_of_the_title_only_do_not_count() -> None:
    target = post("a.org/target", title="Build Instructions")
    given = links(target.address, "building from source", "instructions", "Build it")
    assert texts_by_post([target], given) == {target.oid: ["Build it", "building from source"]}


def test_the_number_of_texts_is_bounded() -> None:
    target = post("a.org/target")
    given = links(target.address, *(f"text {n}" for n in range(2 * MAX_LINK_TEXTS)))
    assert len(texts_by_post([target], given)[target.oid]) == MAX_LINK_TEXTS
