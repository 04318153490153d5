"""The rows of torchada's README, each with a CUDA program that runs unmodified on the stand-in.

The table that it writes is docs/coverage/adapter-rows.md.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from typing import Any

from absl.testing import absltest

_HERE = pathlib.Path(__file__).parent
_TABLE = _HERE.parents[1] / "docs" / "coverage" / "adapter-rows.md"
_DEADLINE_S = 600

_HEAD = """# The rows of torchada's README

What torchada's README lists under "What Works", in English (0.1.103) and in Chinese, and the program in
`adapter/tests/programs` that runs unmodified on the stand-in. `adapter/tests/rows_test.py` runs the programs and writes
this table.

| row | Chinese row | program | result |
|---|---|---|---|
"""


def _run(program: str, environment: Mapping[str, str]) -> tuple[int, str]:
    with tempfile.TemporaryDirectory() as folder:
        finished = subprocess.run(
            [
                sys.executable,
                "-m",
                "torch_cuda_adapter",
                "--platform",
                "stand-in",
                _HERE / "programs" / program,
            ],
            env={
                **os.environ,
                "TEST_TMPDIR": folder,
                "TORCHINDUCTOR_CACHE_DIR": folder,
                "TORCH_EXTENSIONS_DIR": folder,
                "TORCH_STAND_IN_DEVICE": "count=2,memory=1G",
                "TORCH_CUDA_DISABLE": "1",
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_DEADLINE_S,
            check=False,
        )
    return finished.returncode, finished.stdout


class RowsTest(absltest.TestCase):
    def test_programs_of_all_rows_run(self) -> None:
        rows: list[dict[str, Any]] = tomllib.loads((_HERE / "rows.toml").read_text())["rows"]
        lines = []
        for row in rows:
            with self.subTest(row["english"]):
                if "by_hand" in row:
                    self._check_named(row)
                    cells = [f"`{row['program']}`", f"runs (by hand: `{row['by_hand']}`)"]
                else:
                    code, output = _run(row["program"], row.get("environment", {}))
                    cells = [f"`{row['program']}`", "runs" if code == 0 else "fails"]
                    self.assertEqual(code, 0, f"{row['program']}: {output}")
                lines.append(" | ".join([row["english"], row.get("chinese", ""), *cells]))
        table = _HEAD + "".join(f"| {line} |\n" for line in lines)
        outputs = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")
        if outputs:
            pathlib.Path(outputs, "adapter-rows.md").write_text(table)
        self.assertEqual(
            table,
            _TABLE.read_text(),
            "copy adapter-rows.md of this test's outputs into docs/coverage/",
        )

    def _check_named(self, row: dict[str, Any]) -> None:
        """That another test runs a row's program."""
        package, _, name = row["by_hand"].removeprefix("//").partition(":")
        self.assertEqual(_HERE.parents[1] / package, _HERE)
        self.assertIn(f'name = "{name}"', (_HERE / "BUILD.bazel").read_text())
        self.assertIn(f'"{row["program"]}"', (_HERE / f"{name}.py").read_text())

    def test_every_program_has_a_row(self) -> None:
        rows = tomllib.loads((_HERE / "rows.toml").read_text())["rows"]
        named = {row["program"] for row in rows}
        self.assertEqual(
            named, {path.name for path in (_HERE / "programs").glob("[a-z]*.py")} - _OTHERS
        )


# Programs of other tests.
_OTHERS = {"cnn.py"}

if __name__ == "__main__":
    absltest.main()
