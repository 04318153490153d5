"""A rank is killed at a random moment: every survivor gets an error in time, and nothing stays behind.

DISTRIBUTED_TEST_KILLS says how many times (default 4), DISTRIBUTED_TEST_SEED which moments.
"""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time

from absl.testing import absltest

from tests.distributed import kills, processes

PROGRAM = pathlib.Path(__file__).with_name("kills.py")
ROUNDS = int(os.environ.get("DISTRIBUTED_TEST_KILLS", "4"))


class KillsTest(absltest.TestCase):
    """Many rounds in one process, which forks the ranks."""

    def test_survivors_get_errors_and_nothing_stays(self) -> None:
        seed = int(os.environ.get("DISTRIBUTED_TEST_SEED", time.time_ns() % 10**6))
        before = processes.shared_memory()
        done = subprocess.run(
            [sys.executable, str(PROGRAM), str(ROUNDS), str(seed)],
            # NCCL waits for ever for a rank that never comes; the simulated one has a setting.
            env=processes.environment(3, {"TORCH_CUDA_TIMEOUT": str(int(kills.TIMEOUT))}),
            capture_output=True,
            text=True,
            timeout=ROUNDS * (kills.TIMEOUT + kills.GRACE + 10),
            check=False,
        )
        context = f"seed {seed}:\n{done.stdout}{done.stderr[-6000:]}"
        self.assertEqual(done.returncode, 0, context)
        rounds = [kills.Round.read(line) for line in done.stdout.splitlines()]
        self.assertLen(rounds, ROUNDS, context)
        for played in rounds:
            self.assertEqual(played.survivors_that_saw_no_error(), [], f"{played}\n{context}")
            self.assertEqual(played.codes[played.victim], -signal.SIGKILL, f"{played}\n{context}")
        self.assertEqual(processes.shared_memory() - before, set(), context)
        slowest = max(played.seconds for played in rounds)
        print(f"{ROUNDS} kills, the slowest survivor ended {slowest:.1f} s after", flush=True)


if __name__ == "__main__":
    absltest.main()
