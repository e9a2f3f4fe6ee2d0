#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that what the documents put in backticks exists: paths in the tree, types, functions and constants in the sources, and
cases of a suite ("suite: case").

Run by CTest ("architecture: documents"); tst_checks.py shows that it finds what it must find. Decisions are history: not checked.
"""

import argparse
import pathlib
import re
import sys

from tree import files, source_files

SOURCES = (".cpp", ".h", ".qml", ".cu", ".cuh")
QUOTED = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"^[\w.-]+(/[\w.-]+)+/?$")
# Type, Type::member, kConstant, launchKernel, someFunction() - with any namespace before it.
NAME = re.compile(r"^(?:\w+::)*(?:[A-Z]\w*[a-z]\w*|k[A-Z]\w+|[a-z]+[A-Z]\w*)(?:::\w+)*(?:\(\))?$")


CASE = re.compile(r"^(tst_\w+): (\w+)$")


def documents(root: pathlib.Path) -> list[str]:
    return [path for path in files(root) if path == "README.md" or re.match(r"docs/[^/]+\.md$", path)]


def faults(root: pathlib.Path) -> tuple[list[str], int]:
    identifiers: set[str] = set()
    suites: dict[str, set[str]] = {}
    for path in source_files(root, SOURCES):
        words = set(re.findall(r"\w+", (root / path).read_text(encoding="utf-8")))
        identifiers.update(words)
        identifiers.add(pathlib.Path(path).stem)
        suites.setdefault(pathlib.Path(path).stem, set()).update(words)
    found = []
    checked = 0
    for document in documents(root):
        for number, line in enumerate((root / document).read_text(encoding="utf-8").splitlines(), 1):
            for quoted in QUOTED.findall(line):
                if PATH.match(quoted):
                    # A built program is named by its path in the build folder, and ../shared lies beside the checkout.
                    exists = quoted.startswith(("build/", "dist/", "..")) or (root / quoted).exists() or quoted.startswith("~")
                elif NAME.match(quoted):
                    exists = all(part in identifiers for part in re.findall(r"\w+", quoted) if part != "kernels")
                elif case := CASE.match(quoted):
                    exists = case[2] in suites.get(case[1], ())
                else:
                    continue
                checked += 1
                if not exists:
                    found.append(f"{document}:{number}: `{quoted}` is not in the tree")
    return found, checked


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    found, checked = faults(parser.parse_args().root)
    print("\n".join(found) if found else f"{checked} names and paths in the documents exist")
    return 1 if found or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
