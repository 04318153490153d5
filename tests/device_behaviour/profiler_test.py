"""Profilers without the plugin torch_cuda_profiler: the CPU's times, and a word about who has CUDA's."""

from __future__ import annotations

from absl.testing import absltest

from tests.device_behaviour import programs

_PLUGIN = "python -m pip install torch_cuda_profiler"

_PROFILE = """
    import torch
    from torch.profiler import ProfilerActivity, profile
    x = torch.ones(4, device="cuda")
    for _ in range({times}):
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
            y = (x + x) * x
    events = {{event.key: event for event in profiler.key_averages()}}
    assert events["aten::add"].count == 1 and events["aten::add"].cpu_time_total > 0
    assert events["aten::mul"].device_time_total == 0
"""


class ProfilerTest(absltest.TestCase):
    def _assert_one_warning(self, program: str) -> None:
        done = programs.run(program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("Warning"), 1, done.stderr)
        self.assertIn(_PLUGIN, done.stderr)
        # The warning, and the line of the program that it is about.
        self.assertLessEqual(len(done.stderr.splitlines()), 2, done.stderr)

    def test_times_of_cuda_are_missed_once(self) -> None:
        for times in (1, 3):
            with self.subTest(times):
                self._assert_one_warning(_PROFILE.format(times=times))

    def test_backward_is_profiled_too(self) -> None:
        self._assert_one_warning(
            """
            import torch
            x = torch.ones(4, device="cuda", requires_grad=True)
            with torch.autograd.profiler.profile(use_device="cuda"):
                (x * x).sum().backward()
            """
        )

    def test_the_cpu_is_profiled_without_a_word(self) -> None:
        for activities in ("", "activities=[torch.profiler.ProfilerActivity.CPU]"):
            with self.subTest(activities):
                done = programs.run(
                    f"""
                    import torch
                    with torch.profiler.profile({activities}):
                        x = torch.ones(4, device="cuda")
                    """
                )
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_ranges_for_cudas_tools_name_the_plugin(self) -> None:
        done = programs.output(
            """
            import torch
            try:
                with torch.autograd.profiler.emit_nvtx():
                    torch.ones(4, device="cuda")
            except RuntimeError as error:
                print(error)
            """
        )
        self.assertIn(_PLUGIN, done)

    def test_own_ranges_need_no_plugin(self) -> None:
        done = programs.run(
            "import torch; torch.cuda.nvtx.range_push('a'); torch.cuda.nvtx.range_pop()"
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    absltest.main()
