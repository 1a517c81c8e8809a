"""Questions → query graphs, ranked, executed and proved, or left open, without a chat model.

The road of one: `reader` (one an index: `shared_reader`) finds `mentions` (`name_words`), makes
`candidates` of them (`paths`, `joins`, `operations`, over the `query.vocabulary` of the graph) and
ranks these: `likeness`, `tokens`, `features`, `first_pass`, `ranker`, `calibration`.

What the words say of a candidate beside the ranker: `alignment` and `word_order` of chains, `asked_type` and
`answer_kind` of what is asked for, `signs` of comparisons (by how much: `odds`), `superlatives` of ranks,
`value_pairs` of the places of values, `narrower` of conditions left out, `which_way` of ways; `demonyms`,
`countries`.

Which meaning to answer: `certainty`; whether every word of the question has its place in it: `account`
(`placing`, `denial`, `kinship`); why not: `left_open`, `near_names`. With what: `answer`.

Words that put something around the rest of a question: `operators`, `edge_words`, `times`.
"""
