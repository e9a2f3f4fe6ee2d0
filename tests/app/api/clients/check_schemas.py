# SPDX-License-Identifier: MIT
"""Glimmer answers in JSON of many schemas, and an independent validator looks at every answer that ended by itself.

Run by run_clients.py in its environment, with the address of the endpoint and a folder of schemas (*.jsonl, one
{"name": ..., "schema": ...} a line). Answers that reached the limit of tokens are counted as truncated. Schemas that the endpoint
refuses are counted by reason. `--every N` takes each N-th schema only, `--rounds N` asks for each N times with other seeds and
prompts.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "engine/grammar"))
import schema_oracle  # noqa: E402

PROMPTS = ["Answer in JSON.", "Describe a cat as JSON.", "Write a JSON object about a person named Zoe, aged 17."]
LIMIT = 600  # tokens of one answer


def ask(base: str, body: dict) -> dict:
    request = urllib.request.Request(base + "/v1/chat/completions", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=1200) as answer:
        return json.load(answer)


def check(base: str, index: int, case: dict) -> tuple[str, str]:
    body = {"model": "m", "messages": [{"role": "user", "content": PROMPTS[index % len(PROMPTS)]}], "seed": index,
            "temperature": (0, 0.7, 1)[index % 3], "max_tokens": LIMIT, "reasoning_effort": "none" if index % 2 else "low",
            "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": case["schema"]}}}
    try:
        choice = ask(base, body)["choices"][0]
    except urllib.error.HTTPError as error:
        problem = json.load(error)["error"]["message"]
        keyword = re.search(r"'([^']+)'", problem)
        return "refused", keyword[1] if error.code == 400 and keyword else f"{error.code} {problem}"
    if choice["finish_reason"] != "stop":
        return "truncated", choice["finish_reason"]
    text = choice["message"]["content"]
    try:
        answer = json.loads(text)
        problem = next(schema_oracle.validator_of(case["schema"]).iter_errors(answer), None)
    except json.JSONDecodeError as error:
        problem = error
    except ValueError:
        return "unchecked", "a pattern that Python cannot say"
    if problem:
        return "invalid", f"{case['name']}: {text!r}: {problem}"
    return "valid", ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base")
    parser.add_argument("schemas", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    lines = [line for file in sorted(arguments.schemas.glob("*.jsonl")) for line in file.read_text().split("\n") if line]
    cases = [json.loads(line) for line in lines][::arguments.every] * arguments.rounds
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda item: check(arguments.base, *item), enumerate(cases)))
    counts = collections.Counter(kind for kind, _ in results)
    reasons = collections.Counter(reason for kind, reason in results if kind == "refused")
    answered = len(cases) - counts["refused"]
    print(json.dumps({"schemas": len(cases), **{kind: counts[kind] for kind in ("valid", "invalid", "unchecked", "truncated", "refused")},
                      "truncated_share": round(counts["truncated"] / max(1, answered), 4), "refused_by": reasons,
                      "seconds": round(time.monotonic() - began, 1)}))
    for kind, reason in results:
        if kind == "invalid":
            print(f"FAILED {reason}")
    return 0 if counts["valid"] and not counts["invalid"] else 1


if __name__ == "__main__":
    sys.exit(main())
