#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random texts of the grammars of JSON schemas, validated by another implementation.

Runs `schema_walks` and validates every text it wrote with the library jsonschema: this interpreter's, or the one that comes
with the client libraries of "api clients", in their environment. Prints FIRESTEEL-SKIP with the reason where they cannot be had.
"""

import collections
import importlib.util
import json
import pathlib
import re
import subprocess
import sys

CLIENTS = pathlib.Path(__file__).resolve().parents[2] / "app/api/clients/run_clients.py"

def check(lines) -> int:
    import jsonschema  # in the environment of main()
    import schema_oracle

    reasons, failures = collections.Counter(), []
    schemas = texts = compared = 0
    for line in lines:
        sample = json.loads(line)
        if "error" in sample:
            found = re.search(r": '([^']+)' (?:is not|above)|'(oneOf|pattern|format|\$ref|\$id|type)'|(refers to itself|no text)", sample["error"])
            reasons[next(filter(None, found.groups())) if found else sample["error"]] += 1
            continue
        schemas += 1
        validator = schema_oracle.validator_of(sample["schema"])
        for text in sample["texts"]:
            texts += 1
            try:
                error = jsonschema.exceptions.best_match(validator.iter_errors(json.loads(text)))
                compared += 1
            except json.JSONDecodeError as problem:
                error = problem
            except ValueError:
                continue  # a pattern that Python cannot say
            if error:
                failures.append(f"{sample['name']}: {text[:300]}\n  {str(error).splitlines()[0][:300]}")
    print(f"{schemas} schemas supported, {compared} of {texts} texts validated, {len(failures)} of them not valid")
    print(f"{sum(reasons.values())} refused: " + ", ".join(f"{name} {count}" for name, count in reasons.most_common()))
    print("\n".join(failures[:20]))
    return 1 if failures or compared < 0.95 * texts or texts < 10 * schemas else 0


def main() -> int:
    if sys.argv[1] == "--check":
        return check(sys.stdin)
    python = sys.executable
    if importlib.util.find_spec("jsonschema") is None:
        spec = importlib.util.spec_from_file_location("run_clients", CLIENTS)
        clients = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(clients)
        folder, reason = clients.environment()
        if reason:
            print(f"FIRESTEEL-SKIP: {reason}")
            return 0
        python = folder / "bin/python"
    walks = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True).stdout
    return subprocess.run([python, "-B", __file__, "--check"], input=walks).returncode


if __name__ == "__main__":
    sys.exit(main())
