"""BERTScore (Zhang et al. 2020): greedy matching of token embeddings, from any model with token output.

Precision is the mean, over the tokens of the answer, of the largest cosine with a token of the reference;
recall the same the other way round; F1 their harmonic mean. Special tokens are left out; there is no idf
and no rescaling, so figures compare only between runs with the same model. The reference is the gold names,
joined as the answer text is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clew.errors import EmbedderError, UsageError
from clew.evaluate.records import Record
from clew.evaluate.run.rundir import BERT, LineFile, RunDirectory, key_of
from clew.foundation.arrays import Float32
from clew.text.embedder import unit_rows
from clew.text.embedders.onnx import TOKEN_OUTPUTS
from clew.text.onnx_session import open_session

JOINED_BY = " · "
PAIRS_OF_TEXTS = 32
MOST_COMPARED_TOKENS = 512
"""Tokens of a text that are read where the tokenizer file states no limit."""


@dataclass(frozen=True, slots=True)
class BertScore:
    """Precision, recall and F1 of one answer."""

    precision: float
    recall: float
    f1: float


def bert_score(answer: Float32, reference: Float32) -> BertScore:
    """Score token vectors [n, d] against [m, d]; without tokens on one side all are 0, on both sides 1."""
    if not len(answer) or not len(reference):
        value = float(len(answer) == len(reference))
        return BertScore(value, value, value)
    cosines = answer @ reference.T
    precision, recall = float(cosines.max(1).mean()), float(cosines.max(0).mean())
    total = precision + recall
    return BertScore(precision, recall, 2 * precision * recall / total if total > 0 else 0.0)


class TokenEmbedder:
    """The token output of a model exported to ONNX, with `tokenizer.json` beside it."""

    def __init__(self, session: Any, tokenizer: Any, name: str) -> None:  # noqa: ANN401
        self.name, self._session, self._tokenizer = name, session, tokenizer
        outputs = [node.name for node in session.get_outputs()]
        token_outputs = [output for output in TOKEN_OUTPUTS if output in outputs]
        if not token_outputs:
            expected = " or ".join(TOKEN_OUTPUTS)
            raise EmbedderError(f"{name}: has no output {expected}, but {', '.join(outputs)}")
        self._output = token_outputs[0]
        self._inputs = {node.name for node in session.get_inputs()}
        tokenizer.no_padding()
        if tokenizer.truncation is None:
            tokenizer.enable_truncation(MOST_COMPARED_TOKENS)

    def tokens(self, text: str) -> Float32:
        """Embed the tokens of a text: float32 [tokens, dimension], unit rows, without special tokens.

        One text at a time: in a quantised model the others of a batch would change the vectors.
        """
        encoded = self._tokenizer.encode(text)
        ids = {"input_ids": encoded.ids, "token_type_ids": encoded.type_ids}
        ids["attention_mask"] = encoded.attention_mask
        feed = {name: np.array([row], np.int64) for name, row in ids.items() if name in self._inputs}
        try:
            vectors = self._session.run([self._output], feed)[0][0]
        except Exception as error:  # onnxruntime's errors have no common base but Exception
            raise EmbedderError(f"{self.name}: the model failed ({error})") from error
        plain = np.array(encoded.special_tokens_mask, np.int64) == 0
        return unit_rows(vectors[plain].astype(np.float32))


def open_tokens(spec: str) -> TokenEmbedder:
    """Open a model with token output: `onnx:PATH`, a file or its directory.

    Raises UsageError (another kind of spec), EmbedderError (the model cannot be opened, or has no token
    output).
    """
    from tokenizers import Tokenizer

    kind, _, path = spec.partition(":")
    if kind != "onnx" or not path:
        raise UsageError(f"--bert {spec}: not a model with token output. Write --bert onnx:PATH")
    model = Path(path) if Path(path).is_file() else Path(path) / "model.onnx"
    tokenizer = model.parent / "tokenizer.json"
    if not model.is_file() or not tokenizer.is_file():
        raise EmbedderError(f"{path}: there is no model.onnx with a tokenizer.json beside it")
    try:
        session = open_session(model)
        opened = Tokenizer.from_file(str(tokenizer))
    except Exception as error:  # both libraries raise bare Exceptions of their own
        raise EmbedderError(f"{model}: cannot open the model ({error})") from error
    return TokenEmbedder(session, opened, spec)


def score_run(directory: RunDirectory, model: TokenEmbedder, progress: Callable[[int, int], None]) -> None:
    """Score the answers that have no score yet, into `bertscore.jsonl`; abstentions and failures score 0."""
    with directory.locked():
        scored_keys = {key_of(line) for _, line in directory.lines(BERT) if line["model"] == model.name}
        unscored = [
            record
            for _, record in directory.records()
            if record.key not in scored_keys and record.question.is_scored
        ]
        with closing(LineFile(directory.path / BERT)) as file:
            for start in range(0, len(unscored), PAIRS_OF_TEXTS):
                batch = unscored[start : start + PAIRS_OF_TEXTS]
                for record, score in zip(batch, score_batch(batch, model), strict=True):
                    file.add({**asdict(record.key), "model": model.name, **asdict(score)})
                progress(start + len(batch), len(unscored))


def score_batch(records: Sequence[Record], model: TokenEmbedder) -> list[BertScore]:
    """Score some records."""
    # The gold is written as an answer would be.
    gold = [JOINED_BY.join(answer.name for answer in record.question.gold) for record in records]
    pairs = zip(records, gold, strict=True)
    return [bert_score(model.tokens(record.text), model.tokens(text)) for record, text in pairs]
