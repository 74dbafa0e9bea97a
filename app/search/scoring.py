"""Every number that decides ranking, named, with the measurement that chose it.

The weight of a word comes from Elasticsearch's own term statistics (BM25 with its default k1
and b: others were worse); the numbers here only balance the fields and say what counts beside
single words.

A figure is what docs/relevance.md measures with the number changed to that: the mean
reciprocal rank of known items and link texts, nDCG@10 of questions and judged queries. Chosen
with one half of the queries and confirmed with the other.
"""

import math

# -- fields ----------------------------------------------------------------------------------------
STEMMED_FIELDS = ("title^2", "text^2", "comment_texts")
UNSTEMMED_FIELDS = ("title.forms^2", "text.forms^2", "code.forms", "comment_texts.forms")
"""Two groups, because `combined_fields` takes fields of one analyzer. Code and comments count
half a text, which is why that has 2: less than 1 is not allowed. Without the stemmed group
inflections are not found; the unstemmed one puts a word above its inflections. Titles at three
times a text: CISI .331 instead of .338, known items `words` .753 instead of .759."""
CONTRACTED_FIELDS = ("title.words^2", "text.words^2", "comment_texts.words")
"""For words that a synonym rule contracts to one (`fast api`, FastAPI), as they were typed: a post
may have them apart, or as two words."""
TITLE_BOOST = 0.57
"""The title once more, on its own, in any inflection. Link texts / known items `words`: .55 .573 /
.779, .6 .574 / .774."""
MOST_WORDS, MOST_IN_TITLE_BOOST, MOST_IN_LINKS_BOOST = "60%", 0.5, 1.7
"""A title with so many of the significant words of a query of two or more, rounded down, scores
once more: the title's words count in full in a short query, and less in a long one unless the title
has most of them. With 75 % and `TITLE_BOOST` .8, known items `words` have .768 instead of .779,
`mixed` .828 instead of .808. So does the text of a link to the post: link texts .531 without it,
.563 with 1, .579 with 1.5 and .586 with 2 and those numbers of titles; .570 with 1.5 and .574 with
1.7 and `TITLE_BOOST` .6."""
LIGHT_BOOST = 0.5
"""Question words, pronouns and auxiliary verbs weigh half, so that they never outrank a word that
matters. Known items `words`: 0 .751, half .759, in full .750."""
WORDS_BESIDE_LIGHT = 8
"""Beside more significant words those score nothing, which most posts have. Questions: CACM .476
with them, .480 without, CRAN .395 and .397, CISI .358, MED .686 and .684."""
FEW_WORDS = 5
"""What counts the form as typed and neighbours is divided by the number of significant words
over this: of a long question a post has some words and some neighbours by chance. Questions
(mean of four collections) .457 without, .470 with it. Quotation marks in a query of more words
are those of a sentence: CACM .417 as a phrase that posts must have, .457 without."""

LARGE_PAGE = 120
"""Words of a query, with those inside of compound terms, times hits of a page: twelve words, or six
for twenty hits. A larger page costs as much as two usual searches, so it is asked for in the second
request only, even if no word is misspelled."""

RESCORED = 200
"""Posts of a shard, the best by their words, of which is asked what only orders them: all that
follows. The figures are those of asking every post."""

WHOLE_TITLE = 4096.0
"""A title that is the query, case, accents and punctuation aside: above any other score, and below
a pinned post."""

