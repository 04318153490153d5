"""torch.autograd.profiler on CUDA: times by events, and NVTX ranges."""

from __future__ import annotations

import torch
from absl.testing import absltest
from torch.profiler import ProfilerActivity

from tests.device_behaviour import programs


class LegacyTest(absltest.TestCase):
    def test_operators_have_times_of_the_device(self) -> None:
        x = torch.ones(1 << 16, device="cuda", requires_grad=True)
        with torch.autograd.profiler.profile(use_device="cuda") as profiler:
            x.sin().sum().backward()
        rows = {row.key: row for row in profiler.key_averages()}
        for operator in ("aten::sin", "aten::sum"):
            self.assertGreater(rows[operator].device_time_total, 0)
        self.assertIn("CUDA total", profiler.table())

    def test_kineto_from_the_same_class(self) -> None:
        with torch.autograd.profiler.profile(use_device="cuda", use_kineto=True) as profiler:
            torch.ones(4, device="cuda")
        self.assertIn(ProfilerActivity.CUDA, profiler.kineto_activities)
        self.assertTrue(any(event.device_type.name == "CUDA" for event in profiler.function_events))

    def test_ranges_for_cudas_tools(self) -> None:
        done = programs.run(
            """
            import torch
            with torch.autograd.profiler.emit_nvtx(record_shapes=True):
                x = torch.ones(4, device="cuda", requires_grad=True)
                (x * x).sum().backward()
            torch.cuda.nvtx.range_push("a")
            torch.cuda.nvtx.mark("b")
            torch.cuda.nvtx.range_pop()
            """
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    absltest.main()
