"""Every number that decides ranking, named, with the measurement that chose it.

The weight of a word is BM25 with its default k1 and b; the numbers here balance the fields and say
what counts beside single words. A figure is what docs/relevance.md measures with the number changed
to that: the mean reciprocal rank of known items and link texts, nDCG@10 of questions and judged
queries.
"""

# -- fields ----------------------------------------------------------------------------------------
STEMMED_FIELDS = ("title^2", "text^2", "comment_texts")
UNSTEMMED_FIELDS = ("title.forms^2", "text.forms^2", "code.forms", "comment_texts.forms")
"""Two groups, because `combined_fields` takes fields of one analyzer; the second puts a word above
its inflections. Code and comments count half a text, which is why that has 2: less than 1 is not
allowed. Titles at three times a text: CISI .331 instead of .338, known items `words` .753, .759."""
IN_ANY_FORM = ("text", "stems")
"""Which posts have a word in any inflection: `stems` has what is not in the text."""
TITLE_BOOST = 0.57
"""The title once more, in any inflection. Link texts / known: .55 .573 / .779, .6 .574 / .774."""
MOST_WORDS, MOST_IN_TITLE_BOOST, MOST_IN_LINKS_BOOST = "60%", 0.5, 1.7
"""A title, or the text of a link to the post, with so many of the significant words of a query of
two or more. Link texts .531 without links, .563 with 1, .579 with 1.5, .586 with 2."""
LIGHT_BOOST = 0.5
"""Of question words, pronouns and auxiliary verbs. Known items: 0 .751, .5 .759, 1 .750."""
WORDS_BESIDE_LIGHT = 8
"""Beside more significant words they score nothing. CACM .476 with them, .480 without."""
FEW_WORDS = 5
"""The weight of the form as typed and of neighbours is divided by the number of significant words
over this: a long question has some by chance. Questions .457 without it, .470 with it. Quotation
marks beside more words are those of a sentence: CACM .417 as a phrase, .457 without."""

LARGE_PAGE = 120
"""Words, with those inside of compound terms, times hits of a page. A larger page costs as much as
two usual searches, so it is asked for once, when the words are known."""

RESCORED = 200
"""Posts of a shard, the best by their words, that are asked what only orders them; the figures are
those of asking every post."""

WHOLE_TITLE = 4096.0
"""A title that is the query: above any other score, and below a pinned post."""

# -- several words ---------------------------------------------------------------------------------
ADJACENT_BOOST, NEIGHBOURS_SLOP = 1.5, 16
"""Two neighbouring words within so many positions, and the whole query side by side. Link texts /
known items: boost 1.2 .536 / .743, 1.5 .540 / .759, 2 .531 / .755; slop 12 to 24 within .002."""
NEIGHBOUR_PAIRS = 16
"""Bounds the request of a very long query."""
INFLECTED_PHRASE_FIELDS = ("title", "text", "code.forms", "comment_texts")
"""Where a word that is split in two must stand side by side in any inflection: `datasets`, for data
set, finds nothing in the fields below. Code has no inflections."""
PHRASE_FIELDS = ("title.forms", "text.forms", "code.forms", "comment_texts.forms")
COMPOUND_FIELDS = (*PHRASE_FIELDS, "all")
"""Where a term of several tokens must stand side by side. The last has no positions: it only finds
a term that a synonym rule contracts to one token (e-mail, email)."""
BLOG_PHRASE_FIELDS = PHRASE_FIELDS[:-1]
BLOG_FIELDS = ("title", "title.forms", "text", "text.forms", "code.forms", "link_texts", "keywords")
"""What the blog says itself, without comments: of a search that leaves them out."""
QUOTED_FIELDS = ("title.forms^3", "text.forms", "code.forms", "comment_texts.forms")
QUOTED_BOOST = 2.0
ALL_IN_TITLE_BOOST = 8.0
"""Of the titles that have all words, so that a single word in a title is above any text. 3 to 10
rank alike, 0 is .011 worse on the judged queries, 20 .003."""
INFLECTED_ALONE, ALONE = 256.0, 8.0
"""Of a single word: it and its inflections are above any synonym and other words of its stem; it,
in either spelling (colour, color), is above its inflections, and a synonym above those words."""
FEW_OWN_WORDS = 3
"""With more words, inflections and synonyms score alike: otherwise five took a fifth longer."""
HEADING_BOOST = 2.0
"""Two words or more in one heading. Of 160 headings the page comes first 137 times without it, 150
with 1, 153 with 2. For a single word too: judged queries .973 instead of .991."""

