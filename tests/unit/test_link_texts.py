"""Which links lead to a post."""

import pytest

from indexer.write.links import MAX_LINK_TEXTS, LinkedPost, texts_by_post


def post(oid: str, *links: str, address: str = "", title: str = "A title") -> LinkedPost:
    address = address or f"blog.example.org/{oid}"
    return LinkedPost(oid, title, address.rpartition("/")[2], address, links)


def link(address: str, text: str = "building from source") -> str:
    return f"{address.rpartition('/')[2]}\n{address}\n{text}"


@pytest.mark.parametrize(
    ("address", "leads_to"),
    [
        ("blog.example.org/other", ["other"]),
        ("blog.example.org/unmistakable", ["unmistakable"]),
        ("old.example.org/2020/unmistakable", ["unmistakable"]),
        ("old.example.org/other", []),  # nine letters are unmistakable
        ("old.example.org/two-have-it", []),
        ("blog.example.org/2/two-have-it", ["second"]),
        ("blog.example.org/source", []),  # its own address
    ],
)
def test_a_link_leads_to_its_address_or_to_an_unmistakable_slug(
    address: str, leads_to: list[str]
) -> None:
    posts = [
        post("source", link(address)),
        post("other"),
        post("unmistakable"),
        post("first", address="blog.example.org/1/two-have-it"),
        post("second", address="blog.example.org/2/two-have-it"),
    ]
    assert list(texts_by_post(posts)) == leads_to


def test_each_text_counts_once_and_those_with_words_of_the_title_only_not_at_all() -> None:
    target = post("target", title="Build Instructions")
    address = target.address
    first = post("a", link(address), link(address, "instructions"), link(address, "Build it"))
    second = post("b", link(address), link(address, "Build Instructions"))
    assert texts_by_post([target, first, second]) == {
        "target": ["Build it", "building from source"]
    }


def test_the_number_of_texts_is_bounded() -> None:
    links = [link("blog.example.org/target", f"text {n}") for n in range(2 * MAX_LINK_TEXTS)]
    texts = texts_by_post([post("target"), post("a", *links)])
    assert len(texts["target"]) == MAX_LINK_TEXTS
