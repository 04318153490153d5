"""Profiles from their beginning to their end: many of them, forks, threads, errors, and without CUPTI."""

from __future__ import annotations

import os
import pathlib
import shutil
import threading

import torch
from absl.testing import absltest
from torch.profiler import profile

from profiler.tests.traces import BOTH, Trace, traced
from tests.device_behaviour import programs


def _entries(folder: str) -> int:
    return len(list(pathlib.Path(folder).iterdir()))


def _virtual_bytes() -> int:
    pages = int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _runtime_without_cupti(folder: pathlib.Path) -> str:
    """A copy of the runtime's package whose CUPTI is an empty file; returns its parent."""
    import torch_cuda_runtime

    (original,) = torch_cuda_runtime.__path__
    package = folder / "torch_cuda_runtime"
    links = shutil.copytree(
        original, package, copy_function=lambda file, to: pathlib.Path(to).symlink_to(file)
    )
    (cupti,) = pathlib.Path(links).glob("lib/cu12/libcupti.so.12")
    cupti.unlink()
    cupti.touch()
    return str(folder)


class LifecycleTest(absltest.TestCase):
    def test_a_hundred_profiles_leave_nothing_behind(self) -> None:
        x = torch.ones(4, device="cuda")

        def once() -> None:
            with profile(activities=BOTH) as profiler:
                x.add_(1)
            self.assertLen(
                [e for e in profiler.events() if e.device_type.name == "CUDA" and e.name], 1
            )

        for _ in range(20):
            once()
        before = _virtual_bytes()
        threads = _entries("/proc/self/task")
        files = _entries("/proc/self/fd")
        for _ in range(100):
            once()
        self.assertLess(_virtual_bytes() - before, 64 << 20)  # one buffer has 2 MiB
        self.assertEqual(_entries("/proc/self/task"), threads)
        self.assertEqual(_entries("/proc/self/fd"), files)

    def test_profiles_that_end_by_an_error(self) -> None:
        x = torch.ones(4, device="cuda")
        for _ in range(3):
            with self.assertRaisesRegex(RuntimeError, "mine"), profile(activities=BOTH):
                x.add_(1)
                raise RuntimeError("mine")
        with traced() as traces:
            x.add_(1)
        self.assertLen(traces[0].kernels, 1)

    def test_profiles_in_threads_one_after_the_other(self) -> None:
        counts: list[int] = []

        def work() -> None:
            with profile(activities=BOTH) as profiler:
                torch.ones(4, device="cuda")
            counts.append(len(Trace(profiler).kernels))

        for _ in range(3):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        self.assertEqual(counts, [1, 1, 1])

    def test_more_threads_than_one_use_the_device(self) -> None:
        stop = threading.Event()
        x = torch.ones(4, device="cuda")

        def work() -> None:
            values = torch.ones(4, device="cuda")
            while not stop.is_set():
                values.add_(1)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(10):
                with traced() as traces:
                    x.mul_(2)
                trace = traces[0]
                mine = [k for k in trace.kernels if "External id" in k.details]
                self.assertEqual([trace.operator_of(k).name for k in mine], ["aten::mul_"])
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_a_fork_while_profiling(self) -> None:
        printed = programs.output(
            """
            import os, torch
            from torch.profiler import profile
            x = torch.ones(4, device="cuda")
            with profile() as profiler:
                x.add_(1)
                child = os.fork()
                if child == 0:
                    torch.ones(4).add(1)       # operators of the child are nobody's
                    os._exit(0)
                _, status = os.waitpid(child, 0)
                x.add_(1)
            print(status, sum(e.device_type.name == "CUDA" for e in profiler.events()))
            """
        )
        self.assertEqual(printed, "0 2")

    def test_workers_of_a_loader_while_profiling(self) -> None:
        done = programs.run(
            """
            import torch
            from torch.profiler import profile
            from torch.utils.data import DataLoader
            if __name__ == "__main__":
                x = torch.ones(4, device="cuda")
                with profile() as profiler:
                    for batch in DataLoader(torch.arange(12.0), batch_size=4, num_workers=2):
                        x.add_(batch.cuda())
                kernels = [e for e in profiler.events() if e.device_type.name == "CUDA"]
                print(len(kernels))
            """
        )
        self.assertEqual((done.returncode, done.stdout), (0, "6\n"), done.stderr)

    def test_where_launches_wait_for_their_kernels(self) -> None:
        for setting in ({"CUDA_LAUNCH_BLOCKING": "1"}, {"CUDASIM_SYNC": "1"}):
            with self.subTest(setting):
                printed = programs.output(
                    """
                    import torch
                    x = torch.ones(4, device="cuda")
                    with torch.profiler.profile() as profiler:
                        x.add_(1)
                        x.cpu()
                    print(sum(e.device_type.name == "CUDA" for e in profiler.events()))
                    """,
                    **setting,
                )
                self.assertEqual(printed, "2")

    def test_without_a_device_the_cpu_is_profiled_without_a_word(self) -> None:
        done = programs.run(
            """
            import torch
            with torch.profiler.profile() as profiler:
                torch.ones(4).add(1)
            assert any(row.key == "aten::add" for row in profiler.key_averages())
            """,
            CUDA_VISIBLE_DEVICES="",
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_nothing_of_cupti_is_loaded_by_who_does_not_profile_cuda(self) -> None:
        printed = programs.output(
            """
            import torch
            torch.ones(4, device="cuda").cpu()
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
                torch.ones(4, device="cuda").cpu()
            with open("/proc/self/maps", encoding="utf-8") as maps:
                print("cupti" in maps.read())
            """
        )
        self.assertEqual(printed, "False")

    def test_without_cupti_there_is_one_warning_and_the_operators_times(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        if not programs.IS_SIMULATED:
            self.skipTest("CUPTI cannot be taken away from a real GPU")
        done = programs.run(
            f"""
            import sys
            sys.path.insert(0, {_runtime_without_cupti(folder)!r})
            # The .pth of the other package has imported it already.
            for name in [name for name in sys.modules if name.startswith("torch_cuda_runtime")]:
                del sys.modules[name]
            import torch
            from torch.profiler import ProfilerActivity, profile
            assert ProfilerActivity.CUDA not in torch.profiler.supported_activities()
            x = torch.ones(1 << 14, device="cuda")
            for _ in range(2):
                with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
                    x.sin()
            rows = {{row.key: row for row in profiler.key_averages()}}
            assert rows["aten::sin"].count == 1 and rows["aten::sin"].cpu_time_total > 0
            assert rows["aten::sin"].device_time_total > 0
            """
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("Warning"), 1, done.stderr)
        self.assertIn("python -m pip install nvidia-cuda-cupti-cu12", done.stderr)


if __name__ == "__main__":
    absltest.main()
