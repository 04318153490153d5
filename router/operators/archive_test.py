"""Tests of archive.py: names and bytes that do not depend on where and when it runs."""

from __future__ import annotations

import os
import pathlib
import zipfile

from absl.testing import absltest

from router.operators import archive


class ArchiveTest(absltest.TestCase):
    def test_generated_files_lie_beside_others(self) -> None:
        root = pathlib.Path(self.create_tempdir().full_path)
        files = [
            "router/operators/b.h",
            "bazel-out/k8-opt/bin/router/operators/units/u.cpp",
        ]
        for file in files:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(file)
        os.chdir(root)
        archive.pack("one.zip", files)
        os.utime(files[0], (1, 1))
        archive.pack("two.zip", list(reversed(files)))
        self.assertEqual((root / "one.zip").read_bytes(), (root / "two.zip").read_bytes())
        with zipfile.ZipFile("one.zip") as packed:
            self.assertEqual(
                {name: packed.read(name).decode() for name in packed.namelist()},
                {files[0]: files[0], "router/operators/units/u.cpp": files[1]},
            )


if __name__ == "__main__":
    absltest.main()