# -- several words ---------------------------------------------------------------------------------
ADJACENT_BOOST, NEIGHBOURS_SLOP = 1.5, 16
"""Two neighbouring words of the query within so many positions of each other in the text; and the
whole query side by side in title or text, as it is or in any inflection. Link texts / known items
`words`: 1.2 .536 / .743, 1.5 .540 / .759, 2 .531 / .755. A slop of 12, 16 and 24, `TITLE_BOOST` .6:
.570 / .772, .570 / .774, .569 / .775. In headings 8 and 16 find the same."""
NEIGHBOUR_PAIRS = 16
"""Bounds the request of a very long query. Questions: 40 of them are within .002 of 12."""
PHRASE_FIELDS = ("title.words", "text.words", "code.forms", "comment_texts.words")
COMPOUND_FIELDS = (*PHRASE_FIELDS, "all.forms")
"""Where a term of several tokens must stand side by side. The last has no positions: it only finds
a term that a synonym rule contracts to one token (e-mail, email)."""
QUOTED_FIELDS, QUOTED_BOOST = (
    ("title.words^3", "text.words", "code.forms", "comment_texts.words"),
    2.0,
)
"""Quoted text: as written, a title before a text."""
ALL_IN_TITLE_BOOST = 8.0
"""Of the titles among these: BM25 of one word stays below twice the inverse document frequency, so
that a single word in a title is above any text. 3 to 10 rank alike, 0 is .011 worse on the judged
queries, 20 is .003 worse."""
HEADING_BOOST = 2.0
"""Two words of the query or more in one heading, within `NEIGHBOURS_SLOP`. Of 160 headings
of four documentation sites the page comes first 137 times without it, 150 with a boost of 1, 153
with 2 and 154 with 4; link texts .403 without it, .413 with it, .405 without other words between;
known items are as without it. For a single word too: judged queries of blogs .973 instead of .991.
"""
# -- meaning, with BLOGSEARCH_SEMANTIC -------------------------------------------------------------
MEANING_BOOST = 12.0
"""Of each significant word, times the similarity of the nearest passage. Questions of four
collections (mean nDCG@10): .478 without, .523 with 6, .530 with 12, .531 with 18 and 24; on one
half of them 12 and 18 are best, on the other 24."""
MEANING_WORDS, MEANING_WORDS_OF_QUESTION = 6, 4
"""From how many significant words on it counts: a few words stand for themselves. Measured with
static word vectors: for questions of 3 words known items `mixed` lose .007, and with 4 for all
queries known items of five words lose .03."""

# -- pinned results --------------------------------------------------------------------------------
PINNED_SCORE = 8192.0
"""Between one pinned post and the next: far above any other score. A power of two, so that a score
of 32 bits keeps two decimal places beside ten of them."""

# -- date ------------------------------------------------------------------------------------------
RECENCY_BOOST, RECENCY_PIVOT = 0.1, "730d"
"""Orders posts that are equal otherwise; no figure changes without it."""

# -- spelling --------------------------------------------------------------------------------------
SUGGEST_SIZE = 10
"""Options of each word, and how many candidates (times size) the suggester looks at for them. Size
5, 10, 20 and 40 find the same."""
LONG_IDENTIFIER, LONGEST_CORRECTED = 24, 64
"""Letters. Of longer words one of a query is corrected, by one edit: the work of the suggester
grows faster than the length of a word."""
COST_REPLACED = COST_ADDED = 1.0
"""The unit of the edit costs below. Every edit at 1: judged `typo1` on til .908 instead of .984."""
COST_LEFT_OUT = COST_SWAPPED = COST_DOUBLED = 0.7
"""People leave letters out, swap neighbours and double letters more often than they add others:
the largest single gain in spelling, offline .958 → .978. A stop word is meant only if it takes no
more than this (`teh`): `art` is not `at`, which every post has."""
COST_ALIKE = 0.8
"""One vowel for another, c for k, s for z …: .978 → .979 offline."""
COST_NEAR_KEY = 0.9
"""The key beside the right one: .979 → .982 offline. A wrong first letter costs no more."""
COST_UNFINISHED, COST_UNFINISHED_LAST = 1.2, 0.6
"""A word that is not typed to its end. Less than any edit for the last word, so that `pyt` is the
beginning of Python while it is typed, and not `put`."""
COST_RATE = 8.0
"""How fast likelihood falls with cost: exp(-8 · cost). 6 to 14 rank alike."""
MAX_VARIANTS = 5
"""Of one word. A single one: .9805/.9696 instead of .9855/.9717 (til/blogs)."""
ALL_VARIANTS = 12
"""Of all words of a query together, if more than one has variants: bounds the cost of twelve
misspelled ones. 10 and 16 find the same."""
MIN_WEIGHT = 0.02
"""Less likely variants are left out. .05: .9810 instead of .9822 on til."""
SPLIT, SPLIT_MIN_PART, SPLIT_MAX_LENGTH = 4.0, 2, 24
"""Two words written as one, for unknown words that no other spelling is as near to as a letter left
out. Only a pair that stands side by side in a post matches, which says more than a similar word:
600 pairs of short words (`gomod`) on four corpora, MRR .670 without, .868 with it; no judged query
changes. A part of one letter matches by chance."""
SIMILAR = 0.1
"""Words that resemble a rare one which posts have: so little that the word in a text is above them
in a title, as they are the more frequent ones."""
RARE_POSTS, RARE_RATIO, RARE_COST, RARE_MIN_LENGTH = 3, 2, 0.9, 4
"""A word of so many posts, none of them in its title, may be an error for one that is so much more
frequent: those posts follow behind it."""
PREFIX_MIN = 3
LONG_WORD = 8
"""Letters of a word. A long word that no post has, one error away from
another, is that word misspelled (`kuberntes`); a shorter one may be a word of its own (`native`,
`naive`). Not measured: in no judged query is it kept or left out by this."""


