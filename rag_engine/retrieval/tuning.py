"""Numbers of the search beside the weights of data/ranking.toml, each with its benchmark."""

# benchmarks/retrieval/retrieval_scale.py: seconds of an exact search. Above this many vectors a scan takes longer than
# an answer may, and the approximate index is asked.
EXACT_UP_TO = 500_000
# benchmarks/retrieval/chroma_candidates.py: candidates of each retriever for one result that is asked for.
DEPTH_PER_RESULT = 5
# benchmarks/retrieval/choices.py: the characters of a piece of a long question. An encoder of 512 tokens reads about
# three times as many of most languages.
LONGEST_PIECE = 1_200

# benchmarks/retrieval/fit_ranking.py: a passage that answers is this many deviations above its language's mean, and
# holds this share of the words of a question that is well met.
DEVIATIONS, ENOUGH_WORDS = 5.0, 0.7
# benchmarks/models/encoders.py: the passages for which the calibration's unrelated pairs count, and the documents
# that a language needs to speak as much for itself as the collection speaks for it.
PRIOR_PASSAGES, PRIOR_DOCUMENTS = 10, 100

# benchmarks/retrieval/named_sections.py: how many of the best are examined for named sections.
NAMED_AMONG = 50
# benchmarks/retrieval/index_signal.py: the share of the index weight elsewhere on a page that an index names.
SAME_PAGE_SHARE = 0.5
# Prakash 2026, equation 3.5; benchmarks/retrieval/statutes.py: relevance against variety in the cascade's choice.
MMR_RELEVANCE = 0.5

# benchmarks/answers/readers.py: how many of the best a reader reads, of each the characters around its nearest
# sentence; how many after a cross-encoder; and how many of a document that is asked by itself, each from end to end.
READ, WINDOW = 12, 600
# benchmarks/answers/cross_language.py: how many of the nearest in meaning it reads, wherever they are in the order.
NEAREST = 6
READ_AFTER = 8
READ_WHOLE = 40
# How many of the best a cross-encoder reranks. Further down it lifts passages that only look like an answer.
RERANK_DEPTH = 20
