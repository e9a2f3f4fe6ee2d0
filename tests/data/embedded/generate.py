#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reference outputs of the embedded model: transformers in float32 on the dequantised weights.

    generate.py MODEL PROMPTS OUT        MODEL: resources/glimmer/model; PROMPTS: ../chat_template/prompts_text.json

The trellis is decoded here independently of the engine, in NumPy and float64, from the format's description (docs/model.md). Needs
PyTorch, transformers 5.17, safetensors, NumPy.
"""

import argparse
import json
import pathlib
import tempfile

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from transformers import AutoModelForImageTextToText, AutoTokenizer

PROMPTS = ("short_chat", "thinking", "tool_call", "multi_turn", "json", "unicode", "count")
LAST_ROWS = 8
TOP = 32


def codebook(name: str) -> np.ndarray:
    """The value of each of the 65,536 states."""
    state = np.arange(65536, dtype=np.uint64)
    if name == "mul1":
        product = (state * 0x83DCD12D) & 0xFFFFFFFF
        total = sum((product >> shift) & 0xFF for shift in (0, 8, 16, 24)).astype(np.float64)
        slope, offset = np.array([0x1EEE, 0xC931], dtype=np.uint16).view(np.float16).astype(np.float64)
        return ((1024 + total) * slope + offset).astype(np.float16)
    product = (state * 0xCBAC1FED if name == "mcg" else state * 89226354 + 64248484) & 0xFFFFFFFF
    product = (product & 0x8FFF8FFF) ^ 0x3B603B60
    low, high = ((product >> shift & 0xFFFF).astype(np.uint16).view(np.float16) for shift in (0, 16))
    return low + high


def inner_matrix(trellis: np.ndarray, values: np.ndarray) -> np.ndarray:
    """C [in, out] of a trellis [in / 16, out / 16, 16 * rate]."""
    tiles_in, tiles_out, width = trellis.shape
    rate = width // 16
    words = trellis.view(np.uint16).reshape(tiles_in, tiles_out, -1, 2)
    words = words[..., ::-1]  # the most significant half first
    bits = np.unpackbits(np.ascontiguousarray(words.astype(">u2")).view(np.uint8).reshape(tiles_in, tiles_out, -1), axis=-1)
    step = np.arange(256)
    states = np.zeros((tiles_in, tiles_out, 256), dtype=np.uint32)
    for bit in range(16):
        states = states << 1 | bits[..., ((step + 1) * rate - 16 + bit) % (256 * rate)]
    lane, item = step // 8, step % 8
    row = 2 * (lane % 4) + (item & 1) + 8 * (item >> 1 & 1)
    column = lane // 4 + 8 * (item >> 2)
    tiles = np.zeros((tiles_in, tiles_out, 16, 16))
    tiles[..., row, column] = values[states].astype(np.float64)
    return tiles.transpose(0, 2, 1, 3).reshape(tiles_in * 16, tiles_out * 16)


def rotate(matrix: np.ndarray) -> np.ndarray:
    """H times the matrix, H of 128x128 blocks."""
    hadamard = np.array([[1.0]])
    while len(hadamard) < 128:
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    blocks = matrix.reshape(-1, 128, matrix.shape[1])
    return (hadamard / np.sqrt(128) @ blocks).reshape(matrix.shape)


def dequantised(folder: pathlib.Path) -> dict[str, torch.Tensor]:
    raw: dict[str, torch.Tensor] = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, "pt") as tensors:
            raw.update({name: tensors.get_tensor(name) for name in tensors.keys()})
    books = {name: codebook(name) for name in ("3inst", "mcg", "mul1")}
    result = {}
    for name, tensor in raw.items():
        module, _, leaf = name.rpartition(".")
        if leaf in ("suh", "svh", "mcg", "mul1"):
            continue
        if leaf != "trellis":
            result[name] = tensor.float()
            continue
        book = next((key for key in ("mcg", "mul1") if f"{module}.{key}" in raw), "3inst")
        inner = inner_matrix(tensor.numpy(), books[book])
        suh, svh = (raw[f"{module}.{key}"].double().numpy() for key in ("suh", "svh"))
        weight = suh[:, None] * rotate(rotate(inner).T).T * svh[None, :]
        result[module + ".weight"] = torch.from_numpy(np.ascontiguousarray(weight.T)).float()
    return result


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("prompts", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for file in arguments.model.glob("*.json"):
            if "index" not in file.name and file.name != "quantization_config.json":
                (folder / file.name).write_bytes(file.read_bytes())
        config = json.loads((folder / "config.json").read_text())
        config.pop("quantization_config", None)
        (folder / "config.json").write_text(json.dumps(config))
        save_file(dequantised(arguments.model), folder / "model.safetensors", metadata={"format": "pt"})
        model, info = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
        assert not info["missing_keys"] and not info["unexpected_keys"], info
        tokenizer = AutoTokenizer.from_pretrained(folder)
    model.eval()
    prompts = json.loads(arguments.prompts.read_text())
    for name in PROMPTS:
        ids = tokenizer(prompts[name]["text"], return_tensors="pt", add_special_tokens=False).input_ids
        logits = model(input_ids=ids).logits[0].float()
        top = logits.topk(TOP, -1)
        greedy = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=64, do_sample=False)
        save_file(
            {
                "input_ids": ids[0].int(),
                "logits_last8_fp32": logits[-LAST_ROWS:].contiguous(),
                "top32_values_fp32": top.values.contiguous(),
                "top32_ids_fp32": top.indices.int().contiguous(),
                "greedy_fp32": greedy[0, ids.shape[1] :].int().contiguous(),
            },
            arguments.out / f"prompt_{name}.safetensors",
        )
        print(name, len(ids[0]), repr(tokenizer.decode(greedy[0, ids.shape[1] :])))


if __name__ == "__main__":
    main()
