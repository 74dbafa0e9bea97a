"""Every number that decides ranking, with the measurement that chose it."""

# -- the fallback strategy: the numbers of 2017, kept as they were published -----------------------
FALLBACK_MIN_SCORE = 0.6
"""A suggester's option below this similarity is not searched for."""
FALLBACK_TYPED_SCORE = 1.1
"""The score of the text as typed: above every option, whose best is 1."""
FALLBACK_TERMS = 5
"""How many texts are searched for at once."""
FALLBACK_TITLE_FACTOR = 2.0
FALLBACK_COMMENT_FACTOR = 0.5
"""Comments below title and text; 2017 kept them in an index of their own."""

# -- snippets -------------------------------------------------------------------------------------
FRAGMENT_SIZE = 160
"""Characters of a snippet: about two lines on a phone."""
FRAGMENTS = 2
MAX_ANALYZED_OFFSET = 999_999
"""Characters of one text that are looked at for marks; one below Elasticsearch's own limit, over
which a search would fail."""