# -- meaning, with BLOGSEARCH_SEMANTIC -------------------------------------------------------------
MEANING_BOOST = 12.0
"""Of each significant word, times the similarity of the nearest passage. Questions: .478 without,
.523 with 6, .530 with 12, .531 with 18."""
MEANING_WORDS, MEANING_WORDS_OF_QUESTION = 6, 4
"""From how many significant words on it counts. With 3 and 4, known items lose .007 and .03."""

# -- pinned results, date --------------------------------------------------------------------------
PINNED_SCORE = 8192.0
"""Between one pinned post and the next: far above any other score. A power of two, so that a score
of 32 bits keeps two decimal places beside ten of them."""
RECENCY_BOOST, RECENCY_PIVOT = 0.1, "730d"
"""Orders posts that are equal otherwise; no figure changes without it."""
POPULARITY_BOOST = 0.25
"""Of a post that is read ten times as much as a usual one. With numbers at random, which say
nothing, the first hits of 301 judged queries stay, and so do 7 of 8 kinds (the other 0.697 →
0.628)."""

# -- spelling --------------------------------------------------------------------------------------
SUGGEST_SIZE = 10
"""Options of each word. Size 5, 10, 20 and 40 find the same."""
LONG_IDENTIFIER, LONGEST_CORRECTED = 24, 64
"""Letters. Of longer words one of a query is corrected, by one edit: the work of the suggester
grows faster than the length of a word."""
COST_REPLACED = COST_ADDED = 1.0
"""The unit of the edit costs below. Every edit at 1: judged `typo1` .908 instead of .984."""
COST_LEFT_OUT = COST_SWAPPED = COST_DOUBLED = 0.7
"""The most frequent slips: .958 → .978 offline. A stop word is meant only at this (`teh`): `art` is
not `at`, which every post has."""
COST_ANOTHER_WORD = 0.1
"""How much more than an inflection another word costs where posts have the stem: `ebooks` is ebook
rather than books, which ties without it. Other words stay: `jamed` has the stem of James."""
COST_ALIKE = 0.8
"""One vowel for another, c for k, s for z …: judged `typo1` .938, without it .929."""
COST_NEAR_KEY = 0.9
"""The key beside the right one: .979 → .982 offline."""
COST_UNFINISHED, COST_UNFINISHED_LAST = 1.2, 0.6
"""A word that is not typed to its end. Less than any edit for the last word, so that `pyt` is the
beginning of Python, and not `put`."""
COST_RATE = 8.0
"""How fast likelihood falls with cost: exp(-8 · cost). 6 to 14 rank alike."""
MAX_VARIANTS = 5
"""Of one word. A single one: .9805/.9696 instead of .9855/.9717 (til/blogs)."""
ALL_VARIANTS = 12
"""Of all words together, if more than one has variants: bounds the cost of many misspelled ones."""
MIN_WEIGHT = 0.02
"""Less likely variants are left out. .05: .9810 instead of .9822 on til."""
SPLIT, SPLIT_MIN_PART, SPLIT_MAX_LENGTH = 4.0, 2, 24
"""Two words written as one: only a pair side by side in a post matches, which says more than a
similar word. 600 pairs of short words (`gomod`), MRR .670 without, .868 with it."""
SIMILAR = 0.1
"""Words that resemble a rare one which posts have: below it, though they are more frequent."""
RARE_POSTS, RARE_RATIO, RARE_COST, RARE_MIN_LENGTH = 3, 2, 0.9, 4
"""A word of so many posts, none of them in its title, may be an error for one that is so much more
frequent: those posts follow behind it."""
PREFIX_MIN = 3
FAR, FAR_BESIDE_OTHERS = 0.25, 0.125
"""Cost for each letter, from which on a spelling is not called the correction of a word, but where
a post has it beside other words of the query (`react native` is not naive). Of 600 real
misspellings 16 are so far as a single word; .2: 43."""

# -- typing ----------------------------------------------------------------------------------------
BEGUN_IN_TITLE, BEGUN = 12.0, 2.0
"""A word that is being typed: one in the title begins like it, one in the post does. First hits
that stay / MRR inside the second word: 8 .964 / .952, 12 .952 / .953, 16 .908 / .958."""
BEGUN_EXPANSIONS = 500
"""So many words of titles are compared that begin like the last one."""

# -- snippets --------------------------------------------------------------------------------------
FRAGMENT_SIZE = 160
"""Characters of a snippet: about two lines on a phone."""
LONGEST_SNIPPET = 4 * FRAGMENT_SIZE
"""A snippet ends with a word, and a word may have 50,000 letters."""
SECTIONS = 3
"""How many parts of a post are shown."""
COMMENTS = 2
"""How many of a post's comments are shown with it."""
MAX_ANALYZED_OFFSET = 999_999
"""Characters of one text that are looked at for marks; one below Elasticsearch's own limit, over
which a search would fail."""
