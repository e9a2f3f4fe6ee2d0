#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ExLlamaV3's EXL3 kernels and ours on the same tensors, the same GPU, in the same run.

    peer_exllamav3.py --extension FOLDER --ours PROGRAM --out CSV [--commit ID] [--cases linear,experts] [--rows 1,2,4,8]

FOLDER holds the built module exllamav3_ext (newest release, compiled for this GPU); PROGRAM is build/.../exl3_apply. Each case's
random tensors are written once to a file in shared memory, timed here through ExLlamaV3's own entry points as its Python layers
call them, and by PROGRAM through ours. The error of each is relative to a float64 product with the dequantised weights.
EXL3_INT8_GEMV=0 in the environment switches ExLlamaV3's int8 activations off; a row records which was used.
"""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import torch
from safetensors.torch import save_file

HIDDEN, WIDTH, EXPERTS, TOP_K, LIMIT = 4096, 2048, 288, 8, 10.0
# name, in, out, rate: the dense shapes of GLM-5.3-Flash that cost most (docs/kernels.md).
LINEARS = (
    ("kda_qkv", 4096, 24576, 4),
    ("kda_o", 8192, 4096, 4),
    ("shared_up", 4096, 2048, 4),
    ("dense_up", 4096, 12288, 3),
    ("lm_head", 4096, 154880, 5),
    ("expert_up", 4096, 2048, 2),
)
WORKING_SET = 512 << 20  # bytes of weights cycled through, several times the L2


def random_matrix(inputs, outputs, rate, count=None):
    lead = () if count is None else (count,)
    trellis = torch.randint(-32768, 32768, (*lead, inputs // 16, outputs // 16, 16 * rate), dtype=torch.int16, device="cuda")
    sign = lambda n: torch.randint(0, 2, (*lead, n), device="cuda").half() * 2 - 1
    suh = sign(inputs) * (0.5 + torch.rand((*lead, inputs), device="cuda").half()) / inputs**0.5
    svh = sign(outputs) * (0.5 + torch.rand((*lead, outputs), device="cuda").half())
    return trellis, suh.half(), svh.half()


def dequantised(ext, trellis, suh, svh, rate):
    """float64 W [in, out], from ExLlamaV3's bit-exact inner matrix."""
    inner = torch.empty((suh.numel(), svh.numel()), dtype=torch.half, device="cuda")
    ext.reconstruct(inner, trellis, rate, False, True)
    hadamard = torch.ones((1, 1), dtype=torch.double, device="cuda")
    while len(hadamard) < 128:
        hadamard = torch.cat([torch.cat([hadamard, hadamard], 1), torch.cat([hadamard, -hadamard], 1)], 0)
    hadamard /= 128**0.5
    rotate = lambda m: (hadamard @ m.view(-1, 128, m.shape[1])).view(m.shape)
    return suh.double()[:, None] * rotate(rotate(inner.double()).T.contiguous()).T * svh.double()


