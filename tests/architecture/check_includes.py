#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads every #include of the tree and fails on a direction that the architecture forbids.

Dependencies point one way: qml -> app -> engine/api -> engine -> kernels. Run by CTest ("architecture: includes");
tst_checks.py shows that it finds what it must find.
"""

import argparse
import pathlib
import re
import sys

from tree import source_files

INCLUDE = re.compile(r'^\s*#\s*include\s*(?P<open>["<])(?P<path>[^">]+)[">]', re.MULTILINE)
SUFFIXES = (".cpp", ".h", ".cu", ".cuh")
QT = re.compile(r"^(Q[A-Za-z0-9]*|Qt[A-Za-z0-9]*/.*|qt6keychain/.*|KSyntaxHighlighting/.*|q[a-z_]+\.h)$")
CUDA = re.compile(r"^(cuda|cublas|nvml|cooperative_groups|nv/)")

# Folder of the including file -> folders of ours it may include. The longest matching prefix counts.
ALLOWED = {
    "kernels": ("kernels",),
    "engine/api": ("engine/api",),
    "engine": ("engine", "kernels"),
    "app": ("app", "engine/api"),
    # The composition root: it alone brings the window up.
    "app/main.cpp": ("app", "qml", "engine/api"),
    "qml": ("qml", "app"),
    "tests": ("tests", "qml", "app", "engine", "kernels"),
    "tests/app": ("tests/app", "tests/support", "app", "engine/api"),
    "tests/qml": ("tests/qml", "tests/app", "tests/support", "qml", "app", "engine/api"),
    "tests/kernels": ("tests/kernels", "tests/support", "kernels"),
}
# Two equal clients of engine/api that must not know each other.
STRANGERS = (("app/chat", "app/api"), ("app/api", "app/chat"))
# Only these know Qt, or a library that one folder wraps for all others.
NO_QT = ("kernels", "engine", "tests/engine", "tests/kernels", "tests/support", "tests/fuzz")
# The application on a scripted engine, beside the script and the engine that the engine's tests use too.
MAY_QT = ("tests/support/offline_main.cpp",)
ONLY_IN = {"KSyntaxHighlighting/": ("app/markdown", "tests/app"), "md4c": ("app/markdown", "tests/app")}
NO_CUDA_HEADERS = ("engine", "app", "qml")
OUR_FOLDERS = ("app", "qml", "engine", "kernels", "tests", "resources", "installer")


def within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def allowed_for(path: str) -> tuple[str, ...]:
    matches = [folder for folder in ALLOWED if within(path, folder)]
    return ALLOWED[max(matches, key=len)] if matches else ()


def fault(root: pathlib.Path, path: str, included: str, quoted: bool) -> str | None:
    """Why this include is forbidden, or nothing."""
    if ".." in included.split("/"):
        return "is relative; include by the path from the tree's root"
    ours = included.split("/")[0] in OUR_FOLDERS and (root / included).is_file()
    if ours:
        if not any(within(included, folder) for folder in allowed_for(path)):
            return "points against the direction qml -> app -> engine/api -> engine -> kernels"
        if any(within(path, one) and within(included, other) for one, other in STRANGERS):
            return "joins app/chat and app/api, which must not know each other"
        return None
    if quoted and included.split("/")[0] in OUR_FOLDERS and not included.endswith(".moc"):
        return "names no file of the tree"
    if quoted and ((root / path).parent / included).is_file():
        return "is relative; include by the path from the tree's root"
    if QT.match(included) and path not in MAY_QT and any(within(path, folder) for folder in NO_QT):
        return "brings Qt into a part that is built without it"
    if CUDA.match(included) and any(within(path, folder) for folder in NO_CUDA_HEADERS):
        return "brings CUDA's headers above kernels"
    for prefix, folders in ONLY_IN.items():
        if included.startswith(prefix) and not any(within(path, folder) for folder in folders):
            return f"belongs to {folders[0]} alone"
    return None


def faults(root: pathlib.Path) -> tuple[list[str], int]:
    found, count = [], 0
    for path in source_files(root, SUFFIXES):
        text = (root / path).read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            count += 1
            why = fault(root, path, match["path"], match["open"] == '"')
            if why:
                line = text.count("\n", 0, match.start("path")) + 1
                found.append(f"{path}:{line}: #include of {match['path']} {why}")
    return found, count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    found, count = faults(parser.parse_args().root)
    print("\n".join(found) if found else f"{count} includes, all in the allowed direction")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
