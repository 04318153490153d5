"""What counts as a proof: which actions the first and the second build may run."""

from __future__ import annotations

import json

from absl.testing import absltest, parameterized

from tools.remote import loopback
from tools.remote.loopback import Build, ProofError


def events(*runners: tuple[str, int]) -> str:
    """A file of build events whose metrics name these runners."""
    counts = [{"name": name, "count": count} for name, count in runners]
    lines = [
        {"id": {"started": {}}, "started": {"command": "build"}},
        {"id": {"buildMetrics": {}}, "buildMetrics": {"actionSummary": {"runnerCount": counts}}},
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


class ActionsTest(absltest.TestCase):
    def test_bazels_own_actions_and_the_sum_are_left_out(self) -> None:
        text = events(("total", 9), ("remote cache hit", 4), ("internal", 2), ("local", 3))
        self.assertEqual(loopback.actions_of(text), {"remote cache hit": 4, "local": 3})

    def test_a_build_without_actions(self) -> None:
        self.assertEqual(loopback.actions_of(events()), {})


class CheckTest(parameterized.TestCase):
    @parameterized.parameters(("local", False), ("remote", True))
    def test_all_hits_after_the_expected_way(self, way: str, execution: bool) -> None:
        loopback.check(
            Build(9.0, {way: 3}), Build(1.0, {"remote cache hit": 3}), execution=execution
        )

    @parameterized.parameters(
        # Results that were there before.
        ({"local": 2, "remote cache hit": 1}, {"remote cache hit": 3}, False),
        # Ran here, as with --remote_local_fallback and a server that fails.
        ({"local": 3}, {"remote cache hit": 3}, True),
        ({"remote": 2, "local": 1}, {"remote cache hit": 3}, True),
        ({"local": 3}, {"local": 3}, False),
        ({"local": 3}, {"remote cache hit": 2, "local": 1}, False),
        # Fewer actions than before: they were not asked for again.
        ({"local": 3}, {"remote cache hit": 2}, False),
        ({}, {}, False),
    )
    def test_anything_else_is_no_proof(
        self, first: dict[str, int], second: dict[str, int], execution: bool
    ) -> None:
        with self.assertRaises(ProofError):
            loopback.check(Build(9.0, first), Build(1.0, second), execution=execution)


if __name__ == "__main__":
    absltest.main()