def microseconds(call, copies, repeats=60, recorded=True):
    """Median time of one call, cycling through the copies of the weights; recorded as a CUDA graph where the path allows it."""
    for copy in range(copies):
        call(copy)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph() if recorded else None
    if graph:
        with torch.cuda.graph(graph):
            for copy in range(copies):
                call(copy)
        graph.replay()
    times = []
    for _ in range(max(5, repeats // copies)):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        if graph:
            graph.replay()
        else:
            for copy in range(copies):
                call(copy)
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop) * 1000 / copies)
    return sorted(times)[len(times) // 2]


def relative(actual, expected):
    return ((actual.double() - expected).norm() / expected.norm()).item()


def ours(arguments, tensors, kind, rows, outputs):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        case, result = pathlib.Path(folder) / "case.safetensors", pathlib.Path(folder) / "y.bin"
        save_file({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, case)
        command = [*arguments.ours, kind, str(case), str(result), "--working-set", str(WORKING_SET)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            sys.exit(f"{' '.join(command)}: {run.stderr}")
        y = torch.frombuffer(bytearray(result.read_bytes()), dtype=torch.float32).view(rows, outputs).cuda()
        return json.loads(run.stdout)["microseconds"], y


def linear_case(ext, arguments, name, inputs, outputs, rate, rows):
    trellis, suh, svh = random_matrix(inputs, outputs, rate)
    x = torch.randn((rows, inputs), device="cuda").half()
    copies = max(1, min(64, WORKING_SET // trellis.numel() // 2))
    weights = [trellis.clone() for _ in range(copies)]
    y = torch.empty((rows, outputs), dtype=torch.half, device="cuda")
    rotated = torch.empty_like(x)
    inner = torch.empty((inputs, outputs), dtype=torch.half, device="cuda") if rows > 144 else None

    def call(copy):
        if rows <= 144:
            ext.exl3_gemm(x, weights[copy], y, suh, rotated, svh, -1, False, True, 0)
        elif rows < 1024:
            ext.had_r_128(x, rotated, suh, None, 1.0)
            ext.reconstruct(inner, weights[copy], rate, False, True)
            ext.hgemm_recon(rotated, inner, y)
            ext.had_r_128(y, y, None, svh, 1.0)
        else:
            ext.reconstruct_had_slice(inner, weights[copy], suh, svh, rate, False, True, 0)
            ext.hgemm_recon(x, inner, y)

    peer = microseconds(call, copies)
    expected = x.double() @ dequantised(ext, trellis, suh, svh, rate)
    kind = "linear-decode" if rows <= 72 else "linear-prefill"
    mine, result = ours(arguments, {"x": x.float(), "trellis": trellis, "suh": suh, "svh": svh}, kind, rows, outputs)
    return dict(case=name, rows=rows, rate=rate, bytes=trellis.numel() * 2, peer_us=peer, ours_us=mine,
                peer_error=relative(y, expected), ours_error=relative(result, expected))


class Experts:
    """One layer's routed experts as ExLlamaV3 holds them: pointer tables over stacked matrices."""

    def __init__(self):
        self.gate = random_matrix(HIDDEN, WIDTH, 2, EXPERTS)
        self.up = random_matrix(HIDDEN, WIDTH, 2, EXPERTS)
        self.down = random_matrix(WIDTH, HIDDEN, 2, EXPERTS)
        pointers = lambda stacked: torch.tensor([t.data_ptr() for t in stacked], dtype=torch.long, device="cuda")
        self.tables = [[pointers(part) for part in matrix] for matrix in (self.gate, self.up, self.down)]
        self.counters = torch.zeros(64 * (WIDTH // 128) + 8 * (HIDDEN // 128) + 3 + 2 * 64, dtype=torch.int, device="cuda")

    def coop(self, ext, x, chosen, weights):
        rows = len(x)
        half = lambda *shape: torch.empty(shape, dtype=torch.half, device="cuda")
        scratch = [half(64, HIDDEN), half(64, HIDDEN), half(64, WIDTH), half(64, WIDTH), half(64, WIDTH)]
        d_out = torch.empty((64, HIDDEN), dtype=torch.float, device="cuda")
        out = torch.empty((8, HIDDEN), dtype=torch.float, device="cuda")
        tables = [part for table in self.tables for part in table]

        def call(_):
            ext.exl3_moe_coop(x, chosen, weights, -1, -1, HIDDEN, *tables, None, None, None, 2.0, 2.0, 2.0, False, True, 0, LIMIT,
                              True, *scratch, d_out, self.counters, out, None, None)

        return call, out[:rows]

    def fused(self, ext, x, chosen, weights):
        """The sorted path for more rows: bincount and argsort on the device, fused kernel in tiles of 16, 32 and 64 rows."""
        capacity = max(64, len(x))
        blocks = ext.exl3_moe_max_concurrency(0)
        half = lambda *shape: torch.empty(shape, dtype=torch.half, device="cuda")
        buffers = [half(blocks, capacity, HIDDEN), half(blocks, capacity, HIDDEN), half(blocks, capacity, WIDTH), half(blocks, capacity, WIDTH)]
        out = torch.zeros((len(x), HIDDEN), dtype=torch.float, device="cuda")
        tables = [part for table in self.tables for part in table]

        def call(_):
            flat = chosen.flatten()
            order = flat.argsort()
            counts = torch.bincount(flat, minlength=EXPERTS + 1)
            tokens = order // TOP_K
            sorted_weights = weights.flatten()[order]
            out.zero_()
            host = [c for c in counts.tolist() if c]
            for low, high, tile in ((65, capacity, 64), (17, 64, 32), (1, 16, 16)):
                active = sum(low <= c <= high for c in host)
                if active:
                    ext.exl3_moe(x, out, counts, tokens, sorted_weights, *buffers, 0, 2.0, 2.0, 2.0, *tables, False, True, False, True,
                                 False, True, LIMIT, active, None, None, low, high, tile)

        return call, out


def experts_case(ext, arguments, experts, rows):
    x = torch.randn((rows, HIDDEN), device="cuda").half()
    chosen = torch.stack([torch.randperm(EXPERTS, device="cuda")[:TOP_K] for _ in range(rows)])
    weights = torch.rand((rows, TOP_K), device="cuda").half() / TOP_K
    call, out = experts.coop(ext, x, chosen, weights) if rows <= 8 else experts.fused(ext, x, chosen, weights)
    peer = microseconds(call, 1, 20, recorded=rows <= 8)  # the sorted path reads counts back to the host
    compared = rows <= 64  # the float64 reference of all 288 experts would take longer than the measurement
    expected = torch.zeros((rows, HIDDEN), dtype=torch.double, device="cuda")
    silu = torch.nn.functional.silu
    for expert in chosen.unique().tolist() if compared else ():
        row, place = (chosen == expert).nonzero(as_tuple=True)
        gate, up, down = (dequantised(ext, *(part[expert] for part in m), 2) for m in (experts.gate, experts.up, experts.down))
        h = silu((x[row].double() @ gate).clamp(max=LIMIT)) * (x[row].double() @ up).clamp(-LIMIT, LIMIT)
        expected.index_add_(0, row, weights[row, place].double()[:, None] * (h @ down))
    tensors = {"x": x.float(), "experts": chosen.int(), "weights": weights.float()}
    for key, matrix in (("gate", experts.gate), ("up", experts.up), ("down", experts.down)):
        tensors |= {f"{key}.{part}": tensor for part, tensor in zip(("trellis", "suh", "svh"), matrix)}
    mine, result = ours(arguments, tensors, "experts-decode" if rows <= 72 else "experts-prefill", rows, HIDDEN)
    distinct = len(chosen.unique())
    return dict(case="experts", rows=rows, rate=2, bytes=distinct * 3 * HIDDEN * WIDTH // 4, peer_us=peer, ours_us=mine,
                peer_error=relative(out, expected) if compared else "", ours_error=relative(result, expected) if compared else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extension", type=pathlib.Path, required=True)
    parser.add_argument("--ours", nargs="+", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--commit", default="")
    parser.add_argument("--cases", default="linear,experts")
    parser.add_argument("--rows", default="1,2,4,6,8,24,64,2048")
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.extension))
    sys.setdlopenflags(os.RTLD_LAZY | os.RTLD_GLOBAL)
    import exllamav3_ext as ext

    torch.manual_seed(1)
    rows = [int(value) for value in arguments.rows.split(",")]
    columns = ("commit", "device", "peer", "int8_gemv", "case", "rows", "rate", "bytes", "peer_us", "ours_us", "ratio", "peer_error", "ours_error")
    with arguments.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()

        def record(result):
            result |= dict(commit=arguments.commit, device=torch.cuda.get_device_name(), peer="exllamav3 1.6.5",
                           int8_gemv=os.environ.get("EXL3_INT8_GEMV", "1"), ratio=result["peer_us"] / result["ours_us"])
            writer.writerow(result)
            file.flush()
            print({key: round(value, 6) if isinstance(value, float) else value for key, value in result.items()}, flush=True)

        if "linear" in arguments.cases:
            for shape in LINEARS:
                for count in rows:
                    record(linear_case(ext, arguments, *shape, count))
        if "experts" in arguments.cases:
            experts = Experts()
            for count in rows:
                record(experts_case(ext, arguments, experts, count))


if __name__ == "__main__":
    main()
