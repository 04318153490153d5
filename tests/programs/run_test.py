"""Which records a run goes on from, and when it writes files of the tree."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from unittest import mock

from absl.testing import absltest

from tests.programs import results, run

_OPERATORS = "tests/programs/operators.txt"
_PAGE = "docs/results/programs.md"


class RunTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        for file in (_OPERATORS, _PAGE):
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
        self.built = self.folder / "registrations.json"
        every = {"CUDA": [known.operator for known in _listed().values() if known.operator]}
        self.built.write_text(json.dumps(every), encoding="utf-8")
        self.started: list[str] = []

    def program(self, command: list[str], **_: object) -> mock.Mock:
        """Stands for program.py: passes, or calls `aten::add`, or fails as it is listed."""
        (record,) = [
            part.removeprefix("--record=") for part in command if part.startswith("--record=")
        ]
        name = command[3]
        self.started.append(name)
        outcome: dict[str, object] = {"reasons": [], "seconds": 0.0}
        if "--operators" in command:
            outcome["operators"] = ["aten::add"]
        elif (known := _listed().get(name)) and not known.operator:
            outcome["reasons"] = [known.message]
        pathlib.Path(record).write_text(json.dumps(outcome), encoding="utf-8")
        return mock.Mock(returncode=0)

    def run_it(self, *arguments: str, profile: str = "models") -> int:
        """Runs all programs, with records; returns how many were started."""
        self.started.clear()
        environment = {
            "BUILD_WORKSPACE_DIRECTORY": str(self.folder),
            "BUILD_WORKING_DIRECTORY": str(self.folder),
        }
        with (
            mock.patch.dict(os.environ, environment),
            mock.patch.object(subprocess, "run", self.program),
        ):
            built = f"--built={self.built}"
            status = run.main([built, f"--profile={profile}", "--record=records", *arguments])
        self.assertEqual(status, 0)
        return len(self.started)

    def test_it_goes_on_from_what_was_recorded(self) -> None:
        self.assertLen(run.names(), self.run_it())
        self.assertEqual(self.run_it(), 0)

    def test_records_of_another_kind_are_not_taken(self) -> None:
        programs = len(run.names())
        self.assertEqual(self.run_it(), programs)
        self.assertEqual(self.run_it("--operators"), programs)
        called = (self.folder / _OPERATORS).read_text(encoding="utf-8")
        self.assertStartsWith(called, f"aten::add: {run.names()[0]} ")
        self.assertEqual(self.run_it(profile="a profile of its own"), programs)
        self.assertEqual(self.run_it("--device=cuda:1"), programs)

    def test_what_ran_elsewhere_is_not_written_down(self) -> None:
        self.run_it("--device=cpu")
        self.assertFalse((self.folder / _PAGE).exists())
        self.run_it()
        self.assertTrue((self.folder / _PAGE).exists())

    def test_the_page_is_the_one_that_is_named(self) -> None:
        self.run_it("--page=docs/results/programs-stock.md", profile="torch 1.2.3 from PyPI")
        self.assertFalse((self.folder / _PAGE).exists())
        written = self.folder / "docs/results/programs-stock.md"
        self.assertIn("torch 1.2.3 from PyPI", written.read_text(encoding="utf-8"))


def _listed() -> dict[str, results.Known]:
    return results.read_known((run.HERE / "known.toml").read_text(encoding="utf-8"))


if __name__ == "__main__":
    absltest.main()
