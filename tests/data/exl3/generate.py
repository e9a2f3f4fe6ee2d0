#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cuts the subset in this folder out of the full EXL3 vectors: generate.py FOLDER-OF-THE-FULL-VECTORS.

Values are copied unchanged. Where the full file holds many values that only have to be equal, the subset holds `NAME.fnv1a`:
the 64-bit FNV-1a hash of the tensor's bytes.
"""

import json
import pathlib
import struct
import sys

CODEBOOKS = ("3inst", "mcg", "mul1")
ROWS = 16  # of the layers' inputs


def read(path: pathlib.Path) -> dict:
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    data = raw[8 + length :]
    entries = json.loads(raw[8 : 8 + length])
    entries.pop("__metadata__", None)
    return {n: (e["dtype"], e["shape"], data[slice(*e["data_offsets"])]) for n, e in entries.items()}


def write(path: pathlib.Path, tensors: dict) -> None:
    header, blob = {}, b""
    # The widest elements first, so that every tensor is aligned to its element.
    width = {"I64": 8, "F64": 8, "F32": 4, "F16": 2, "I16": 2}
    for name, (dtype, shape, data) in sorted(tensors.items(), key=lambda item: (-width[item[1][0]], item[0])):
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(blob), len(blob) + len(data)]}
        blob += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + blob)


def rows(tensor: tuple, count: int) -> tuple:
    dtype, shape, data = tensor
    return dtype, [count, *shape[1:]], data[: len(data) // shape[0] * count]


def columns(tensor: tuple, count: int) -> tuple:
    """The first `count` of dimension 1."""
    dtype, shape, data = tensor
    step = len(data) // shape[0]
    kept = step // shape[1] * count
    return dtype, [shape[0], count, *shape[2:]], b"".join(data[i : i + kept] for i in range(0, len(data), step))


def fnv1a(tensor: tuple) -> tuple:
    value = 0xCBF29CE484222325
    for byte in tensor[2]:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return "I64", [1], struct.pack("<Q", value)


def main() -> int:
    source, here = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parent

    full = read(source / "codebook.safetensors")
    kept = {name: tensor for name, tensor in full.items() if name not in CODEBOOKS}
    kept |= {f"{codebook}.fnv1a": fnv1a(full[codebook]) for codebook in CODEBOOKS}
    write(here / "codebook.safetensors", kept)

    # 128 of the 256 outputs.
    full, kept = read(source / "reconstruct.safetensors"), {}
    for case in (f"{codebook}.k{rate}" for codebook in CODEBOOKS for rate in range(1, 9)):
        kept[f"{case}.trellis"] = columns(full[f"{case}.trellis"], 8)
        kept[f"{case}.inner.fnv1a"] = fnv1a(columns(full[f"{case}.inner"], 128))
    write(here / "reconstruct.safetensors", kept)

    full = read(source / "layers.safetensors")
    kept = {"x": rows(full["x"], ROWS)}
    for case in (f"{codebook}.k{rate}" for codebook in CODEBOOKS for rate in (2, 3, 4)):
        kept |= {f"{case}.{part}": full[f"{case}.{part}"] for part in ("trellis", "suh", "svh", f"y_gemm32.m{ROWS}")}
        kept[f"{case}.xh.fnv1a"] = fnv1a(rows(full[f"{case}.xh"], ROWS))
    write(here / "layers.safetensors", kept)

    full = read(source / "moe.safetensors")
    write(here / "moe.safetensors", {name: tensor for name, tensor in full.items() if not name.startswith("mul1.k2.")})

    write(here / "quant.safetensors", read(source / "quant.safetensors"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
