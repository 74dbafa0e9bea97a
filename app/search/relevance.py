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

# -- what is asked of the suggester ----------------------------------------------------------------
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
KIN = 0.15
MIN_UNLIKELY = 0.005
ENOUGH = 10
UNKNOWN_TYPED = 0.5
INFLECTED = 0.9
UNLIKE_STEM = 0.5
MAX_COST_KNOWN_BY_STEM = 1.0

SPELLINGS = 24
"""Alternatives in one query, shared by its words: 22 unknown words with five each were too many
for Elasticsearch to expand, and nobody means all of them."""
SPLIT = 0.5
SPLIT_MIN_PART = 3
SPLIT_MAX_LENGTH = 24

RARE_MIN_LENGTH = 5
RARE_TYPED = 0.3
RARE_COST, RARE_POSTS, RARE_RATIO = 0.7, 3, 5
MAYBE = 0.2
MAYBE_COST, MAYBE_POSTS, MAYBE_RATIO = 1.0, 1, 3


def surely_meant(posts: int, others: int, cost: float) -> bool:
    """Whether a word that `posts` have is a typo of one that `others` have."""
    return cost <= RARE_COST and posts <= RARE_POSTS and others >= posts * RARE_RATIO


def maybe_meant(posts: int, others: int, cost: float) -> bool:
    """Whether it may be one, so that those posts follow behind."""
    return cost <= MAYBE_COST and posts <= MAYBE_POSTS and others >= posts * MAYBE_RATIO


def max_cost(length: int) -> float:
    """What a typo may cost in a word of so many letters."""
    if length < 5:
        return 1.0 if length < 4 else 1.7
    return 1.7 if length < 8 else 2.0


# -- what a match of one word is worth -------------------------------------------------------------
GAINS: dict[tuple[str, ...], float] = {
    ("title.forms", "title.words"): 3.0,
    ("text.forms", "text.words"): 1.0,
    ("code.forms",): 0.9,
    ("keywords.text",): 0.4,
    ("title",): 0.3,
    ("text",): 0.15,
    ("code",): 0.1,
    ("title.words",): 0.1,
    ("text.words",): 0.05,
}
COMMENT_GAINS: dict[tuple[str, ...], float] = {
    ("comment.forms", "comment.words"): 0.3,
    ("comment",): 0.1,
}
QUOTED_GAINS = {
    "title.words": 3.0,
    "text.words": 1.0,
    "code.forms": 0.9,
    "comment.words": 0.3,
}
PREFIX_GAINS = {"title.words": 0.12, "text.words": 0.05, "code.forms": 0.03}
UNKNOWN_PREFIX = 12.0
BEGINNING_COST = 1.2
BM25 = {"title.forms": 0.01, "text": 0.01}
BM25_MIN_WEIGHT = 0.3
PREFIX_MIN = 3
PREFIX_MIN_WEIGHT = 0.3

# -- several words ---------------------------------------------------------------------------------
PHRASE_GAINS = {"title.words": 106.0, "title": 105.0, "text.words": 102.0}
PHRASE_LIFTS = {"text": 1.5, "code.forms": 1.0}
PHRASE_READINGS = 64
"""In how many ways a phrase may be read; Elasticsearch refuses to expand a thousand."""
PHRASE_WORDS = 12
"""A phrase of more words is not looked for: none of the judged ones had more than three."""
TIERS_BELOW = 3
TIER = 1000.0
"""What each word that matched is worth, so that posts with more of the words stand above all posts
with fewer: more than everything else together can bring."""

# -- age -------------------------------------------------------------------------------------------
RECENCY = 0.05
RECENCY_SCALE = "730d"

# -- snippets --------------------------------------------------------------------------------------
FRAGMENT_SIZE = 160
"""Characters of a snippet: about two lines on a phone."""
FRAGMENTS = 2
COMMENTS = 2
"""How many of a post's comments are shown with it."""
MAX_ANALYZED_OFFSET = 999_999
"""Characters of one text that are looked at for marks; one below Elasticsearch's own limit, over
which a search would fail."""
