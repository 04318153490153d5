"""The program on each device, without a page: losses are the CPU's, and everybody says who serves."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from examples.devices import targets
from examples.devices.runs import Runs

_TRAIN = pathlib.Path(targets.__file__).with_name("train.py")


class DevicesTest(absltest.TestCase):
    def test_all_that_is_installed_trains_alike(self) -> None:
        found = targets.find([])
        self.assertContainsSubset({"cpu", "fake", "sim"}, {target.name for target in found})
        runs = Runs([str(_TRAIN), "--steps", "6"], found, at_once=2)
        runs.start()
        runs.wait()
        states = {state["name"]: state for state in runs.snapshot()}
        for name, state in states.items():
            self.assertEqual(state["status"], "done", name)
            self.assertLen(state["losses"], 6)
            self.assertIn("aten::convolution_backward", state["operators"])
        self.assertEqual(states["fake"]["losses"], states["cpu"]["losses"])
        for ours, wanted in zip(states["sim"]["losses"], states["cpu"]["losses"], strict=True):
            self.assertAlmostEqual(ours, wanted, delta=1e-4)
        servers = {
            name: state["servers"]["aten::convolution_backward"] for name, state in states.items()
        }
        self.assertEqual(
            {name: servers[name] for name in ("cpu", "fake", "sim")},
            {"cpu": "cpu", "fake": "host", "sim": "upstream"},
        )
        self.assertTrue(any(lane.startswith("stream") for lane in states["sim"]["lanes"]))

    def test_a_program_that_fails_says_why(self) -> None:
        broken = pathlib.Path(
            self.create_tempfile("broken.py", "raise ValueError('too bad')").full_path
        )
        runs = Runs([str(broken)], [targets.CPU], at_once=1)
        runs.start()
        runs.wait()
        (state,) = runs.snapshot()
        self.assertEqual(state["status"], "ValueError: too bad")

    def test_a_device_that_is_not_there(self) -> None:
        runs = Runs([str(_TRAIN)], [targets.find(["/nowhere/libaccel_x.so"])[-1]], at_once=1)
        runs.start()
        runs.wait()
        (state,) = runs.snapshot()
        self.assertEqual(state["name"], "x")
        self.assertNotIn(state["status"], ("waiting", "running", "done"))


if __name__ == "__main__":
    absltest.main()
