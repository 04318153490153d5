"""functions.json: what tests notice when a function of a drop-in library answers wrongly (mutants/measure.py)."""

from __future__ import annotations

import json
from collections.abc import Mapping

NOTHING = "nothing"
"""The function does nothing and says that it went well."""

ERROR = "error"
"""The function does its work and says that it failed."""

MUTATIONS = (ERROR, NOTHING)

Answers = dict[str, dict[str, list[str]]]
"""By function, by the label of each test that calls it, the mutations that the test notices."""


def render(answers: Mapping[str, Mapping[str, list[str]]]) -> str:
    """The file's text: one line a function, so that a change of one is a change of a line."""
    lines = (
        f"{json.dumps(name)}: " + json.dumps({test: sorted(of[test]) for test in sorted(of)})
        for name, of in sorted(answers.items())
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def noticing(answers: Mapping[str, Mapping[str, list[str]]], name: str, mutation: str) -> list[str]:
    """The tests that notice one mutation of a function, sorted."""
    return sorted(test for test, kinds in answers.get(name, {}).items() if mutation in kinds)
