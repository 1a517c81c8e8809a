"""The reader of questions by rules: words, mentions, readings compared with the graph, evidence.

A question is not parsed first and looked up afterwards: which words are names, which relations they mean and
in what order is decided together, against the relations that *this* graph has around the mentions. All of it
is deterministic, and some milliseconds a question: `auto.py` walks the road, `interpret.py` goes from words
to readings.

1. **Words and cues** (`question.py`). Words get a weight: nothing for function words, little for words like
   *kind* or *find*, most for what is written like a name. Idioms become one word (*do for a living*:
   profession), *grandson* two. *Who*, *where*, *when* ask for a class of things; which noun says what is
   asked for (*which films*, *how many films*, *list all films*, *films by X*) is found by `focus.py`;
   superlatives, ranges (*after 2010*, *the 1980s*, *in 2003* where the graph has no such name) and yes/no are
   noted, and how many answers are wanted (*the first 3*). Unknown words are read in the spelling of the
   graph's relations and types (`spelling.py`).
2. **Mentions are proposed** (`link.py`), not chosen: every span that is a name, an alias or one of them in
   another spelling, in the plural (*live albums*), or the country of an adjective (*French*, `demonyms.py`).
   If the best reading leaves a word open that may be a name, misspelt names, other forms of the word
   (*westerns*) and names that it is a part of (*Kurosawa*, `index/names/containing.py`; the answer's `notes`
   say so) are proposed too and the question is read again. That a common word is taken for a name has a cost
   (`Reader.common`); a word in lower case that says a type is none.
3. **Vocabulary of the graph** (`vocabulary.py`, once per open index). A relation is known by the words of its
   label; the nodes at each end by declared types, by the relations that they have, and by a noun class
   (person, place, time, quantity) from names of relations and parsed values. Types are also those that
   triples say (`graph/implied_types.py`): by *instance of*, by relations that are paths
   (`film.film.directed_by`), and of countries by their names where no relation says so; relations to a type
   are walked only where a word asks for it. At most 500 implied types are kept, those with the most nodes.
   `similarity.py` compares a word with all of that: embedding, stems, WordNet and thesaurus, so that *wrote*
   names `written_by` and *films* the things that have a `release_year`.
4. **Alignment** (`alignment.py`). Read outward from a mention, the words name the steps of the path in order,
   on whichever side they stand. Up to three steps from each mention, every path is scored by a monotone
   dynamic program: each word goes to a step or to the node behind it, at a cost for what it does not explain;
   steps that no word names cost, steps back through the same relation cost unless a word like *share* or
   *also* asks for them; genitives cut words apart, and what is *of X* is read before what stands behind X;
   rare steps and ends of the wrong class cost. Words for types need a node each that is of the type
   (`typed_words.py`): nothing is both a planet and a moon. A word that is one of a relation's values (*easy*)
   does not ask for the relation. Paths that begin alike share a table, and the search is cut off where
   nothing can be among the best any more.
5. **Joins**. If one mention leaves words unexplained, two or three are read together: a branch from each (one
   step), the words between two mentions shared out, a node where they meet, and up to one step from there.
   *Both … and …* also reads two relations of one mention.
6. **Direction** (`direction.py`). Where the graph allows a relation both ways, the grammar around the mention
   decides: *who influenced X*, *who was influenced by X*, *whose … is X*, and what the relation's own name
   says of its heads and tails.
7. **Confidence and abstention** (`explain.py`, `confidence.py`, `doubt.py`). A logistic function of what is
   explained says how far to trust the best reading; the answer's score is that. Abstentions: an open word
   that is written like a name (`no_entity`), an open word that matters, a wrong class at the end, too little
   confidence, or two readings of other relations that tie and would answer differently (`no_relation`), the
   same for two entities (`ambiguous_entity`), and a pattern without a match (`empty_result`; a reading nearly
   as good may stand in). A verb may stay open where types leave one relation only (*missions that flew to
   X*). An abstention for a missing relation says what the graph records of the entity. *No* is only said
   where the graph records something else.
8. **Two things, and what is left out**. *Which is longer, X or Y*, *is X older than Y*, *did X die before Y*
   (`compare_two.py`) are no paths: the two are compared by a value that both have and that the words name, or
   by the number of their edges (*more films*), and both triples are cited. A negated question (`negation.py`,
   `leave_out.py`) is cut into two that are not: *films by X that are not by Y* is *films by X* less *films by
   X that are by Y*. Both are read by this same road, and what is left out must be a part of what is asked
   for, or the two were not read alike and nothing is answered. *Without a genre*, *have no children* ask for
   those with no such edge, of a declared type, or of the things that are recorded like those that have one.
   The answers cite why they are asked for; absence has no triple, so `notes` says that what the graph does
   not record is taken not to be so.
9. **Match, read, ground**. The reading becomes a pattern with fixed entities and relations; all its answers
   are enumerated; counts, superlatives (*the longest*, *the most films*, *released first*), ranges and
   numbers of edges (*more than five films*) are taken over them, or over all holders of the relation if the
   question names no entity. Where the question says a declared type that not all of them are of, they are
   sifted by it. Every answer cites the triples of its path, for a value also the triple that holds it.

The costs are three small dataclasses (`Weights`, `Scale`, `Trust`), fitted on several data sets together by
`benchmarks/fit_weights.py`; `--explain` prints mentions, readings with costs and what stays open.

**Not supported**, and meant to end in an abstention: a superlative inside a longer path (*who made the oldest
film*), a value bound by an entity (*films longer than X*), *neither … nor* and two negations, negation
together with yes/no, superlatives or ranges, counting only some of the edges (*more than two films by X*),
more than three steps from a mention or more than three mentions, arithmetic and averages (*how many more*),
*n-th*, two conditions on values in one question, conjunctions of a superlative with yes/no, *X or Y* as
either of them, follow-up questions, and questions that are not in English. *Fewer than three* counts only
things that have one.
"""
