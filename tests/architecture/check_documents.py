#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that what the documents put in backticks exists: paths in the tree, types, functions and constants in the sources, and
cases of a suite: "tst_suite: case" of Qt Test, "tst_suite:case of words" of doctest, which is how CTest calls it.

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


SUITE = re.compile(r"^tst_\w+$")
CASE = re.compile(r"^(tst_\w+): (.+)$")
ADD_SUITE = re.compile(r"firesteel_add_suite\((tst_\w+)([^)]*)\)")
DOCTEST = re.compile(r'TEST_CASE\w*\(\s*"((?:[^"\\]|\\.|"\s*")*)"')


def documents(root: pathlib.Path) -> list[str]:
    return [path for path in files(root) if path == "README.md" or re.match(r"docs/[^/]+\.md$", path)]


def faults(root: pathlib.Path) -> tuple[list[str], int]:
    identifiers: set[str] = set()
    suites: dict[str, set[str]] = {}  # functions of a file; cases of a doctest suite
    doctests: dict[str, set[str]] = {}  # by file
    for path in source_files(root, SOURCES):
        text = (root / path).read_text(encoding="utf-8")
        identifiers.update(re.findall(r"\w+", text))
        stem = pathlib.Path(path).stem
        identifiers.add(stem)
        suites.setdefault(stem, set()).update(re.findall(r"(\w+)\s*\(", text))
        doctests[path] = {re.sub(r'"\s*"', "", name) for name in DOCTEST.findall(text)}
    for path in source_files(root, ("CMakeLists.txt",)):
        for suite, arguments in ADD_SUITE.findall((root / path).read_text(encoding="utf-8")):
            folder = pathlib.PurePosixPath(path).parent
            for source in re.findall(r"\S+\.cpp", arguments):
                suites.setdefault(suite, set()).update(doctests.get(str(folder / source), ()))
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
                elif SUITE.match(quoted):
                    exists = quoted in suites
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
