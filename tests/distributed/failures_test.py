"""Ranks that die, fall behind, disagree or are started again: errors in time, and nothing left."""

from __future__ import annotations

import json
import pathlib
import pickle
import signal
import subprocess
import sys

from absl.testing import absltest

from tests.distributed import processes

PROGRAMS = pathlib.Path(__file__).with_name("failures.py")


class FailuresTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.before = processes.shared_memory()

    def tearDown(self) -> None:
        super().tearDown()
        self.assertEqual(processes.shared_memory() - self.before, set())

    def test_survivors_of_a_killed_rank_get_an_error(self) -> None:
        outcomes = processes.run(PROGRAMS, "dies", 2, extra={"TORCH_NCCL_BLOCKING_WAIT": "1"})
        text = processes.describe(outcomes)
        self.assertEqual(outcomes[1].code, -signal.SIGKILL, text)
        self.assertEqual(outcomes[0].code, 3, text)
        self.assertRegex(outcomes[0].out, r"joined\n\w*Error after \d+ s")

    def test_the_watchdog_ends_a_survivor_that_waits_for_nothing(self) -> None:
        outcomes = processes.run(PROGRAMS, "dies", 2)
        text = processes.describe(outcomes)
        self.assertEqual(outcomes[1].code, -signal.SIGKILL, text)
        # Either the error reaches it first, or the watchdog ends the process.
        self.assertIn(outcomes[0].code, (3, -signal.SIGABRT), text)
        self.assertNotIn("nothing happened", outcomes[0].out)

    def test_a_collective_that_one_leaves_out_is_in_the_flight_recorder(self) -> None:
        folder = self.create_tempdir().full_path
        outcomes = processes.run(
            PROGRAMS,
            "falls_behind",
            2,
            extra={
                "TORCH_NCCL_TRACE_BUFFER_SIZE": "100",
                "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
                "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": f"{folder}/trace_",
                "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC": "60",
            },
        )
        text = processes.describe(outcomes)
        self.assertEqual(outcomes[0].code, -signal.SIGABRT, text)
        with pathlib.Path(folder, "trace_0").open("rb") as dump:
            trace = pickle.load(dump)
        first, second = trace["entries"][:2]
        self.assertEqual(
            (first["profiling_name"], first["state"]), ("nccl:all_reduce", "completed")
        )
        self.assertEqual(second["input_sizes"], [[3]])
        self.assertNotEqual(second["state"], "completed")
        self.assertTrue(any("falls_behind" in frame["name"] for frame in second["frames"]), second)

    def test_collectives_that_do_not_agree(self) -> None:
        outcomes = processes.run(
            PROGRAMS, "does_not_agree", 2, extra={"TORCH_DISTRIBUTED_DEBUG": "DETAIL"}
        )
        text = processes.describe(outcomes)
        for outcome in outcomes:
            self.assertEqual(outcome.code, 3, text)
            self.assertIn("Detected mismatch between collectives on ranks", outcome.out, text)

    def test_groups_one_after_another_and_a_process_that_leaves_the_last_behind(self) -> None:
        outcomes = processes.run(PROGRAMS, "lives_again", 2)
        text = processes.describe(outcomes)
        for outcome in outcomes:
            self.assertEqual((outcome.code, outcome.out), (0, "joined\n" * 3 + "ended\n"), text)

    def test_torchrun_starts_a_failed_group_again(self) -> None:
        done = subprocess.run(
            [
                sys.executable,
                *("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"),
                *("--max-restarts", "1", str(PROGRAMS), "restarted"),
            ],
            # A store of its own for each life: docs/distributed.md.
            env=processes.environment(2, {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}),
            capture_output=True,
            text=True,
            timeout=processes.DEADLINE,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertCountEqual(
            done.stdout.splitlines(),
            ["rank 0 in life 1: 4.0", "rank 1 in life 1: 4.0"],
            done.stderr,
        )

    def test_flight_recorder_as_json(self) -> None:
        import torch

        dump = vars(torch._C._distributed_c10d)["_dump_nccl_trace_json"]
        self.assertNotEmpty(json.loads(dump())["version"])


if __name__ == "__main__":
    absltest.main()
