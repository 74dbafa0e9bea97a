"""The analysis chains: the order of their steps, and names for symbols."""

from analyzers.chains import CODE, FORMS, STOP_WORDS, TEXT, WORDS, analysis, readable
from analyzers.rules import NO_RULES
from indexer.schema import index_body


def test_the_order_of_the_text_chain() -> None:
    text = analysis(NO_RULES)["analyzer"][TEXT]
    assert text["char_filter"][0] == "html_strip"
    assert text["tokenizer"] == "standard"
    order = ["lowercase", "blog_synonyms", "blog_stop", "blog_snowball"]
    assert [step for step in text["filter"] if step in order] == order


def test_the_twins_leave_out_what_they_must() -> None:
    analyzers = analysis(NO_RULES)["analyzer"]
    for name in (WORDS, FORMS, CODE):
        assert not {"blog_stop", "blog_snowball"} & set(analyzers[name]["filter"])
    assert "blog_synonyms" not in analyzers[WORDS]["filter"] + analyzers[CODE]["filter"]
    assert "blog_synonyms" in analyzers[FORMS]["filter"]


def test_every_step_that_is_named_is_there() -> None:
    body = analysis(NO_RULES)
    own = {"html_strip", "lowercase", "asciifolding"}
    for analyzer in body["analyzer"].values():
        assert set(analyzer["filter"]) <= own | set(body["filter"])
        assert set(analyzer["char_filter"]) <= own | set(body["char_filter"])


def test_the_rules_are_in_the_body() -> None:
    body = index_body(NO_RULES, shards=2, replicas=1)
    assert body["settings"]["number_of_shards"] == 2
    assert body["settings"]["number_of_replicas"] == 1
    assert body["mappings"]["_meta"]["blogsearch"]["rules"] == NO_RULES.digest


def test_both_documents_are_in_one_mapping() -> None:
    properties = index_body(NO_RULES, shards=1, replicas=0)["mappings"]["properties"]
    assert properties["kind"]["relations"] == {"post": "comment"}
    assert {"title", "text", "code", "comment", "post_oid"} <= set(properties)
    assert properties["title"]["fields"]["words"]["analyzer"] == WORDS


def test_symbols_are_readable_again() -> None:
    assert readable("cplusplus") == "c++"
    assert readable("dotnet") == ".net"
    assert readable("op0061061061") is None
    assert readable("python") == "python"


def test_the_stop_words_are_lucenes() -> None:
    assert len(STOP_WORDS) == 33
    assert {"the", "not", "with"} <= STOP_WORDS
    assert "who" not in STOP_WORDS
