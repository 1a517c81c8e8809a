"""Writes a llama model of 65 KB with random weights: a real server serves it, and its words mean nothing."""

from pathlib import Path

import gguf
import numpy as np

WIDTH, HEADS, CONTEXT = 32, 4, 8192
WORDS = (
    "the", " the", " of", " and", "is", " who", " what", " film", "er", "in", "on", "re", "ed", "true",
    "null",
)  # fmt: skip
CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def byte_characters() -> list[str]:
    """The printable character that byte-level BPE writes for each byte."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(256, 512))
    return [chr(b) if b in printable else chr(next(others)) for b in range(256)]


def vocabulary() -> tuple[list[str], list[str]]:
    """Tokens (bytes, then the merges of a few words) and merge rules."""
    characters = byte_characters()
    tokens, merges = list(characters), []
    for word in WORDS:
        first, *others = (characters[b] for b in word.encode())
        for character in others:
            rule = f"{first} {character}"
            first += character
            if rule not in merges:
                merges.append(rule)
            if first not in tokens:
                tokens.append(first)
    return tokens, merges


def write_model(path: Path) -> Path:
    """Write the model: one layer, the same bytes each time."""
    tokens, merges = vocabulary()
    kinds = [gguf.TokenType.NORMAL] * len(tokens) + [gguf.TokenType.CONTROL] * len(CONTROL)
    tokens += CONTROL
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("tiny-random")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(len(tokens) - 3)
    writer.add_eos_token_id(len(tokens) - 1)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    _add_weights(writer, len(tokens))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_weights(writer: gguf.GGUFWriter, words: int) -> None:
    random = np.random.default_rng(0)

    def add(name: str, *shape: int, scale: float = 0.05) -> None:
        writer.add_tensor(f"{name}.weight", (random.standard_normal(shape) * scale).astype(np.float16))

    add("token_embd", words, WIDTH, scale=1.0)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        add(f"blk.0.{name}", WIDTH, WIDTH)
    add("blk.0.ffn_gate", 2 * WIDTH, WIDTH)
    add("blk.0.ffn_up", 2 * WIDTH, WIDTH)
    add("blk.0.ffn_down", WIDTH, 2 * WIDTH)
    add("output", words, WIDTH)
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))
