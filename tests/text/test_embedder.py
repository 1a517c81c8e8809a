"""What every embedder must do, and what is special to each."""

import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import EmbedderError, MissingExtra, UsageError
from clew.foundation.system import require
from clew.reading.fitted import MODEL
from clew.text.embedders import (
    EMBEDDER_DATA,
    PRECISION_OPTION,
    Embedder,
    StaticEmbedder,
    embedder,
    has_vnni,
    open_session,
)
from servers.fake_server import Answer, Seen, serving

ONNX = Path(__file__).resolve().parents[2].parent / "shared" / "models" / "minilm-int8"
STATIC = StaticEmbedder.load()


def embeddings(seen: Seen) -> Answer:
    """`/v1/embeddings` over the static embedder; the model's name says how it misbehaves."""
    model, texts = seen.body["model"], seen.body["input"]
    if model == "refuses" or seen.headers["authorization"] != "Bearer secret":
        return Answer({"error": {"message": "bad key"}}, 401)
    if model == "broken":
        return Answer({"error": {"message": "out of memory"}}, 500)
    if model == "garbage":
        return Answer(b"<html>not what you want</html>", headers={"content-type": "text/html"})
    rows = STATIC.embed(texts).tolist()
    if model == "shrinks" and texts != ["probe"]:
        rows = [row[:64] for row in rows]
    if model == "ragged":
        rows = [[0.5] * (i + 1) for i in range(len(texts))]
    data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
    if model == "forgets" and len(data) > 1:
        data = data[1:]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return Answer({"object": "list", "model": model, "usage": usage, "data": data[::-1]})


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serving(by=embeddings) as (_, url):
        yield f"{url}/v1"


def make_static(_: Callable[[], str]) -> Embedder:
    return embedder()


def make_onnx(_: Callable[[], str]) -> Embedder:
    if not ONNX.is_dir():
        pytest.skip("../shared/models/minilm-int8 is not here")
    return embedder(f"onnx:{ONNX}")


def make_openai(url: Callable[[], str]) -> Embedder:
    pytest.importorskip("openai", reason="the extra openai is not installed")
    return embedder("openai/small", base_url=url(), api_key="secret")


IMPLEMENTATIONS = [make_static, make_onnx, make_openai]


@pytest.fixture(scope="module", params=IMPLEMENTATIONS, ids=lambda make: make.__name__[5:])
def any_embedder(request: pytest.FixtureRequest) -> Embedder:
    return request.param(lambda: request.getfixturevalue("endpoint"))


# The contract.


def test_rows_are_float32_of_length_one(any_embedder):
    vectors = any_embedder.embed(["Christopher Nolan", "directed by", "film", "a"])
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, any_embedder.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(any_embedder):
    assert any_embedder.embed([]).shape == (0, any_embedder.dimension)


def test_blank_texts_are_zero_and_leave_the_others_in_place(any_embedder):
    vectors = any_embedder.embed(["", "film", " \t\n"])
    assert not vectors[[0, 2]].any()
    assert np.allclose(vectors[1], any_embedder.embed(["film"])[0], atol=1e-5)


def test_order_and_batch_do_not_matter(any_embedder):
    texts = [f"{word} {i}" for i in range(45) for word in ("film", "a long name of a company", "x")]
    together = any_embedder.embed(texts)
    # int8 models quantise activations over the whole batch, so that neighbours change a vector a little
    alone = np.concatenate([any_embedder.embed([text]) for text in texts[::9]])
    assert (np.einsum("ij,ij->i", together[::9], alone) > 0.97).all()
    assert np.array_equal(together, any_embedder.embed(texts))


def test_meaning_is_near(any_embedder):
    asked, right, wrong = any_embedder.embed(["who wrote it", "written by", "release year"])
    assert asked @ right > asked @ wrong


def test_any_text_is_embedded(any_embedder):
    texts = ["日本 🎬", "\x00\x01", "' OR 1=1 --", "<b>x</b>", "a" * 5000, "word " * 3000, "שלום"]
    vectors = any_embedder.embed(texts)
    assert np.isfinite(vectors).all()
    norms = np.linalg.norm(vectors, axis=1)
    assert ((np.abs(norms - 1) < 1e-4) | (norms == 0)).all()


def test_name_makes_the_same_embedder_and_fingerprint_is_stable(any_embedder, request):
    assert re.fullmatch(r"sha256:[0-9a-f]{16}", any_embedder.fingerprint)
    url = request.getfixturevalue("endpoint")
    again = embedder(any_embedder.name, base_url=url, api_key="secret")
    assert again.name == any_embedder.name
    assert again.fingerprint == any_embedder.fingerprint


# The table that ships.


def slow_embed(text: str) -> np.ndarray:
    """Embed as the README of the table says, letter by letter."""
    with np.load(EMBEDDER_DATA / "clew-static.npz") as file:
        q, s = file["q"], file["s"]
    ids = STATIC._ids
    lowered = "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))
    total = np.zeros(q.shape[1], np.float64)
    for word in re.findall(r"[a-z]+(?:'[a-z]+)?|[0-9]+", lowered.lower()):
        start = 0
        while start < len(word):
            stop = len(word)
            while ("##" if start else "") + word[start:stop] not in ids:
                stop -= 1
            row = ids[("##" if start else "") + word[start:stop]]
            total += q[row].astype(np.float64) * float(s[row])
            start = stop
    norm = np.linalg.norm(total)
    return total / norm if norm else total


