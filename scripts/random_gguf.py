#!/usr/bin/env python3
"""Writes a language model with random weights for scripts/test-providers.sh: random_gguf.py FILE

One layer and a vocabulary of 256 bytes, in the format GGUF 3. Needs only Python's own library.
"""
import random
import struct
import sys

WIDTH, HIDDEN, HEADS, CONTEXT = 32, 64, 4, 131072
ALIGNMENT = 32
UINT32, INT32, FLOAT32, STRING, ARRAY = 4, 5, 6, 8, 9
FORMS = {UINT32: "<I", INT32: "<i", FLOAT32: "<f"}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def plain(kind, value):
    return text(value) if kind == STRING else struct.pack(FORMS[kind], value)


def entry(key, kind, value, element=None):
    head = text(key) + struct.pack("<I", kind)
    if kind != ARRAY:
        return head + plain(kind, value)
    items = b"".join(plain(element, item) for item in value)
    return head + struct.pack("<IQ", element, len(value)) + items


def metadata(tokens):
    types = [2, 3, 3] + [6] * 256  # unknown, control, bytes
    return [
        entry("general.architecture", STRING, "llama"),
        entry("general.name", STRING, "random"),
        entry("llama.context_length", UINT32, CONTEXT),
        entry("llama.embedding_length", UINT32, WIDTH),
        entry("llama.block_count", UINT32, 1),
        entry("llama.feed_forward_length", UINT32, HIDDEN),
        entry("llama.attention.head_count", UINT32, HEADS),
        entry("llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-5),
        entry("llama.rope.dimension_count", UINT32, WIDTH // HEADS),
        entry("tokenizer.ggml.model", STRING, "llama"),
        entry("tokenizer.ggml.tokens", ARRAY, tokens, STRING),
        entry("tokenizer.ggml.scores", ARRAY, [0.0] * len(tokens), FLOAT32),
        entry("tokenizer.ggml.token_type", ARRAY, types, INT32),
        entry("tokenizer.ggml.unknown_token_id", UINT32, 0),
        entry("tokenizer.ggml.bos_token_id", UINT32, 1),
        entry("tokenizer.ggml.eos_token_id", UINT32, 2),
    ]


def shapes(vocabulary):
    layer = {
        "attn_norm": [WIDTH], "ffn_norm": [WIDTH],
        "attn_q": [WIDTH, WIDTH], "attn_k": [WIDTH, WIDTH], "attn_v": [WIDTH, WIDTH],
        "attn_output": [WIDTH, WIDTH],
        "ffn_gate": [WIDTH, HIDDEN], "ffn_up": [WIDTH, HIDDEN], "ffn_down": [HIDDEN, WIDTH],
    }
    return {"token_embd.weight": [WIDTH, vocabulary], "output.weight": [WIDTH, vocabulary],
            "output_norm.weight": [WIDTH],
            **{f"blk.0.{name}.weight": shape for name, shape in layer.items()}}


def main():
    random.seed(1)
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    pairs = metadata(tokens)
    infos, data = b"", b""
    for name, shape in shapes(len(tokens)).items():
        count = 1
        for extent in shape:
            count *= extent
        infos += text(name) + struct.pack("<I", len(shape))
        infos += b"".join(struct.pack("<Q", extent) for extent in shape)
        infos += struct.pack("<IQ", 0, len(data))  # 0: f32
        data += struct.pack(f"<{count}f", *(random.gauss(0, 0.5) for _ in range(count)))
        data += b"\0" * (-len(data) % ALIGNMENT)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes(len(tokens))), len(pairs)) + b"".join(pairs) + infos
    with open(sys.argv[1], "wb") as file:
        file.write(head + b"\0" * (-len(head) % ALIGNMENT) + data)


main()
