"""The options of torch.profiler with CUDA: schedules, shapes, stacks, memory, waits, switching on and off."""

from __future__ import annotations

import json
import pathlib

import torch
from absl.testing import absltest
from torch._C._profiler import _ExperimentalConfig
from torch.profiler import ProfilerActivity, profile, schedule, supported_activities

from profiler.tests.traces import BOTH, Trace, traced
from tests.device_behaviour import programs


class OptionsTest(absltest.TestCase):
    def test_cuda_is_supported(self) -> None:
        self.assertIn(ProfilerActivity.CUDA, supported_activities())
        self.assertIn(ProfilerActivity.CUDA, torch._C._autograd._supported_activities())

    def test_cuda_is_profiled_by_default(self) -> None:
        with profile() as profiler:
            torch.ones(4, device="cuda")
        self.assertLen(Trace(profiler).kernels, 1)

    def test_a_schedule_keeps_the_active_steps(self) -> None:
        x = torch.ones(4, device="cuda")
        traces: list[Trace] = []
        with profile(
            activities=BOTH,
            schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
            on_trace_ready=lambda profiler: traces.append(Trace(profiler)),
        ) as profiler:
            for step in range(9):
                for _ in range(step + 1):  # so that each step is known by its kernels
                    x.add_(1)
                torch.cuda.synchronize()  # or they reach into the next step
                profiler.step()
        self.assertEqual([len(trace.kernels) for trace in traces], [3 + 4, 7 + 8])
        for trace in traces:
            self.assertLen(trace.arrows(), len(trace.kernels))
            steps = {slice_.name for slice_ in trace.of("gpu_user_annotation")}
            self.assertLen(steps, 2, steps)

    def test_warm_up_that_is_never_recorded(self) -> None:
        for _ in range(3):
            with profile(activities=BOTH, schedule=schedule(wait=0, warmup=5, active=1)) as p:
                torch.ones(4, device="cuda")
                p.step()
        with traced() as traces:
            torch.ones(4, device="cuda")
        self.assertLen(traces[0].kernels, 1)

    def test_shapes_and_stacks(self) -> None:
        x = torch.ones(3, 5, device="cuda")
        with profile(activities=BOTH, record_shapes=True, with_stack=True) as profiler:
            x.matmul(x.t())
        rows = profiler.key_averages(group_by_input_shape=True, group_by_stack_n=3)
        self.assertTrue(any([3, 5] in row.input_shapes and row.device_time_total for row in rows))
        trace = Trace(profiler)
        (kernel,) = trace.kernels
        self.assertEqual(trace.operator_of(kernel).name, "aten::mm")
        path = self.create_tempfile().full_path
        profiler.export_stacks(path, "self_cuda_time_total")

    def test_memory(self) -> None:
        with profile(
            activities=BOTH, profile_memory=True, record_shapes=True, with_stack=True
        ) as profiler:
            torch.ones(1 << 16, device="cuda").add(1)
        rows = {row.key: row for row in profiler.key_averages()}
        self.assertEqual(rows["aten::empty"].device_memory_usage, 4 << 16)
        self.assertNotEmpty(Trace(profiler).kernels)
        folder = pathlib.Path(self.create_tempdir().full_path)
        profiler.export_memory_timeline(str(folder / "memory.json"), device="cuda:0")
        times, sizes = json.loads((folder / "memory.json").read_text(encoding="utf-8"))
        self.assertEqual(len(times), len(sizes))
        self.assertGreaterEqual(max(max(size) for size in sizes), 4 << 16)

    def test_more_than_the_profiler_keeps_is_told(self) -> None:
        config = self.create_tempfile(content="ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB=4\n").full_path
        done = programs.run(
            """
            import torch
            x = torch.ones(1, device="cuda")
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as p:
                for _ in range(20000):
                    x.add_(1)
            kernels = sum(event.device_type.name == "CUDA" for event in p.events())
            print(5000 < kernels < 20000)
            """,
            KINETO_CONFIG=config,
        )
        self.assertEqual((done.returncode, done.stdout), (0, "True\n"), done.stderr)
        self.assertEqual(done.stderr.count("Warning"), 1, done.stderr)
        self.assertIn("ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB", done.stderr)

    def test_waits_are_shown_where_they_are_asked_for(self) -> None:
        x = torch.ones(4, device="cuda")
        stream = torch.cuda.Stream()
        config = _ExperimentalConfig(enable_cuda_sync_events=True)
        with traced(experimental_config=config) as traces:
            x.add_(1)
            event = torch.cuda.current_stream().record_event()
            stream.wait_event(event)
            with torch.cuda.stream(stream):
                x.add_(1)
            event.synchronize()
            stream.synchronize()
        (trace,) = traces
        waits = {wait.name: wait for wait in trace.of("cuda_sync")}
        self.assertContainsSubset(
            {"Stream Wait Event", "Event Sync", "Stream Sync", "Context Sync"}, waits
        )
        first, second = (kernel.row for kernel in trace.kernels)
        self.assertEqual(waits["Stream Wait Event"].row, second)
        self.assertEqual(waits["Stream Wait Event"].details["wait_on_stream"], first[1])
        recorded = waits["Stream Wait Event"].details["wait_on_cuda_event_record_corr_id"]
        names = {call.details["correlation"]: call.name for call in trace.of("cuda_runtime")}
        self.assertIn("cudaEventRecord", names[recorded])
        with traced() as traces:
            torch.cuda.synchronize()
        self.assertEmpty(traces[0].of("cuda_sync"))

    def test_recording_can_be_switched_off_and_on(self) -> None:
        x = torch.ones(4, device="cuda")
        with profile(activities=BOTH) as profiler:
            x.add_(1)
            torch.cuda.synchronize()
            profiler.toggle_collection_dynamic(False, [ProfilerActivity.CUDA])
            x.mul_(1)
            torch.cuda.synchronize()
            profiler.toggle_collection_dynamic(True, [ProfilerActivity.CUDA])
            x.sub_(1)
        trace = Trace(profiler)
        self.assertEqual(
            [trace.operator_of(kernel).name for kernel in trace.kernels],
            ["aten::add_", "aten::sub_"],
        )


if __name__ == "__main__":
    absltest.main()
