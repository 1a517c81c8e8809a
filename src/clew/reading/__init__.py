"""Questions → query graphs, ranked, executed and proved, or left open, without a chat model.

The road of one: `reader` finds `mentions` (`mention_finder`, `name_runs`), makes `candidates` of them
(`paths`, `joins`, `operations`, over the `query.vocabulary` of the graph) and ranks these: `likeness`,
`tokens`, `features`, `ranker`, with what was `fitted`.

What the words say of a candidate beside the ranker: `alignment` and `which_way` of chains, `asked_for` of
what is asked for, `signs` of comparisons and ranks, `scope` of *not*, `narrower` of conditions left out.

Which meaning to answer: `certainty`; whether every word of the question has its place in it: `account`
(`placing`, `background`, `denial`, `kinship`); why not: `left_open`. With what: `answer`.

Words that put something around the rest of a question: `operators`, `edge_words`, `times`.
"""
