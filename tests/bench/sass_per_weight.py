#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions per decoded weight of the EXL3 decode kernels, from their machine code.

    cuobjdump -sass kernel_bench | tests/bench/sass_per_weight.py [PART OF A KERNEL'S NAME]

Takes the innermost loop with tensor-core instructions of each kernel. Its mma of one group of 8 rows
each use a fragment of 256 weights, 8 per thread, so with one group a thread spends
instructions / (8 * mma) on a weight: loads, addresses and products included.
"""

import collections
import re
import sys

INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+ )?([A-Z0-9.]+)(?:.* (0x[0-9a-f]+) ;)?")


def innermost_loop(code):
    """Opcodes of the shortest backward branch's body that has tensor-core instructions."""
    best = []
    for address, opcode, target in code:
        if opcode.startswith("BRA") and target is not None and target <= address:
            body = [op for at, op, _ in code if target <= at <= address]
            if any(op.startswith("HMMA") for op in body) and (not best or len(body) < len(best)):
                best = body
    return best


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else "exl3_decode"
    kernels = collections.OrderedDict()
    code = None
    for line in sys.stdin:
        if name := re.search(r"Function : (\S+)", line):
            code = kernels.setdefault(name.group(1), [])
        elif code is not None and (found := INSTRUCTION.match(line)):
            target = int(found.group(3), 16) if found.group(3) else None
            code.append((int(found.group(1), 16), found.group(2), target))
    for name, code in kernels.items():
        body = [op.split(".")[0] for op in innermost_loop(code) if op != "NOP"] if wanted in name else []
        mma = body.count("HMMA")
        if mma:
            kinds = ", ".join(f"{kind} {count}" for kind, count in collections.Counter(body).most_common(8))
            print(f"{name}: {len(body)} instructions, {mma} mma, {len(body) / (8 * mma):.2f} per weight ({kinds})")


if __name__ == "__main__":
    main()
