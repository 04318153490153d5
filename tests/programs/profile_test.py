"""The profile `models` has the operators that the programs call (operators.txt)."""

from __future__ import annotations

import json
import os
from pathlib import Path

from absl.testing import absltest

_SRCDIR = Path(os.environ["TEST_SRCDIR"])


def _registered(variable: str) -> set[str]:
    """What is registered for CUDA, by the registrations.json that an environment variable names."""
    text = (_SRCDIR / os.environ[variable]).read_text(encoding="utf-8")
    return set(json.loads(text)["CUDA"])


def _called() -> set[str]:
    lines = (_SRCDIR / os.environ["OPERATORS"]).read_text(encoding="utf-8").splitlines()
    return {line.partition(": ")[0] for line in lines}


def _missing(profile: set[str], full: set[str]) -> set[str]:
    """What programs call that has a kernel for CUDA, and that a profile lacks.

    A structured operator is called by its functional name, and may have a kernel under another overload's alone.
    """

    def family(name: str) -> str:
        return name.partition(".")[0]

    missing = full - profile
    families = {family(name) for name in missing} - {family(name) for name in profile}
    return {name for name in _called() if name in missing or family(name) in families}


class ProfileTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.full = _registered("FULL_REGISTRATIONS")

    def test_models_has_what_programs_call(self) -> None:
        self.assertEqual(_missing(_registered("MODELS_REGISTRATIONS"), self.full), set())

    def test_core_has_not(self) -> None:
        missing = _missing(_registered("CORE_REGISTRATIONS"), self.full)
        # A structured operator, and one that is not.
        self.assertContainsSubset(
            {"aten::bitwise_left_shift.Scalar_Tensor", "aten::__lshift__.Scalar"}, missing
        )


if __name__ == "__main__":
    absltest.main()
