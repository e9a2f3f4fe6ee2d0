# SPDX-License-Identifier: MIT
#
# Random nasty strings with the ids of the reference library (`tokenizers`), for tst_tokenizer and for comparisons by hand:
#   generate.py SEED COUNT OUT.json
import json
import pathlib
import random
import sys
import unicodedata

from tokenizers import Tokenizer

FILE = pathlib.Path(__file__).with_name("tokenizer.json")
ADDED = [token["content"] for token in json.loads(FILE.read_text(encoding="utf-8"))["added_tokens"]]
RANGES = [(0x20, 0x7E), (0xA0, 0x17F), (0x370, 0x3FF), (0x400, 0x4FF), (0x590, 0x5FF), (0x600, 0x6FF), (0x900, 0x97F),
          (0xE00, 0xE7F), (0x1100, 0x11FF), (0x3040, 0x30FF), (0x4E00, 0x4FFF), (0xAC00, 0xAD00), (0x300, 0x36F),
          (0x2000, 0x206F), (0x2070, 0x209F), (0x2150, 0x218F), (0xFF00, 0xFFEF), (0x1F300, 0x1F6FF), (0x1D400, 0x1D7FF),
          (0xE0100, 0xE01EF), (0xFE00, 0xFE0F)]
NASTY = ["\u200d", "\ufe0f", "\u0301", "\u0085", "\u180e", "\u2028", "\u2029", "\u00a0", "\u3000", "\ufeff", "\u200b", "\u1680",
         "\u2060", "\x00", "\x0b", "\x0c", "\x1c", "\x1d", "\x1f", "\x7f", "'S", "'\u017f", "'re", "'LL", "'vE", "'\u212a",
         "\u0130", "\ufb06", "\r\n", "\n\n", "\r", "\t", " ", "  ", "   ", "\U0001f600", "\U0001f469\u200d\U0001f469\u200d\U0001f467",
         "\U0001f1e9\U0001f1ea", "\U0010ffff", "\ue000", "\u0378", "'d's", "don't", "it's", "I'M", "'", "\u2019s", "123", "1234",
         "12", "\u0663\u0664", "\u00bd", "\u2167", "\u00b2"]
WORDS = ("the quick hello world function return int main def class if else while print weather Oslo tokens {\"a\": [1, 2]} "
         "http://x.y/z?q=1&b=2 == != <div> </div> snake_case CamelCase 3.14 1,000 $5 #tag @user e.g. i.e.").split(" ")


def piece(rng: random.Random, assigned: list[int]) -> str:
    k = rng.random()
    if k < 0.25:
        return rng.choice(WORDS)
    if k < 0.45:
        return rng.choice(NASTY)
    if k < 0.55:  # added tokens: whole, cut off, doubled up
        token, m = rng.choice(ADDED), rng.random()
        return token[:rng.randrange(len(token) + 1)] if m < 0.3 else token + token[1:] if m < 0.4 else token
    if k < 0.75:
        low, high = rng.choice(RANGES)
        return "".join(chr(rng.randint(low, high)) for _ in range(rng.randrange(1, 6)))
    if k < 0.85:
        return rng.choice([" ", "\n", "\t", "\r\n", " \n", "\u00a0", "\u3000"]) * rng.randrange(1, 8)
    if k < 0.92:
        return chr(rng.choice(assigned))
    if k < 0.96:
        return "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 9)))
    return rng.choice("aA!= \n.-_*#~") * rng.randrange(1, 40)


def main() -> None:
    rng, count, out = random.Random(int(sys.argv[1])), int(sys.argv[2]), pathlib.Path(sys.argv[3])
    tokenizer = Tokenizer.from_file(str(FILE))
    assigned = [c for c in range(0x20, 0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Co", "Cs")]
    cases = []
    for _ in range(count):
        text = "".join(piece(rng, assigned) + rng.choice(["", " ", ""]) for _ in range(rng.randrange(1, 14)))
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        cases.append({"text": text, "ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False)})
    out.write_text(json.dumps(cases, separators=(",", ":")) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
