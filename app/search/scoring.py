"""Defines every number that decides ranking, with the measurement that chose it.

Words are weighted by BM25 with its default k1 and b; the numbers here balance the fields, and weigh
everything besides single words. Each figure is a result of docs/relevance.md with the given value:
the mean reciprocal rank of known items and link texts, nDCG@10 of questions and judged queries.
"""

# -- fields ----------------------------------------------------------------------------------------
STEMMED_FIELDS = ("title^2", "text^2", "comment_texts")
UNSTEMMED_FIELDS = ("title.forms^2", "text.forms^2", "code.forms", "comment_texts.forms")
"""Two groups, because all fields of a `combined_fields` must have the same analyzer; the second one
ranks a word above its inflections. Code and comments count half as much as text, which has 2
because less than 1 is not allowed. Titles at three times a text: CISI .331 instead of .338, known
items `words` .753, .759."""
IN_ANY_FORM = ("text", "stems")
"""The fields that match a word in any inflection: `stems` has what is not in the text."""
TITLE_BOOST = 0.57
"""For the title again, in any inflection. Link texts / known: .55 .573 / .779, .6 .574 / .774."""
MOST_WORDS, MOST_IN_TITLE_BOOST, MOST_IN_LINKS_BOOST = "60%", 0.5, 1.7
"""For posts whose title, or the texts of links to them, have `MOST_WORDS` of two or more
significant words. Link texts .531 without links, .563 with 1, .579 with 1.5, .586 with 2."""
LIGHT_BOOST = 0.5
"""For question words, pronouns and auxiliary verbs. Known items: 0 .751, .5 .759, 1 .750."""
WORDS_BESIDE_LIGHT = 8
"""With more significant words, light ones score nothing. CACM .476 with them, .480 without."""
FEW_WORDS = 5
"""With more significant words, the weight of the form as typed and of neighbours is divided by
their number over this: a long question matches some by chance. Questions .457 without it, .470 with
it. Quotation marks beside more words make no phrase: CACM .417 as a phrase, .457 without."""

LARGE_PAGE = 120
"""Words, including those in compound terms, times hits of a page. A larger page costs as much as
two usual searches, so it is requested once, when the words are known."""

RESCORED = 200
"""How many posts of a shard, the best by their words, are rescored. The figures are the same if all
posts are rescored."""

WHOLE_TITLE, TITLE_AS_TYPED = 4096.0, 1024.0
"""For a title that equals the query, and once more with the same signs and accents (Go!, résumé):
above any other score, but below a pinned post."""

# -- several words ---------------------------------------------------------------------------------
ADJACENT_BOOST, NEIGHBOURS_SLOP = 1.5, 16
"""For two neighbouring words within the slop, and for the whole query as a phrase. Link texts /
known items: boost 1.2 .536 / .743, 1.5 .540 / .759, 2 .531 / .755; slop 12 to 24 within .002."""
NEIGHBOUR_PAIRS = 16
"""Limits the size of the request for a very long query."""
INFLECTED_PHRASE_FIELDS = ("title", "text", "code.forms", "comment_texts")
"""The fields for the two parts of a split word in any inflection: `datasets`, for data set, finds
nothing in the fields below. Code has no inflections."""
PHRASE_FIELDS = ("title.forms", "text.forms", "code.forms", "comment_texts.forms")
COMPOUND_FIELDS = (*PHRASE_FIELDS, "all")
"""The fields for the tokens of a compound term as a phrase. `all` has no positions: it only matches
a term that a synonym rule contracts to one token (e-mail, email)."""
BLOG_PHRASE_FIELDS = PHRASE_FIELDS[:-1]
BLOG_FIELDS = ("title", "title.forms", "text", "text.forms", "code.forms", "link_texts", "keywords")
"""The fields for a search without comments."""
QUOTED_FIELDS = ("title.forms^3", "text.forms", "code.forms", "comment_texts.forms")
QUOTED_BOOST = 2.0
ALL_IN_TITLE_BOOST = 8.0
"""For titles with all words, so that a single word in a title ranks above any text. 3 to 10 rank
alike, 0 is .011 worse on the judged queries, 20 .003."""
WHOLE_NUMBER_IN_TITLE, WHOLE_NUMBER = 8.0, 1.0
"""Of a number in a post that is not the beginning of a longer one there: 5.0, not 5.0.1. As much as
a title with all words."""
INFLECTED_ALONE, ALONE = 256.0, 8.0
"""For a query of one word. The first ranks it and its inflections above synonyms and other words of
its stem; the second ranks either spelling of it (colour, color) above its inflections, and synonyms
above other words of its stem."""
FEW_OWN_WORDS = 3
"""With more words, inflections and synonyms score alike: otherwise five took a fifth longer."""
HEADING_BOOST = 2.0
"""For two or more words in one heading. Of 160 headings the page comes first 137 times without it,
150 with 1, 153 with 2. For a single word too: judged queries .973 instead of .991."""

