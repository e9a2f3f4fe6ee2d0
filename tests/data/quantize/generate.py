#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes calibration.txt and evaluation.txt: generate.py FOLDER-OF-GLIMMER'S-TRAINING-SCRIPTS CHAT-TEMPLATE.

Conversations of the generator that made Glimmer's training text, rendered by its chat template, from other seeds than training
and its evaluation used; each ends with the token that ends a turn.
"""

import pathlib
import random
import sys

HERE = pathlib.Path(__file__).parent
TEXTS = {"calibration.txt": 96_000, "evaluation.txt": 48_000}  # bytes, at most
LONGEST = 8_000  # bytes of a conversation: many short ones say more than few long ones


def main() -> int:
    sys.path.insert(0, sys.argv[1])
    import datagen

    template = datagen.load_template(sys.argv[2])
    for name, limit in TEXTS.items():
        rng = random.Random(f"firesteel {name}")
        text = ""
        while True:
            conversation = datagen.render(template, datagen.conversation(rng)) + "<|user|>"
            if len(conversation.encode()) > LONGEST:
                continue
            if len((text + conversation).encode()) > limit:
                break
            text += conversation
        (HERE / name).write_text(text, encoding="utf-8", newline="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
