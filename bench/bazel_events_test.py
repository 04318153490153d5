"""Tests of bazel_events.py on small files of the kind Bazel 7 writes."""

from __future__ import annotations

import gzip
import json
import pathlib
from typing import Any

from absl.testing import absltest

from bench import bazel_events


def _event(category: str, start: int, length: int, tid: int, **more: Any) -> dict[str, Any]:
    times = {"ph": "X", "ts": start, "dur": length, "tid": tid}
    return {"cat": category, "name": "CppCompile", **times, **more}


def _action(start: int, length: int, tid: int, target: str) -> dict[str, Any]:
    arguments = {"target": target, "mnemonic": "CppCompile"}
    return _event("action processing", start, length, tid, args=arguments, out=f"{target}.o")


PROFILE = {
    "traceEvents": [
        {"name": "thread_name", "ph": "M", "tid": 1},
        _action(0, 4_000_000, 1, "//c10_cuda:a"),
        _action(1_000, 9_000_000, 2, "//aten_cuda:b"),
        _action(5_000_000, 1_000_000, 1, "//c10_cuda:c"),
        # From a cache: no process.
        _action(7_000_000, 1_000, 1, "//c10_cuda:cached"),
        _event("Local execution process wall time", 2_000, 3_000_000, 2),
        _event("Local execution process wall time", 5_000_100, 500_000, 1),
        _event("Local execution process wall time", 500_000, 2_500_000, 1),
    ]
}

EVENTS = [
    {"id": {"started": {}}},
    {
        "id": {"buildMetrics": {}},
        "buildMetrics": {
            "actionSummary": {
                "actionData": [
                    {
                        "mnemonic": "CppCompile",
                        "actionsExecuted": "3",
                        "userTime": "2.500s",
                        "systemTime": "0.5s",
                    },
                    {"mnemonic": "FileWrite", "actionsExecuted": "1"},
                ]
            },
            "timingMetrics": {"wallTimeInMs": "4500"},
        },
    },
]


class BazelEventsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)

    def _write(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        data = text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    def _build(self) -> bazel_events.Build:
        lines = "\n".join(json.dumps(event) for event in EVENTS)
        return bazel_events.read_build(self._write("events.json", lines))

    def test_process_belongs_to_the_action_of_its_thread(self) -> None:
        for name in ("profile.json", "profile.json.gz"):
            processes = bazel_events.read_profile(self._write(name, json.dumps(PROFILE)))
            self.assertEqual(
                {process.target: process.seconds for process in processes},
                {"//c10_cuda:a": 2.5, "//aten_cuda:b": 3.0, "//c10_cuda:c": 0.5},
            )

    def test_profile_without_targets_is_refused(self) -> None:
        process = _event("Local execution process wall time", 0, 1, 1)
        path = self._write("profile.json", json.dumps({"traceEvents": [process]}))
        with self.assertRaisesRegex(ValueError, "--experimental_profile_include_target_label"):
            bazel_events.read_profile(path)

    def test_kinds_of_actions(self) -> None:
        build = self._build()
        self.assertEqual(build.seconds, 4.5)
        self.assertEqual(build.kinds["CppCompile"], bazel_events.Kind(3, 3.0))
        self.assertEqual(build.kinds["FileWrite"], bazel_events.Kind(1, 0.0))

    def test_build_that_was_interrupted_is_refused(self) -> None:
        path = self._write("events.json", json.dumps(EVENTS[0]))
        with self.assertRaisesRegex(ValueError, "did not come to its end"):
            bazel_events.read_build(path)

    def test_cpu_time_is_spread_by_wall_time(self) -> None:
        processes = bazel_events.read_profile(self._write("p.json", json.dumps(PROFILE)))
        cpu = bazel_events.cpu_seconds(processes, self._build())
        by_target = {process.target: seconds for process, seconds in cpu.items()}
        self.assertEqual(
            by_target, {"//c10_cuda:a": 1.25, "//aten_cuda:b": 1.5, "//c10_cuda:c": 0.25}
        )


if __name__ == "__main__":
    absltest.main()