@given(st.text(st.sampled_from("abcdefz'é09 -_Ñ."), max_size=30))
@settings(max_examples=40)
def test_the_static_embedder_equals_its_definition(text):
    assert np.allclose(STATIC.embed([text])[0], slow_embed(text), atol=1e-4)


def test_a_missing_or_damaged_table_is_an_embedder_error(tmp_path):
    with pytest.raises(EmbedderError, match="Install clew again"):
        StaticEmbedder.load(tmp_path)
    (tmp_path / "clew-static.npz").write_bytes((EMBEDDER_DATA / "clew-static.npz").read_bytes()[:1000])
    with pytest.raises(EmbedderError, match="Install clew again"):
        StaticEmbedder.load(tmp_path)


# ONNX.


def test_an_onnx_directory_without_what_is_needed(tmp_path):
    pytest.importorskip("onnxruntime")
    with pytest.raises(EmbedderError, match=r"no \.onnx file"):
        embedder(f"onnx:{tmp_path}")
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(EmbedderError, match=r"tokenizer\.json"):
        embedder(f"onnx:{tmp_path}")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(EmbedderError, match="cannot open the model"):
        embedder(f"onnx:{tmp_path}")
    (tmp_path / "a.onnx").write_bytes(b"")
    (tmp_path / "model.onnx").rename(tmp_path / "b.onnx")
    with pytest.raises(EmbedderError, match="several"):
        embedder(f"onnx:{tmp_path}")


class TwoTokens:
    """A session whose model gives the vector (1, 3) to every first token and (3, 1) to every other."""

    def get_inputs(self):
        return [type("Node", (), {"name": name}) for name in ("input_ids", "attention_mask")]

    def get_outputs(self):
        return [type("Node", (), {"name": "last_hidden_state"})]

    def run(self, outputs, feed):
        assert outputs == ["last_hidden_state"]
        assert set(feed) == {"input_ids", "attention_mask"}
        vectors = np.full((*feed["input_ids"].shape, 2), (3.0, 1.0), np.float32)
        vectors[:, 0] = (1.0, 3.0)
        return [vectors]


def test_token_vectors_are_averaged_without_the_padding(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    from clew.text.embedders import OnnxEmbedder

    words = tokenizers.models.WordLevel({"a": 0, "?": 1}, unk_token="?")  # noqa: S106
    tokenizer = tokenizers.Tokenizer(words)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    model = OnnxEmbedder(TwoTokens(), tokenizer, tmp_path / "model.onnx")
    one, two, _ = model.embed(["a", "a a", "a a a a a a"])
    assert np.allclose(one, np.array([1, 3]) / 10**0.5)
    assert np.allclose(two, np.array([1, 1]) / 2**0.5)


# Endpoints.


@pytest.fixture
def connect(endpoint: str) -> Callable[..., Embedder]:
    pytest.importorskip("openai", reason="the extra openai is not installed")
    from clew.text.embedders import OpenAIEmbedder

    given = {"base_url": endpoint, "api_key": "secret", "retries": 0}
    return lambda model, **options: OpenAIEmbedder.connect(model, **given | options)


@pytest.mark.parametrize(
    ("model", "options", "says"),
    [
        ("refuses", {}, "Check the API key"),
        ("broken", {}, "status 500"),
        ("garbage", {}, "did not answer with embeddings"),
        ("small", {"base_url": "http://127.0.0.1:9/v1"}, "cannot be reached"),
        ("small", {"api_key": None}, "Check the API key"),
        ("shrinks", {}, "shape"),
        ("ragged", {}, "did not answer"),
        ("forgets", {}, "vectors"),
    ],
)
def test_an_endpoint_that_fails_says_what_to_check(connect, model, options, says):
    with pytest.raises(EmbedderError, match=says):
        connect(model, **options).embed(["one", "two"])


def test_an_endpoint_gives_the_vectors_that_it_serves_in_small_batches(connect):
    texts = [f"text {i}" for i in range(7)]
    assert np.allclose(connect("small", batch=3).embed(texts), STATIC.embed(texts), atol=1e-6)


# Registry.


@pytest.mark.parametrize("spec", ["", "word2vec", "onnx:", "openai/", "onnx", "clew-static/x"])
def test_an_unknown_spec_names_the_known_ones(spec):
    with pytest.raises(UsageError, match="clew-static, onnx:PATH"):
        embedder(spec)


def test_a_missing_extra_is_named():
    with pytest.raises(MissingExtra, match=r"pip install 'clew\[some-extra\]'"):
        require("a_package_that_is_not_there", "some-extra")


def test_sentence_transformers_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"clew\[sentence-transformers\]"):
        embedder("sentence-transformers/all-MiniLM-L6-v2")


WORDS = {"ids": np.arange(1000, 1096).reshape(8, 12), "mask": np.ones((8, 12), np.float32)}


def opened(*, vnni):
    return open_session(MODEL / "encoder.onnx", threads=1, vnni=vnni)


def test_8_bit_products_are_exact_on_processors_without_vnni():
    options = opened(vnni=False).get_session_options()
    assert options.get_session_config_entry(PRECISION_OPTION) == "1"
    assert options.intra_op_num_threads == 1


@pytest.mark.skipif(not has_vnni(), reason="this processor has no VNNI, or it is not known")
def test_with_vnni_they_are_the_same_without_the_slow_way():
    slow, quick = (opened(vnni=vnni).run(None, WORDS)[0] for vnni in (False, True))
    assert (slow == quick).all()
