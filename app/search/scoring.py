"""Every number that decides ranking, named, with the measurement that chose it.

The weight of a word comes from Elasticsearch's own term statistics (BM25); the numbers here only
balance fields against each other and say what counts beside single words.
"""

import math

# -- fields ----------------------------------------------------------------------------------------
STEMMED_FIELDS = ("title^8", "text^2", "comments")
UNSTEMMED_FIELDS = ("title.forms^8", "text.forms^2", "code.forms", "comments.forms")
"""The two groups of fields that `combined_fields` searches as one: their analyzers differ, so each
is a query of its own. Code and comments count half of the text; less than 1 cannot be said."""
TITLE_BOOST = 0.5
LIGHT_BOOST = 0.5
NEIGHBOURS_BOOST, NEIGHBOURS_SLOP = 1.5, 8
PHRASE_BOOST = 3.0
QUOTED_BOOST = 2.0
QUOTED_FIELDS = ("title.words^3", "text.words", "code.forms", "comments.words")
ALL_WORDS = {
    "title.lookup": (5.0, "all words in the title"),
    "all.forms": (1.0, "all words"),
    "all.words": (0.6, "all words as typed"),
}
RECENCY_BOOST, RECENCY_PIVOT = 0.1, "730d"
PHRASE_FIELDS = ("title.words", "text.words", "code.forms", "comments.words")

# -- limits ----------------------------------------------------------------------------------------
NEIGHBOUR_PAIRS = 40

# -- the suggester ---------------------------------------------------------------------------------
SUGGEST_SIZE = 10
SUGGEST_INSPECTIONS = 10

# -- spelling --------------------------------------------------------------------------------------
COST_REPLACED = 1.0
COST_ADDED = 1.0
COST_LEFT_OUT = 0.7
COST_SWAPPED = 0.7
COST_DOUBLED = 0.7
COST_ALIKE = 0.8
COST_NEAR_KEY = 0.9
COST_RATE = 8.0
FREQ_POWER = 0.2
MAX_ALTERNATIVES = 5
MIN_WEIGHT = 0.1
MIN_UNLIKELY, ENOUGH = 0.005, 10
MOST_UNLIKELY = 30
KIN = 0.15
UNKNOWN_TYPED = 0.5
INFLECTED = 0.9
UNLIKE_STEM, MAX_COST_KNOWN_BY_STEM = 0.5, 1.0
SPLIT, SPLIT_MIN_PART, SPLIT_MAX_LENGTH = 0.5, 3, 24
RARE_MIN_LENGTH = 5
RARE_TYPED = 0.3
RARE_COST, RARE_POSTS, RARE_RATIO = 0.7, 3, 5
MAYBE, MAYBE_MIN_LENGTH = 0.2, 4
MAYBE_COST, MAYBE_POSTS, MAYBE_RATIO = 1.7, 1, 2
STOP_COST = 0.7
PREFIX_MIN = 3
COST_UNFINISHED = 1.2
COST_UNFINISHED_LAST = 0.6


def surely_meant(posts: int, others: int, cost: float) -> bool:
    return cost <= RARE_COST and posts <= RARE_POSTS and others >= posts * RARE_RATIO


def maybe_meant(posts: int, others: int, cost: float) -> bool:
    return cost <= MAYBE_COST and posts <= MAYBE_POSTS and others >= posts * MAYBE_RATIO


def max_cost(length: int) -> float:
    if length < 5:
        return 1.0 if length < 4 else 1.7
    return 1.7 if length < 8 else 2.0


def idf(posts: int, total: int) -> float:
    """BM25's inverse document frequency of a word that `posts` of `total` posts have."""
    posts = min(posts, total)
    return math.log(1 + (total - posts + 0.5) / (posts + 0.5))


# -- the fallback strategy: the numbers of 2017, as they were published ----------------------------
FALLBACK_MIN_SCORE = 0.6
"""A suggester's option below this similarity is not searched for."""
FALLBACK_TYPED_SCORE = 1.1
"""The score of the text as typed: above every option, whose best is 1."""
FALLBACK_TERMS = 5
"""How many texts are searched for at once."""
FALLBACK_TITLE_FACTOR = 2.0
FALLBACK_COMMENT_FACTOR = 0.5
"""Comments below title and text; 2017 kept them in an index of their own."""

# -- snippets --------------------------------------------------------------------------------------
FRAGMENT_SIZE = 160
"""Characters of a snippet: about two lines on a phone."""
LONGEST_SNIPPET = 4 * FRAGMENT_SIZE
"""A snippet ends with a word; one of 50,000 letters came whole."""
FRAGMENTS = 2
COMMENTS = 2
"""How many of a post's comments are shown with it."""
MAX_ANALYZED_OFFSET = 999_999
"""Characters of one text that are looked at for marks; one below Elasticsearch's own limit, over
which a search would fail."""
