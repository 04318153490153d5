"""Several devices and processes under a stock torch: collectives, parallel training, and what goes wrong.

    TORCH_CUDA_DEVICES=fake python tests/stock/distributed_test.py

Ranks run under torchrun, each with a device; the same on the CPU over gloo is what they are held against.
"""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

_HERE = pathlib.Path(__file__).parent
_DEADLINE = 900
"""Seconds for a group of ranks."""
_TORCH = tuple(map(int, importlib.metadata.version("torch").split(".")[:2]))
_COLLECTIVES = [
    "types",
    "uneven",
    "coalesced",
    "messages",
    "objects",
    "functions",
    "groups",
    "splits",
    "graphs",
    "means",
    "refusals",
]


def environment(devices: int, folder: str) -> dict[str, str]:
    """For processes that see so many devices of the kind that the test is for."""
    kind = os.environ.get("TORCH_CUDA_DEVICES", "fake").partition(":")[0]
    return {
        **os.environ,
        "TORCH_CUDA_DEVICES": f"{kind}:{devices}",
        "OMP_NUM_THREADS": "1",
        # The host's own name may lead nowhere, as in a build root.
        "GLOO_SOCKET_IFNAME": "lo",
        "TORCH_CPP_LOG_LEVEL": "ERROR",
        "PYTHONWARNINGS": "ignore",
        "FOLDER": folder,
    }


def run(program: str, ranks: int, *arguments: str, **extra: str) -> tuple[int, str]:
    """Runs a program of this folder under torchrun; returns its exit status and what it said."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                sys.executable,
                *("-m", "torch.distributed.run", "--standalone"),
                *("--nproc-per-node", str(ranks), str(_HERE / program), *arguments),
            ],
            env={**environment(ranks, folder), **extra},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=_DEADLINE,
        )
    return done.returncode, done.stdout


class DistributedTest(unittest.TestCase):
    """NCCL's groups against gloo's."""

    def agree(self, program: str, ranks: int, names: list[str], **extra: str) -> None:
        """All ranks found the CPU's numbers in all programs."""
        status, said = run(program, ranks, *names, **extra)
        self.assertEqual(status, 0, said[-8000:])
        expected = {f"rank {rank}: ok {name}" for rank in range(ranks) for name in names}
        self.assertEqual(expected - set(said.splitlines()), set(), said[-8000:])

    def test_collectives(self) -> None:
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                self.agree("distributed_collectives.py", ranks, _COLLECTIVES)

    def test_collectives_of_the_older_nccl(self) -> None:
        """ProcessGroupNCCL, which is not the nccl of torch 2.15 any more; of earlier versions it is."""
        self.agree("distributed_collectives.py", 2, _COLLECTIVES, TORCH_DIST_USE_NCCL2="0")

    def test_training_of_two(self) -> None:
        names = [
            "data_parallel",
            "batch_norm",
            "fully_sharded",
            "fully_sharded_1",
            "tensor_parallel",
            "placements",
            "pipeline",
            "traced_pipeline",
            "checkpoints",
            "compiled",
        ]
        self.agree("distributed_training.py", 2, names)

    def test_training_of_four(self) -> None:
        names = ["fully_sharded", "tensor_parallel", "two_dimensions", "pipeline", "checkpoints"]
        self.agree("distributed_training.py", 4, names)


class FailuresTest(unittest.TestCase):
    """What a rank is told, and in time."""

    def told(self, name: str, **extra: str) -> str:
        """What rank 0 was told."""
        _, said = run("distributed_failures.py", 2, name, **extra)
        lines = [line for line in said.splitlines() if line.startswith("rank 0 was told: ")]
        self.assertEqual(len(lines), 1, said[-4000:])
        return lines[0].removeprefix("rank 0 was told: ")

    def test_symmetric_memory_is_refused(self) -> None:
        self.assertRegex(self.told("symmetric_memory"), r"^(RuntimeError|NotImplementedError)")

    def test_what_is_no_number_is_found_or_the_check_is_refused(self) -> None:
        # The second is what ProcessGroupNCCL2 reads, the nccl of torch 2.15.
        said = self.told("nan_check", TORCH_NCCL_NAN_CHECK="1", TORCH_DIST_NAN_CHECK="1")
        # Later versions have an operator for it, which the CPU has, too.
        operator = _TORCH >= (2, 12)
        self.assertIn("NaN found" if operator else "no kernel image is available", said)

    def test_a_rank_that_comes_late(self) -> None:
        said = self.told("late", TORCH_NCCL_BLOCKING_WAIT="1")
        self.assertRegex(said, r"^\w*Error after \d+ s: .*(?i:time)")

    def test_a_rank_that_dies_ends_the_others(self) -> None:
        status, said = run("distributed_failures.py", 2, "dies", TORCH_NCCL_BLOCKING_WAIT="1")
        self.assertNotEqual(status, 0)
        self.assertIn("SIGKILL", said)


class QueuesTest(unittest.TestCase):
    """Tensors of the device in several processes, by torch.multiprocessing."""

    def test_a_tensor_goes_through_a_queue_and_is_the_same_memory(self) -> None:
        program = """
            import torch, torch.multiprocessing as mp
            def child(there, back, end):
                tensor = there.get()
                back.put(tensor.sum().item())
                tensor.add_(1)
                torch.cuda.synchronize()
                back.put(torch.arange(5.0, device="cuda:1"))
                del tensor
                end.wait()
            if __name__ == "__main__":
                spawn = mp.get_context("spawn")
                there, back, end = spawn.Queue(), spawn.Queue(), spawn.Event()
                process = spawn.Process(target=child, args=(there, back, end))
                process.start()
                mine = torch.ones(1000, device="cuda")
                there.put(mine[::2])
                total, theirs = back.get(), back.get()
                print(total, mine.sum().item(), theirs.device, theirs.tolist())
                del theirs
                end.set()
                process.join()
                print(process.exitcode)
        """
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program.py"
            path.write_text(textwrap.dedent(program), encoding="utf-8")
            done = subprocess.run(
                [sys.executable, str(path)],
                env=environment(2, folder),
                capture_output=True,
                text=True,
                check=False,
                timeout=_DEADLINE,
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            done.stdout.splitlines(),
            ["500.0 1500.0 cuda:1 [0.0, 1.0, 2.0, 3.0, 4.0]", "0"],
            done.stderr,
        )


if __name__ == "__main__":
    unittest.main()
