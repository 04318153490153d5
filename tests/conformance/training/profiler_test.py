"""Profiles: what a device does is shown once, with its call, its operator, its place and its time.

What of it there is depends on who serves operators: kernels are shown where they are CUDA's or the CPU's, copies
everywhere. A test of what the device does not have is skipped, and says why.
"""

from __future__ import annotations

import itertools
import threading

import torch
from absl.testing import absltest
from torch.profiler import ProfilerActivity, profile, record_function, schedule

from profiler.tests.traces import BOTH, Slice, Trace, traced
from tests.conformance.training import serving, topic


class ProfilerTest(topic.TopicTest):
    def assert_linked(self, trace: Trace) -> None:
        """Each piece of work has one call that began it, within one operator, and an arrow between."""
        self.assertLen(trace.arrows(), len(trace.work))
        for work in trace.work:
            operator, call = trace.operator_of(work), trace.call_of(work)
            self.assertEqual(call.row, operator.row)
            self.assertGreaterEqual(call.start, operator.start)
            self.assertLessEqual(call.end, operator.end)
            self.assertGreaterEqual(work.start, call.start)
            self.assertGreaterEqual(work.duration, 0)

    def test_cuda_can_be_profiled(self) -> None:
        self.assertIn(ProfilerActivity.CUDA, torch.profiler.supported_activities())

    def test_each_copy_is_there_once(self) -> None:
        host = torch.arange(1000.0)
        tensor = torch.empty(1000, device="cuda")
        with traced() as traces:
            for _ in range(20):
                tensor.copy_(host)
            back = [tensor.cpu() for _ in range(10)]
        self.assertTrue(all(torch.equal(each, host) for each in back))
        (trace,) = traces
        copies = trace.of("gpu_memcpy")
        there, back_again = (
            [copy for copy in copies if kind in copy.name] for kind in ("HtoD", "DtoH")
        )
        self.assertLen(there, 20)
        self.assertLen(back_again, 10)
        self.assertEqual({copy.details["bytes"] for copy in copies}, {4000})
        self.assertEqual({copy.details["device"] for copy in copies}, {0})
        self.assertLen({copy.details["correlation"] for copy in copies}, 30)
        self.assertEqual({trace.operator_of(copy).name for copy in copies}, {"aten::copy_"})
        self.assert_linked(trace)

    def test_each_kernel_is_there_once(self) -> None:
        tensor = torch.zeros(64, device="cuda")
        tensor.add_(1)
        with traced() as traces:
            for _ in range(50):
                tensor.add_(1)
        (trace,) = traces
        self.assertLen([each for each in trace.of("cpu_op") if each.name == "aten::add_"], 50)
        server = serving.served_by("aten::add_.Tensor")
        if server not in ("upstream", "host"):
            self.skipTest(f"operators are served by {server}: there are no CUDA kernels to show")
        if server == "host":
            names = {kernel.name for kernel in trace.kernels}
            self.assertEqual(names, {"aten::add_.Tensor (CPU kernel)"})
        self.assertLen(trace.kernels, 50)
        self.assertEqual({trace.operator_of(k).name for k in trace.kernels}, {"aten::add_"})
        self.assert_linked(trace)

    def test_all_of_a_training_step_is_linked(self) -> None:
        model = torch.nn.Sequential(
            torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)
        ).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        inputs = torch.randn(8, 32)
        for _ in range(2):
            with traced() as traces:
                loss = model(inputs.cuda()).square().mean()
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                loss.item()
        (trace,) = traces
        operators = {each.name for each in trace.of("cpu_op")}
        self.assertContainsSubset(
            {"aten::addmm", "aten::relu", "aten::threshold_backward", "aten::mm"}, operators
        )
        # The loss comes back, and the inputs go there.
        self.assertGreaterEqual(len(trace.work), 2)
        self.assert_linked(trace)
        backward = next(each for each in trace.of("cpu_op") if "threshold_backward" in each.name)
        forward = next(each for each in trace.of("cpu_op") if each.name == "aten::addmm")
        self.assertNotEqual(backward.row, forward.row)  # autograd's own thread

    def test_a_stream_is_a_row_in_which_one_thing_follows_another(self) -> None:
        streams = [torch.cuda.Stream() for _ in range(3)]
        host = torch.ones(100_000).pin_memory()
        tensors = [torch.empty(100_000, device="cuda") for _ in streams]
        torch.cuda.synchronize()
        with traced() as traces:
            for _ in range(4):
                for stream, tensor in zip(streams, tensors, strict=True):
                    with torch.cuda.stream(stream):
                        tensor.copy_(host, non_blocking=True)
            torch.cuda.synchronize()
        (trace,) = traces
        rows: dict[object, list[Slice]] = {}
        for copy in trace.of("gpu_memcpy"):
            rows.setdefault(copy.row, []).append(copy)
        self.assertEqual([len(those) for those in rows.values()], [4, 4, 4])
        for those in rows.values():
            self.assertLen({copy.details["stream"] for copy in those}, 1)
            for one, following in itertools.pairwise(those):
                self.assertLessEqual(one.end, following.start)

    def test_a_device_is_a_place_of_its_own(self) -> None:
        if torch.cuda.device_count() < 2:
            self.skipTest("needs two devices")
        host = torch.ones(1000)
        with traced() as traces:
            for device in (0, 1):
                for _ in range(device + 1):
                    host.to(f"cuda:{device}")
                torch.cuda.synchronize(device)
        devices = [copy.details["device"] for copy in traces[0].of("gpu_memcpy")]
        self.assertEqual(sorted(devices), [0, 1, 1])

    def test_times_are_on_the_clock_of_the_host(self) -> None:
        host = torch.ones(1 << 20)
        tensor = torch.empty(1 << 20, device="cuda")
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with traced() as traces, record_function("outside"):
            first.record()
            for _ in range(5):
                tensor.copy_(host)
            last.record()
            torch.cuda.synchronize()
        (trace,) = traces
        (outside,) = trace.of("user_annotation")
        copies = trace.of("gpu_memcpy")
        self.assertLen(copies, 5)
        for copy in copies:
            self.assertGreater(copy.duration, 0)
            self.assertGreaterEqual(copy.start, outside.start)
            self.assertLessEqual(copy.end, outside.end)
        self.assertLess(sum(copy.duration for copy in copies), first.elapsed_time(last) * 1000)

    def test_what_the_user_names_is_a_span_over_the_work(self) -> None:
        host, tensor = torch.ones(1000), torch.empty(1000, device="cuda")
        with traced() as traces:
            tensor.copy_(host)
            with record_function("mine"):
                for _ in range(3):
                    tensor.copy_(host)
        (trace,) = traces
        (span,) = trace.of("gpu_user_annotation")
        self.assertEqual(span.name, "mine")
        inside = [
            copy
            for copy in trace.of("gpu_memcpy")
            if copy.start >= span.start and copy.end <= span.end
        ]
        self.assertLen(inside, 3)

    def test_the_table_has_the_time_of_the_device(self) -> None:
        host, tensor = torch.ones(100_000), torch.empty(100_000, device="cuda")
        with profile(activities=BOTH) as profiler:
            for _ in range(3):
                tensor.copy_(host)
        averages = {each.key: each for each in profiler.key_averages()}
        copy = averages["aten::copy_"]
        self.assertEqual(copy.count, 3)
        self.assertGreater(copy.device_time_total, 0)
        (there,) = (each for key, each in averages.items() if "HtoD" in key)
        self.assertEqual(there.count, 3)
        self.assertIn("Memcpy HtoD", profiler.key_averages().table())

    def test_memory_of_the_device_is_told_of(self) -> None:
        torch.empty(1, device="cuda")
        with profile(activities=BOTH, profile_memory=True) as profiler:
            tensor = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
            del tensor
        operators = {each.key: each for each in profiler.key_averages()}
        self.assertEqual(operators["aten::empty"].self_device_memory_usage, 1 << 20)

    def test_operators_are_measured_with_events(self) -> None:
        tensor = torch.ones(1000, device="cuda")
        with torch.autograd.profiler.profile(use_device="cuda", use_kineto=False) as profiler:
            for _ in range(5):
                tensor.add_(1)
        operators = {each.key: each for each in profiler.key_averages()}
        self.assertEqual(operators["aten::add_"].count, 5)
        self.assertGreater(operators["aten::add_"].device_time_total, 0)

    def test_of_the_cpu_alone_has_nothing_of_the_device(self) -> None:
        host, tensor = torch.ones(1000), torch.empty(1000, device="cuda")
        with traced(activities=(ProfilerActivity.CPU,)) as traces:
            tensor.copy_(host)
        # Calls of the runtime are the CPU's to the Kineto of PyPI's PyTorch.
        self.assertEmpty(traces[0].work)
        self.assertEmpty(traces[0].arrows())
        self.assertNotEmpty(traces[0].of("cpu_op"))

    def test_one_after_the_other(self) -> None:
        host, tensor = torch.ones(1000), torch.empty(1000, device="cuda")
        for number in range(1, 6):
            tensor.copy_(host)
            with traced() as traces:
                for _ in range(number):
                    tensor.copy_(host)
            tensor.copy_(host)
            self.assertLen(traces[0].of("gpu_memcpy"), number)

    def test_steps_of_a_schedule(self) -> None:
        host, tensor = torch.ones(1000), torch.empty(1000, device="cuda")
        seen: list[int] = []

        def ready(profiler: profile) -> None:
            seen.append(len(Trace(profiler).of("gpu_memcpy")))

        with profile(
            activities=BOTH,
            schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
            on_trace_ready=ready,
        ) as profiler:
            for _ in range(8):
                tensor.copy_(host)
                profiler.step()
        self.assertEqual(seen, [2, 2])

    def test_threads_work_while_one_profiles(self) -> None:
        def work() -> None:
            host, tensor = torch.ones(1000), torch.empty(1000, device="cuda")
            for _ in range(25):
                tensor.copy_(host)

        threads = [threading.Thread(target=work) for _ in range(4)]
        with traced() as traces:
            for thread in threads:
                thread.start()
            work()
            for thread in threads:
                thread.join()
        copies = traces[0].of("gpu_memcpy")
        self.assertLen(copies, 5 * 25)
        self.assertLen({copy.details["correlation"] for copy in copies}, 5 * 25)


if __name__ == "__main__":
    absltest.main()
