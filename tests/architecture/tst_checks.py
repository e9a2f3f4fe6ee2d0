#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plants faults in a small tree of its own and expects the checks to find each, and nothing else."""

import pathlib
import tempfile
import unittest

import check_documents
import check_files
import check_includes

LICENCE = "// SPDX-License-Identifier: MIT\n"
HEADERS = (
    "engine/api/engine.h",
    "engine/model/model.h",
    "kernels/moe/moe.h",
    "app/chat/chat.h",
    "app/api/server.h",
    "qml/window.h",
    "tests/support/paths.h",
)


class PlantedTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for header in HEADERS:
            self.plant(header, "#pragma once\n")

    def plant(self, path: str, text: str, licence: str = LICENCE):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(licence + text, encoding="utf-8")


class Includes(PlantedTree):
    FORBIDDEN = (
        ("kernels/moe/moe.cpp", '"engine/model/model.h"'),
        ("kernels/moe/moe.cpp", "<QString>"),
        ("engine/model/model.cpp", '"app/chat/chat.h"'),
        ("engine/model/model.cpp", "<QtCore/QString>"),
        ("engine/model/model.cpp", "<cuda_runtime.h>"),
        ("engine/model/model.cpp", '"model.h"'),
        ("engine/model/model.cpp", '"../model/model.h"'),
        ("engine/model/model.cpp", '"engine/model/absent.h"'),
        ("engine/api/engine.cpp", '"engine/model/model.h"'),
        ("engine/model/model.cpp", '"tests/support/paths.h"'),
        ("app/main.cpp", '"engine/model/model.h"'),
        ("app/main.cpp", '"kernels/moe/moe.h"'),
        ("app/chat/chat.cpp", '"qml/window.h"'),
        ("app/chat/chat.cpp", '"app/api/server.h"'),
        ("app/api/server.cpp", '"app/chat/chat.h"'),
        ("app/chat/chat.cpp", "<KSyntaxHighlighting/Repository>"),
        ("tests/engine/model/tst_model.cpp", "<QTest>"),
        ("tests/app/tst_chat.cpp", '"engine/model/model.h"'),
    )
    ALLOWED = (
        ("kernels/moe/moe.cpp", '"kernels/moe/moe.h"'),
        ("kernels/moe/moe.cu", "<cuda_runtime.h>"),
        ("engine/model/model.cpp", '"kernels/moe/moe.h"'),
        ("engine/model/model.cpp", "<queue>"),
        ("app/main.cpp", '"app/chat/chat.h"'),
        ("app/main.cpp", '"qml/window.h"'),
        ("app/chat/chat.cpp", '"engine/api/engine.h"'),
        ("app/chat/chat.cpp", "<QString>"),
        ("app/markdown/highlighter.cpp", "<KSyntaxHighlighting/Repository>"),
        ("tests/engine/model/tst_model.cpp", '"doctest/doctest.h"'),
        ("tests/engine/model/tst_model.cpp", '"tests/support/paths.h"'),
        ("tests/app/tst_chat.cpp", '"tst_chat.moc"'),
    )

    def test_finds_each_forbidden_include(self):
        for path, included in self.FORBIDDEN:
            with self.subTest(path=path, included=included):
                self.plant(path, f"#include {included}\n")
                found, _ = check_includes.faults(self.root)
                (self.root / path).unlink()
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith(f"{path}:2: "), found)

    def test_accepts_the_allowed_directions(self):
        for path, included in self.ALLOWED:
            self.plant(path, f"#include {included}\n")
        found, count = check_includes.faults(self.root)
        self.assertEqual(found, [])
        self.assertGreaterEqual(count, 7)


class Files(PlantedTree):
    def faults(self):
        return check_files.faults(self.root)[0]

    def test_accepts_a_clean_tree(self):
        self.plant("installer/dev", "# SPDX-License-Identifier: MIT\n", "#!/bin/sh\n")
        self.assertEqual(self.faults(), [])

    def test_finds_a_missing_licence_line(self):
        self.plant("engine/model/model.cpp", "int x;\n", licence="")
        self.plant("installer/dev", "echo\n", licence="#!/bin/sh\n")
        self.assertEqual(len(self.faults()), 2)

    def test_finds_a_file_past_its_ceiling(self):
        self.plant("engine/model/model.cpp", "\n" * 600)
        self.plant("qml/Main.qml", "\n" * 300)
        self.plant("engine/model/unicode_table.cpp", "\n" * 5000)
        self.assertEqual(len(self.faults()), 2)

    def test_finds_paths_of_one_machine_and_registry_hosts(self):
        self.plant("docs/a.md", "see " + "/".join(["", "work", "notes.md"]) + "\n", licence="")
        self.plant("docs/b.md", "https:" + "//deb." + "debian.org/debian\n", licence="")
        self.plant("docs/c.md", "build/work/here, ../work/ and ${x}/work/ are fine\n", licence="")
        self.assertEqual(len(self.faults()), 2)

    def test_leaves_build_outputs_and_test_data_alone(self):
        self.plant("build/dev/a.cpp", "int x;\n", licence="")
        self.plant("tests/data/set/a.cpp", "int x;\n", licence="")
        self.assertEqual(self.faults(), [])


class Documents(PlantedTree):
    def test_finds_names_and_paths_that_do_not_exist(self):
        self.plant("engine/model/model.h", "struct Model { void decode(); };\nvoid launchMoe();\n")
        self.plant("docs/a.md", "`Model::decode`, `launchMoe`, `engine/model/model.h`, `x = 1`, `json`\n", licence="")
        self.assertEqual(check_documents.faults(self.root), ([], 3))
        self.plant("docs/b.md", "`Modell`, `Model::encode`, `launchKda`, `engine/modell.h`\n", licence="")
        self.plant("docs/decisions/1.md", "`GoneLongAgo`\n", licence="")
        self.assertEqual(len(check_documents.faults(self.root)[0]), 4)

    def test_finds_cases_that_no_suite_has(self):
        self.plant("tests/app/tst_a.cpp", "void keepsIt();\n")
        self.plant("docs/a.md", "`tst_a: keepsIt`, `tst_a: losesIt`, `tst_b: keepsIt`\n", licence="")
        found, checked = check_documents.faults(self.root)
        self.assertEqual((len(found), checked), (2, 3))
        # A word of the file is no case of it.
        self.plant("tests/app/tst_a.cpp", "void keepsIt(); // losesIt\n")
        self.assertEqual(len(check_documents.faults(self.root)[0]), 2)

    def test_finds_cases_that_no_doctest_suite_has(self):
        self.plant("tests/engine/serve/tst_load.cpp", 'TEST_CASE("a load "\n          "ends") { }\n')
        self.plant("tests/engine/serve/CMakeLists.txt", "firesteel_add_suite(tst_serve SOURCES\n tst_load.cpp LABEL unit)\n")
        self.plant("docs/a.md", "`tst_serve: a load ends`, `tst_serve: a load begins`, `tst_load: a load ends`, `tst_load`, `tst_gone`\n", licence="")
        found, checked = check_documents.faults(self.root)
        self.assertEqual((len(found), checked), (3, 5))


if __name__ == "__main__":
    unittest.main()