# -- meaning, with BLOGSEARCH_SEMANTIC -------------------------------------------------------------
MEANING_BOOST = 12.0
"""Multiplied by the number of significant words and the similarity of the nearest passage.
Questions: .478 without, .523 with 6, .530 with 12, .531 with 18."""
MEANING_WORDS, MEANING_WORDS_OF_QUESTION = 6, 4
"""The least number of significant words. With 3 and 4, known items lose .007 and .03."""

# -- pinned results, date --------------------------------------------------------------------------
PINNED_SCORE = 8192.0
"""The difference between one pinned post and the next: far above any other score. A power of two,
so that a 32-bit score of ten times this keeps two decimal places."""
RECENCY_BOOST, RECENCY_PIVOT = 0.1, "730d"
"""Orders posts that are otherwise equal; no figure changes without it."""
POPULARITY_BOOST = 0.25
"""For a post that is read ten times as much as a usual one. With random numbers, the first hits of
301 judged queries stay, and so do 7 of 8 kinds (the other 0.697 → 0.628)."""

# -- spelling --------------------------------------------------------------------------------------
SUGGEST_SIZE = 10
"""The maximum number of the suggester's options for a word. 5, 10, 20 and 40 find the same."""
LONG_IDENTIFIER, LONGEST_CORRECTED = 24, 64
"""Letters of a word. Only one longer than the first is corrected in a query, by one edit, and none
longer than the second: the suggester's work grows faster than the length of a word."""
COST_REPLACED = COST_ADDED = 1.0
"""The unit of the edit costs below. With every edit at 1: judged `typo1` .908 instead of .984."""
COST_LEFT_OUT = COST_SWAPPED = COST_DOUBLED = 0.7
"""The most frequent slips: .958 → .978 offline. A stop word may cost no more (`teh`): `art` is not
`at`, which every post has."""
COST_ANOTHER_WORD = 0.1
"""How much more another word costs than an inflection, if posts have the stem: `ebooks` means ebook
rather than books, which would tie. Other words stay: `jamed` has the stem of James."""
COST_ALIKE = 0.8
"""One vowel for another, c for k, s for z …: judged `typo1` .938, without it .929."""
COST_NEAR_KEY = 0.9
"""A neighbouring key: .979 → .982 offline."""
COST_UNFINISHED, COST_UNFINISHED_LAST = 1.2, 0.6
"""An unfinished word. For the last word it costs less than any edit, so that `pyt` is the beginning
of Python, and not `put`."""
COST_RATE = 8.0
"""How fast the likelihood falls with the cost: exp(-8 · cost). 6 to 14 rank alike."""
MAX_VARIANTS = 5
"""For one word. With 1: .9805/.9696 instead of .9855/.9717 (til/blogs)."""
ALL_VARIANTS = 12
"""For all words together, if several have variants: limits the cost of many misspelled words."""
MIN_WEIGHT = 0.02
"""Less likely variants are left out. .05: .9810 instead of .9822 on til."""
SPLIT, SPLIT_MIN_PART, SPLIT_MAX_LENGTH = 4.0, 2, 24
"""Two words written as one: only posts with the two words side by side match, which is stronger
evidence than a similar word. 600 pairs of short words (`gomod`), MRR .670 without, .868 with it."""
SIMILAR = 0.1
"""For words that resemble a rare one: they score below it, though they are more frequent."""
RARE_POSTS, RARE_RATIO, RARE_COST, RARE_MIN_LENGTH = 3, 2, 0.9, 4
"""A word in at most `RARE_POSTS` posts, and in no title, may be an error for one that is at least
`RARE_RATIO` times as frequent; posts with that word follow behind it."""
PREFIX_MIN = 3
FAR, FAR_BESIDE_OTHERS = 0.25, 0.125
"""The cost per letter from which a spelling is no correction of a word, unless a post has it with
other words of the query (`react native` is not naive). Of 600 real misspellings 16 are so far as a
single word; .2: 43."""

# -- typing ----------------------------------------------------------------------------------------
BEGUN_IN_TITLE, BEGUN = 12.0, 2.0
"""For a word in the title, or in the post, that begins with the word being typed. First hits that
stay / MRR inside the second word: 8 .964 / .952, 12 .952 / .953, 16 .908 / .958."""
BEGUN_EXPANSIONS = 500
"""The maximum number of title words compared with the last, unfinished word."""

# -- snippets --------------------------------------------------------------------------------------
FRAGMENT_SIZE = 160
"""The characters of a snippet: about two lines on a phone."""
LONGEST_SNIPPET = 4 * FRAGMENT_SIZE
"""A limit, because a snippet ends with a word, and a word may have 50,000 letters."""
SECTIONS = 3
"""The maximum number of sections shown of a post."""
COMMENTS = 2
"""The maximum number of comments shown with a post."""
MAX_ANALYZED_OFFSET = 999_999
"""The characters of a text that are highlighted; one below Elasticsearch's own limit, above which a
search would fail."""
