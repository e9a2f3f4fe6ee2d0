#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the prompts of tests/data/skills through firesteel-cli, greedily, and prints every answer and how many are right.

Usage: tests/bench/skills.py FIRESTEEL_CLI [MODEL_DIR]      (without MODEL_DIR the tool looks for its model itself)
The exit status is 0 if every prompt was answered, right or not: a small model may be wrong, the program may not fail.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

PROMPTS = pathlib.Path(__file__).resolve().parent.parent / "data" / "skills" / "prompts.json"
SECONDS = 300


def run(arguments, text=""):
    result = subprocess.run(arguments, input=text.encode(), capture_output=True, timeout=SECONDS)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.decode().strip())
    return result.stdout.decode()


def ask(cli, model, prompt):
    """The answer as firesteel-cli generate --json gives it."""
    options = ["--greedy", "--effort", prompt.get("effort", "max")] + model
    if "turns" in prompt:
        # One line per answer: turns are only for skills that answer in one line.
        lines = run([cli, "chat", *options], "\n".join(prompt["turns"]) + "\n").splitlines()
        return {"text": lines[-1], "tool_calls": [], "finish_reason": "stop"}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as tools:
        if "tools" in prompt:
            json.dump(prompt["tools"], tools)
            tools.flush()
            options += ["--tools", tools.name]
        return json.loads(run([cli, "generate", "--json", "--prompt", prompt["prompt"], *options]))


def is_right(answer, expect):
    text = answer["text"]
    if answer["finish_reason"] not in ("stop", "tool_calls"):
        return False
    checks = {
        "exact": lambda value: text == value,
        "contains": lambda value: all(part in text for part in value),
        "json": lambda value: json.loads(text) == value,
        "lines": lambda value: len(text.splitlines()) == value,
        "minimumWords": lambda value: len(text.split()) >= value,
        "toolCall": lambda value: [{"name": call["name"], "arguments": call["arguments"]} for call in answer["tool_calls"]]
        == [value],
    }
    try:
        return all(checks[kind](value) for kind, value in expect.items())
    except json.JSONDecodeError:
        return False


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    cli = sys.argv[1]
    model = ["--model", sys.argv[2]] if len(sys.argv) == 3 else []
    prompts = json.loads(PROMPTS.read_text(encoding="utf-8"))
    right = 0
    for prompt in prompts:
        answer = ask(cli, model, prompt)
        verdict = is_right(answer, prompt["expect"])
        right += verdict
        said = prompt.get("prompt") or " / ".join(prompt["turns"])
        print(f"[{'right' if verdict else 'WRONG'}] {prompt['skill']}: {said if len(said) < 200 else '...' + said[-60:]}")
        for call in answer["tool_calls"]:
            print(f"    {call['name']} {json.dumps(call['arguments'], ensure_ascii=False)}")
        for line in answer["text"].splitlines():
            print(f"    {line}")
    print(f"{right} of {len(prompts)} right")


main()
