#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks every file of the tree against the conventions a machine can check: licence line, length, words that belong elsewhere.

Run by CTest ("architecture: files"); tst_checks.py shows that it finds what it must find.
"""

import argparse
import pathlib
import re
import sys

from tree import files

LICENCE = "SPDX-License-Identifier: MIT"
LICENSED = (".cpp", ".h", ".cu", ".cuh", ".qml", ".js", ".py", ".sh", ".cmake", "CMakeLists.txt")
LICENSED += (".clang-format", ".clang-tidy", ".qmllint.ini")
CEILINGS = {".cpp": 600, ".h": 600, ".cu": 600, ".cuh": 600, ".qml": 300, ".py": 600, ".sh": 600, "README.md": 200}
TEXT = LICENSED + (".md", ".txt", ".json", ".in", ".desktop")
# Generated tables have no reader.
NO_CEILING = re.compile(r"_table\.(h|cpp)$")
# Paths of somebody's machine, and hosts that only their owner's configuration may name.
FORBIDDEN = (
    (re.compile(r"(?<![\w.}\-])/(work|home/\w+)/"), "a path of one machine"),
    (re.compile(r"https?://[\w.-]*(debian|ubuntu|pypi|pythonhosted)[\w.-]*"), "a package registry's host"),
)


def is_script(root: pathlib.Path, path: str) -> bool:
    if "." in pathlib.Path(path).name and not path.endswith((".sh", ".py")):
        return False
    with (root / path).open("rb") as file:
        return file.read(2) == b"#!"


def faults_of(root: pathlib.Path, path: str) -> list[str]:
    script = is_script(root, path)
    if not script and not path.endswith(TEXT):
        return []
    try:
        lines = (root / path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return [f"{path}: is not UTF-8"]
    found = []
    first = lines[1:2] if script else lines[:1]
    if (script or path.endswith(LICENSED)) and not (first and LICENCE in first[0]):
        found.append(f"{path}:{2 if script else 1}: lacks the line '{LICENCE}'")
    ceiling = next((limit for suffix, limit in CEILINGS.items() if path.endswith(suffix)), 600 if script else None)
    if ceiling and len(lines) > ceiling and not NO_CEILING.search(path):
        found.append(f"{path}: has {len(lines)} lines; the ceiling is {ceiling}")
    for number, line in enumerate(lines, 1):
        found += [f"{path}:{number}: names {what}" for pattern, what in FORBIDDEN if pattern.search(line)]
    return found


def faults(root: pathlib.Path) -> tuple[list[str], int]:
    paths = files(root)
    return [fault for path in paths for fault in faults_of(root, path)], len(paths)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    found, count = faults(parser.parse_args().root)
    print("\n".join(found) if found else f"{count} files keep the conventions")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
