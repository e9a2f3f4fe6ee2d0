# SPDX-License-Identifier: MIT
"""Which files of the checkout the architecture checks read: ours, without build outputs and test data."""

import os
import pathlib

SKIPPED_FOLDERS = {".git", "build", "dist", ".cache", "__pycache__"}


def files(root: pathlib.Path) -> list[str]:
    """Paths from the tree's root, sorted."""
    result = []
    for folder, folders, names in os.walk(root):
        relative = pathlib.Path(folder).relative_to(root)
        folders[:] = [
            name
            for name in folders
            if name not in SKIPPED_FOLDERS
            and not name.startswith("build-")
            and (relative / name).as_posix() != "tests/data"
        ]
        result += [(relative / name).as_posix() for name in names]
    return sorted(result)


def source_files(root: pathlib.Path, suffixes: tuple[str, ...]) -> list[str]:
    return [path for path in files(root) if path.endswith(suffixes)]
