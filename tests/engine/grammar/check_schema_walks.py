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

# Python's re and ECMA-262 mean different characters by these.
SPACE = "\\t-\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": SPACE}
LITERALS = {"t": "\\t", "n": "\\n", "v": "\\v", "f": "\\f", "r": "\\r", "0": "\\x00"}
TOKEN = re.compile(r"\\u\{([0-9A-Fa-f]+)\}|\\u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})|\\c(.)|\\(.)|(\(\?<(?=\w))|(.)",
                   re.DOTALL)


def python_pattern(pattern: str) -> str:
    """The same pattern for Python's re; ValueError where there is no short way to say it."""
    written, in_class = "", False
    for code, high, low, control, escaped, group, plain in TOKEN.findall(pattern):
        if code:
            written += re.escape(chr(int(code, 16)))
        elif high:
            written += chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
        elif control:
            written += f"\\x{ord(control) & 31:02x}"
        elif escaped in CLASSES:
            written += CLASSES[escaped] if in_class else f"[{CLASSES[escaped]}]"
        elif escaped.lower() in CLASSES:
            if in_class:
                raise ValueError(pattern)
            written += f"[^{CLASSES[escaped.lower()]}]"
        elif escaped:
            written += LITERALS.get(escaped, "\\" + escaped)
        elif group:
            written += "(?P<"
        elif plain == "$" and not in_class:
            written += "\\Z"
        elif plain == "." and not in_class:
            written += "[^\\n\\r\\u2028\\u2029]"
        else:
            in_class = plain == "[" or in_class and plain != "]"
            written += plain
    return written


def check(lines) -> int:
    import jsonschema
    from jsonschema import Draft202012Validator as Draft

    def pattern(validator, value, instance, schema):
        if validator.is_type(instance, "string") and not re.search(python_pattern(value), instance):
            yield jsonschema.ValidationError(f"{instance!r} does not match {value!r}")

    Validator = jsonschema.validators.extend(Draft, {"pattern": pattern})
    checker = jsonschema.FormatChecker(formats=["date", "email", "ipv4", "ipv6", "uuid"])
    reasons, failures = collections.Counter(), []
    schemas = texts = compared = 0
    for line in lines:
        sample = json.loads(line)
        if "error" in sample:
            found = re.search(r": '([^']+)' (?:is not|above)|'(oneOf|pattern|format|\$ref|\$id|type)'|(refers to itself|no text)", sample["error"])
            reasons[next(filter(None, found.groups())) if found else sample["error"]] += 1
            continue
        schemas += 1
        validator = Validator(sample["schema"], format_checker=checker)
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
