"""What a profile shows of a device's work: each piece once, with its operator, its call, its place and its time."""

from __future__ import annotations

import collections
import itertools
import pathlib
import threading

import torch
from absl.testing import absltest
from torch.profiler import ProfilerActivity, profile, record_function

from profiler.tests.traces import BOTH, Slice, Trace, traced


def _model() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.LayerNorm(64), torch.nn.Linear(64, 4)
    ).cuda()


def _overlap(one: Slice, other: Slice) -> bool:
    return one.start < other.end and other.start < one.end


class TimelineTest(absltest.TestCase):
    def assert_all_linked(self, trace: Trace) -> None:
        """Every piece of work has one operator, one call and one arrow between call and work."""
        arrows = trace.arrows()
        self.assertLen(arrows, len(trace.work))
        for work in trace.work:
            operator = trace.operator_of(work)
            call = trace.call_of(work)
            # The call is made within the operator, by its thread, and begins the work.
            self.assertEqual(call.row, operator.row)
            self.assertGreaterEqual(call.start, operator.start)
            self.assertLessEqual(call.end, operator.end)
            self.assertGreaterEqual(work.start, call.start)
            self.assertEqual(call.details["External id"], work.details["External id"])

    def test_each_kernel_is_there_once(self) -> None:
        values = torch.zeros(64, device="cuda")
        with traced() as traces:
            for _ in range(50):
                values.add_(1)
        (trace,) = traces
        self.assertLen(trace.kernels, 50)
        self.assertLen({kernel.details["correlation"] for kernel in trace.kernels}, 50)
        self.assertLen({kernel.details["External id"] for kernel in trace.kernels}, 50)
        self.assertEqual({trace.operator_of(k).name for k in trace.kernels}, {"aten::add_"})
        self.assertEqual({trace.call_of(k).name for k in trace.kernels}, {"cudaLaunchKernel"})
        self.assert_all_linked(trace)

    def test_as_many_kernels_as_a_graph_of_the_same_has_nodes(self) -> None:
        x = torch.randn(16, 16, device="cuda")

        def work() -> torch.Tensor:
            return ((x * 2 + x).softmax(0) - x.sum(1)).exp().t().contiguous()

        work()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        graph.enable_debug_mode()
        with torch.cuda.graph(graph):
            work()
        dot = pathlib.Path(self.create_tempfile().full_path)
        graph.debug_dump(str(dot))
        nodes = dot.read_text(encoding="utf-8").count("[label=")
        with traced() as traces:
            work()
        self.assertGreater(nodes, 4)
        self.assertLen(traces[0].work, nodes)
        self.assert_all_linked(traces[0])

    def test_all_of_a_training_step_is_linked(self) -> None:
        model = _model()
        optimizer = torch.optim.AdamW(model.parameters())
        x, target = torch.randn(8, 32), torch.randint(4, (8,))
        for _ in range(2):
            with traced() as traces:
                loss = torch.nn.functional.cross_entropy(model(x.cuda()), target.cuda())
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                loss.item()
        (trace,) = traces
        self.assertGreater(len(trace.kernels), 20)
        self.assert_all_linked(trace)
        # The backward's kernels come from autograd's own thread.
        threads = {trace.call_of(work).row for work in trace.work}
        self.assertLen(threads, 2)
        names = {trace.operator_of(kernel).name for kernel in trace.kernels}
        self.assertContainsSubset(
            {"aten::threshold_backward", "aten::native_layer_norm_backward", "aten::addmm"}, names
        )

    def test_times_lie_within_those_of_events(self) -> None:
        x = torch.randn(1 << 18, device="cuda")
        x.sin()
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with traced() as traces:
            first.record()
            for _ in range(5):
                x.sin()
            last.record()
        last.synchronize()
        kernels = traces[0].kernels
        self.assertLen(kernels, 5)
        elapsed = first.elapsed_time(last) * 1000
        self.assertGreater(min(kernel.duration for kernel in kernels), 0)
        self.assertLess(sum(kernel.duration for kernel in kernels), elapsed)
        self.assertLess(kernels[-1].end - kernels[0].start, elapsed)
        for one, following in itertools.pairwise(kernels):
            self.assertLessEqual(one.end, following.start)  # one stream, one at a time

    def test_streams_lie_side_by_side(self) -> None:
        streams = [torch.cuda.Stream() for _ in range(2)]
        x = [torch.randn(1 << 20, device="cuda") for _ in streams]
        x[0].sin()
        with traced() as traces:
            for stream, values in zip(streams, x, strict=True):
                stream.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(stream):
                    for _ in range(3):
                        values.sin()
        by_row = collections.defaultdict(list)
        for kernel in traces[0].kernels:
            by_row[kernel.row].append(kernel)
        self.assertEqual([len(kernels) for kernels in by_row.values()], [3, 3])
        one, other = by_row.values()
        self.assertTrue(any(_overlap(a, b) for a in one for b in other))
        self.assert_all_linked(traces[0])
        names = {
            (event["pid"], event["tid"]): event["args"]["name"]
            for event in traces[0].json["traceEvents"]
            if event["name"] == "thread_name"
        }
        for device, stream in by_row:
            self.assertEqual(names[device, stream], f"stream {stream} ")

    def test_graphs_show_their_nodes(self) -> None:
        x = torch.ones(32, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            x.add_(1)
            x.mul_(2)
            x.sub_(3)
        with traced() as traces:
            graph.replay()
            graph.replay()
        (trace,) = traces
        # The others fill the state of the random number generator.
        kernels = [kernel for kernel in trace.kernels if "graph id" in kernel.details]
        self.assertLen(kernels, 6)
        self.assertEqual({trace.call_of(kernel).name for kernel in kernels}, {"cudaGraphLaunch"})
        self.assertLen({trace.call_of(kernel).start for kernel in kernels}, 2)
        nodes = collections.Counter(kernel.details["graph node id"] for kernel in kernels)
        self.assertEqual(sorted(nodes.values()), [2, 2, 2])
        self.assertLen({kernel.details["graph id"] for kernel in kernels}, 1)
        self.assertLen(trace.arrows(), len(trace.kernels))

    def test_copies_say_from_where_to_where(self) -> None:
        on_device = torch.ones(1024, device="cuda")
        pinned = torch.ones(1024).pin_memory()
        with traced() as traces:
            torch.ones(1024).cuda()
            on_device.cpu()
            on_device.copy_(pinned, non_blocking=True)
            on_device.clone()
            on_device.to("cuda:1")
        copies = [(copy.name, copy.details["bytes"]) for copy in traces[0].of("gpu_memcpy")]
        self.assertEqual(
            copies,
            [
                ("Memcpy HtoD (Pageable -> Device)", 4096),
                ("Memcpy DtoH (Device -> Pageable)", 4096),
                ("Memcpy HtoD (Pinned -> Device)", 4096),
                ("Memcpy DtoD (Device -> Device)", 4096),
                ("Memcpy PtoP (Device -> Device)", 4096),
            ],
        )
        self.assert_all_linked(traces[0])

    def test_fills_say_what_they_fill(self) -> None:
        x = torch.ones(1 << 18, device="cuda")
        with traced() as traces:
            x.sum()  # several blocks, which count what they have done
        fill, kernel = traces[0].work
        self.assertEqual((fill.category, fill.name), ("gpu_memset", "Memset (Device)"))
        self.assertEqual(traces[0].operator_of(fill).name, "aten::sum")
        self.assertLessEqual(fill.end, kernel.start)

    def test_devices_have_rows_of_their_own(self) -> None:
        with traced() as traces:
            for device in ("cuda:0", "cuda:1"):
                torch.ones(4, device=device)
            # The end of a profile waits for the current device only.
            torch.cuda.synchronize("cuda:1")
        self.assertEqual([kernel.row[0] for kernel in traces[0].kernels], [0, 1])
        self.assertEqual([p["id"] for p in traces[0].json["deviceProperties"]], [0, 1])

    def test_annotations_reach_as_far_as_their_work(self) -> None:
        x = torch.ones(64, device="cuda")
        with traced() as traces:
            with record_function("outer"):
                x.add_(1)
                with record_function("inner"):
                    x.mul_(2)
            x.sub_(1)
        kernels = traces[0].kernels
        spans = {span.name: span for span in traces[0].of("gpu_user_annotation")}
        self.assertEqual(set(spans), {"outer", "inner"})
        # The rows of the innermost annotation, as a PyTorch with CUPTI has them.
        for name, kernel in (("outer", kernels[0]), ("inner", kernels[1])):
            self.assertEqual(spans[name].row, kernel.row)
            self.assertAlmostEqual(spans[name].start, kernel.start, delta=0.01)
            self.assertAlmostEqual(spans[name].end, kernel.end, delta=0.01)

    def test_details_of_a_kernel(self) -> None:
        x = torch.ones(1000, device="cuda")
        with traced() as traces:
            x.cumsum(0)
        for kernel in traces[0].kernels:
            threads = 1
            for size in kernel.details["block"]:
                threads *= size
            self.assertBetween(threads, 1, 1024)
            self.assertGreater(kernel.details["registers per thread"], 0)
            self.assertEqual(kernel.details["device"], 0)
            self.assertNotIn("_Z", kernel.name)  # as it is written in the source

    def test_the_trace_ends_as_torchs_own_do(self) -> None:
        with traced() as traces:
            torch.ones(4, device="cuda")
        spans = [event["name"] for event in traces[0].json["traceEvents"] if event["ph"] != "M"][
            -3:
        ]
        self.assertEqual(
            spans,
            ["PyTorch Profiler (0)", "Iteration Start: PyTorch Profiler", "Record Window End"],
        )

    def test_calls_are_not_taken_for_operators(self) -> None:
        # Both kinds of ids count from 1, and a table adds the work of an id to what has the id.
        x = torch.ones(4, device="cuda")
        with profile(activities=BOTH) as profiler:
            for _ in range(200):
                x.add_(1)
        ids = [
            event.correlation_id()
            for event in profiler.profiler.kineto_results.events()
            if event.device_type().name == "CPU"
        ]
        self.assertLen(set(ids), len(ids))
        rows = {row.key: row for row in profiler.key_averages()}
        self.assertEqual(rows["cudaLaunchKernel"].count, 200)
        self.assertEqual(rows["cudaLaunchKernel"].device_time_total, 0)

    def test_a_kernel_is_below_its_call_below_its_operator(self) -> None:
        x = torch.ones(4, device="cuda")
        with profile(activities=BOTH) as profiler:
            x.add_(1)
        tree = profiler.profiler.kineto_results.experimental_event_tree()
        (operator,) = (event for event in tree if event.name == "aten::add_")
        launches = [call for call in operator.children if call.name == "cudaLaunchKernel"]
        self.assertLen(launches, 1)
        (kernel,) = launches[0].children
        self.assertIn("at::native::vectorized_elementwise_kernel", kernel.name)

    def test_what_the_tables_say(self) -> None:
        x = torch.ones(1 << 16, device="cuda")
        with profile(activities=BOTH) as profiler:
            for _ in range(4):
                x.sin().sum()
        kernels = Trace(profiler).kernels
        rows = {row.key: row for row in profiler.key_averages()}
        by_operator: dict[str, float] = collections.defaultdict(float)
        for kernel in kernels:
            by_operator["aten::sin" if "sin" in kernel.name else "aten::sum"] += kernel.duration
        for operator, microseconds in by_operator.items():
            self.assertEqual(rows[operator].count, 4)
            self.assertAlmostEqual(rows[operator].device_time_total, microseconds, delta=0.1)
        self.assertIn("Self CUDA", profiler.key_averages().table())

    def test_work_of_threads_that_are_not_profiled_is_there_without_an_operator(self) -> None:
        x = torch.ones(4, device="cuda")
        with traced() as traces:
            thread = threading.Thread(target=lambda: x.add_(1))
            thread.start()
            thread.join()
            x.mul_(1)
        (trace,) = traces
        linked = ["External id" in kernel.details for kernel in trace.kernels]
        self.assertEqual(linked, [False, True])
        self.assertLen(trace.arrows(), 2)

    def test_only_cuda(self) -> None:
        with traced(activities=[ProfilerActivity.CUDA]) as traces:
            torch.ones(4, device="cuda")
        self.assertLen(traces[0].kernels, 1)
        self.assertEmpty(traces[0].of("cpu_op"))

    def test_only_the_cpu(self) -> None:
        with traced(activities=[ProfilerActivity.CPU]) as traces:
            torch.ones(4, device="cuda")
        self.assertEmpty(traces[0].work)
        self.assertEmpty(traces[0].of("cuda_runtime"))
        self.assertNotEmpty(traces[0].of("cpu_op"))


if __name__ == "__main__":
    absltest.main()