FAR = 0.25
"""Cost for each letter, from which on a spelling is not called the correction of a word, unless a
post has it with another word of the query. Of 600 real misspellings 16 are so far from what was
meant (`parshaly`), of 1,400 mistyped ones none; .2: 43."""

DOUBTED_WORDS = 8
"""Significant words of a query up to which it is searched for without doubtful corrections, too, if
its page is not large: of many words the others find the posts."""


def surely_misspelled(word: str, cost: float) -> bool:
    """Whether a word that no post has is a spelling error for one at this cost."""
    return len(word) >= LONG_WORD and cost <= COST_REPLACED


def is_far(word: str, cost: float) -> bool:
    """Whether a word at this cost is too far from another to be called its misspelling."""
    return cost >= FAR * len(word)


def maybe_meant(posts: int, meant: int, cost: float) -> bool:
    """Whether a word that `posts` have may be an error for one that `meant` have."""
    return cost <= RARE_COST and posts <= RARE_POSTS and meant >= posts * RARE_RATIO


def max_cost(length: int) -> float:
    """What an error may cost in a word of so many letters: two in three letters make any word."""
    if length < 4:
        return 1.0
    return 1.7 if length < 8 else 2.0


def idf(posts: int, total: int) -> float:
    """BM25's inverse document frequency of a word that `posts` of `total` posts have."""
    posts = min(posts, total)
    return math.log(1 + (total - posts + 0.5) / (posts + 0.5))


# -- typing ----------------------------------------------------------------------------------------
BEGUN_IN_TITLE, BEGUN = 12.0, 2.0
"""A word that is being typed: one in the title begins like it, one in the post does, if that is
more than it scores as a whole word. The first counts again for a title that has every word so far,
and for one that has them side by side; the second stands for the rarity, which nobody knows yet.
First hits of finished queries that stay without `typing=on` / MRR inside the second word: 8 .964 /
.952, 12 .952 / .953, 16 .908 / .958."""
BEGUN_EXPANSIONS = 500
"""So many words of titles are compared that begin like the last one."""

# -- snippets --------------------------------------------------------------------------------------
FRAGMENT_SIZE = 160
"""Characters of a snippet: about two lines on a phone."""
LONGEST_SNIPPET = 4 * FRAGMENT_SIZE
"""Upper limit: a snippet ends with a word, and without a limit a word of 50,000 letters was
returned whole."""
SECTIONS = 3
"""How many parts of a post are shown."""
COMMENTS = 2
"""How many of a post's comments are shown with it."""
MAX_ANALYZED_OFFSET = 999_999
"""Characters of one text that are looked at for marks; one below Elasticsearch's own limit, over
which a search would fail."""
