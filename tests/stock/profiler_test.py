"""What torch.profiler and the memory's history show of CUDA devices under a stock torch.

TORCH_CUDA_DEVICES=fake:2 python tests/stock/profiler_test.py
"""

from __future__ import annotations

import collections
import dataclasses
import gzip
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import textwrap
import unittest
from typing import Any

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

BOTH = (ProfilerActivity.CPU, ProfilerActivity.CUDA)


@dataclasses.dataclass(frozen=True)
class Slice:
    """An event of a trace with a beginning and an end, in microseconds."""

    category: str
    name: str
    row: tuple[Any, Any]
    start: float
    end: float
    details: dict[str, Any]


class Trace:
    """A Chrome trace of a profile that has ended."""

    def __init__(self, profiler: profile) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json.gz"
            profiler.export_chrome_trace(str(path))
            with gzip.open(path, "rt", encoding="utf-8") as file:
                self.json: dict[str, Any] = json.load(file)
        self.slices = sorted(
            (
                Slice(
                    event["cat"],
                    event["name"],
                    (event["pid"], event["tid"]),
                    event["ts"],
                    event["ts"] + event["dur"],
                    event.get("args", {}),
                )
                for event in self.json["traceEvents"]
                if event["ph"] == "X" and "cat" in event
            ),
            key=lambda event: event.start,
        )

    def of(self, *categories: str) -> list[Slice]:
        """The slices of some categories, by their beginning."""
        return [event for event in self.slices if event.category in categories]

    @property
    def work(self) -> list[Slice]:
        """All that devices did."""
        return self.of("kernel", "gpu_memcpy", "gpu_memset")

    def operator_of(self, work: Slice) -> Slice:
        """The operator that work belongs to; a LookupError where there is none."""
        wanted = work.details["External id"]
        for operator in self.of("cpu_op"):
            if operator.details["External id"] == wanted:
                return operator
        raise LookupError(f"no operator for {work}")


def train(steps: int, profiler: profile | None = None) -> None:
    """A small network, on the device."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        loss = model(torch.randn(8, 32).cuda()).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if profiler is not None:
            torch.cuda.synchronize()
            profiler.step()


class ProfilerTest(unittest.TestCase):
    """Kineto, with its own subscriber to our CUPTI."""

    def setUp(self) -> None:
        torch.zeros(1, device="cuda").cpu()

    def linked(self, trace: Trace) -> None:
        """Each piece of work belongs to an operator and to a call that began it before."""
        calls = {
            call.details["correlation"]: call for call in trace.of("cuda_runtime", "cuda_driver")
        }
        self.assertGreater(len(trace.work), 0)
        for work in trace.work:
            call = calls[work.details["correlation"]]
            operator = trace.operator_of(work)
            self.assertEqual(call.row, operator.row)
            self.assertLessEqual(operator.start, call.start)
            self.assertLessEqual(call.start, work.start)
            self.assertLessEqual(work.start, work.end)

    def test_cuda_can_be_profiled(self) -> None:
        self.assertIn(ProfilerActivity.CUDA, torch.profiler.supported_activities())

    def test_routed_operators_are_kernels_and_say_whose(self) -> None:
        values = torch.zeros(64, device="cuda")
        with profile(activities=BOTH) as profiler:
            for _ in range(20):
                values.add_(1)
            values @ values
        trace = Trace(profiler)
        names = collections.Counter(kernel.name for kernel in trace.of("kernel"))
        self.assertEqual(names["aten::add_.Tensor (CPU kernel)"], 20)
        self.assertEqual(names["aten::dot (CPU kernel)"], 1)
        self.linked(trace)
        rows = {row.key: row for row in profiler.key_averages()}
        self.assertEqual(rows["aten::add_"].count, 20)
        self.assertGreater(rows["aten::add_"].device_time_total, 0)
        self.assertEqual(rows["aten::add_.Tensor (CPU kernel)"].count, 20)

    def test_a_training_step(self) -> None:
        train(1)
        with profile(activities=BOTH, with_stack=True, record_shapes=True) as profiler:
            train(2)
        trace = Trace(profiler)
        self.linked(trace)
        operators = {trace.operator_of(kernel).name for kernel in trace.of("kernel")}
        self.assertLessEqual({"aten::addmm", "aten::threshold_backward", "aten::mm"}, operators)
        # The backward's work comes from autograd's own thread.
        self.assertEqual(len({trace.operator_of(work).row for work in trace.work}), 2)
        self.assertTrue(any("profiler_test.py" in e.name for e in trace.of("python_function")))

    def test_copies_and_fills(self) -> None:
        host = torch.ones(1000)
        pinned = torch.ones(1000).pin_memory()
        tensor = torch.empty(1000, device="cuda")
        with profile(activities=BOTH) as profiler:
            tensor.copy_(host)
            tensor.copy_(pinned, non_blocking=True)
            tensor.cpu()
            torch.cuda.synchronize()
        copies = [(copy.name, copy.details["bytes"]) for copy in Trace(profiler).of("gpu_memcpy")]
        self.assertEqual(
            copies,
            [
                ("Memcpy HtoD (Pageable -> Device)", 4000),
                ("Memcpy HtoD (Pinned -> Device)", 4000),
                ("Memcpy DtoH (Device -> Pageable)", 4000),
            ],
        )
        # Torch's own operators fill by kernels; the runtime is asked here.
        with profile(activities=BOTH) as profiler:
            ctypes_memset(tensor)
        fills = Trace(profiler).of("gpu_memset")
        self.assertEqual([fill.details["bytes"] for fill in fills], [4000])

    def test_streams_are_rows(self) -> None:
        streams = [torch.cuda.Stream() for _ in range(2)]
        tensors = [torch.ones(100, device="cuda") for _ in streams]
        torch.cuda.synchronize()
        with profile(activities=BOTH) as profiler:
            for stream, tensor in zip(streams, tensors, strict=True):
                with torch.cuda.stream(stream):
                    tensor.add_(1)
                    tensor.cpu()
        rows = collections.Counter(work.details["stream"] for work in Trace(profiler).work)
        self.assertEqual(sorted(rows.values()), [2, 2])

    def test_graphs_show_their_nodes(self) -> None:
        x = torch.ones(32, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            x.add_(1)
            x.mul_(2)
        with profile(activities=BOTH) as profiler:
            graph.replay()
            graph.replay()
            torch.cuda.synchronize()
        kernels = [kernel for kernel in Trace(profiler).of("kernel") if "CPU kernel" in kernel.name]
        self.assertEqual(
            [kernel.name for kernel in kernels],
            ["aten::add_.Tensor (CPU kernel)", "aten::mul_.Tensor (CPU kernel)"] * 2,
        )
        if "graph node id" in kernels[0].details:  # Kineto of torch 2.9 does not write it
            self.assertEqual(len({kernel.details["graph node id"] for kernel in kernels}), 2)

    def test_a_schedule_keeps_the_active_steps(self) -> None:
        traces: list[Trace] = []
        with profile(
            activities=BOTH,
            schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
            on_trace_ready=lambda profiler: traces.append(Trace(profiler)),
        ) as profiler:
            train(8, profiler)
        self.assertEqual(len(traces), 2)
        for trace in traces:
            steps = [span for span in trace.of("user_annotation") if "ProfilerStep" in span.name]
            self.assertEqual(len(steps), 2)
            products = [kernel for kernel in trace.of("kernel") if "addmm" in kernel.name]
            self.assertEqual(len(products), 4)

    def test_what_the_user_names_lies_over_the_work(self) -> None:
        x = torch.ones(64, device="cuda")
        with profile(activities=BOTH) as profiler:
            with record_function("mine"):
                x.add_(1)
            x.mul_(2)
        trace = Trace(profiler)
        (span,) = trace.of("gpu_user_annotation")
        self.assertEqual(span.name, "mine")
        inside = [w for w in trace.of("kernel") if span.start <= w.start and w.end <= span.end]
        self.assertEqual([work.name for work in inside], ["aten::add_.Tensor (CPU kernel)"])

    def test_memory_is_told_of(self) -> None:
        with profile(
            activities=BOTH, profile_memory=True, record_shapes=True, with_stack=True
        ) as profiler:
            torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
            train(1)
        rows = {row.key: row for row in profiler.key_averages()}
        self.assertGreaterEqual(rows["aten::empty"].device_memory_usage, 1 << 20)
        events = [e for e in Trace(profiler).json["traceEvents"] if e["name"] == "[memory]"]
        self.assertTrue(any(event["args"]["Device Type"] == 1 for event in events))

    def test_of_the_cpu_alone_has_nothing_of_the_device(self) -> None:
        x = torch.ones(64, device="cuda")
        with profile(activities=(ProfilerActivity.CPU,)) as profiler:
            x.add_(1)
            x.cpu()
        trace = Trace(profiler)
        # Calls of the runtime are the CPU's to PyTorch.
        self.assertEqual(trace.work, [])

    def test_events_in_the_place_of_kineto(self) -> None:
        x = torch.ones(1000, device="cuda")
        with torch.autograd.profiler.profile(use_device="cuda", use_kineto=False) as profiler:
            for _ in range(5):
                x.add_(1)
        rows = {row.key: row for row in profiler.key_averages()}
        self.assertEqual(rows["aten::add_"].count, 5)

    def test_many_profiles_one_after_another(self) -> None:
        x = torch.ones(64, device="cuda")
        for number in range(1, 8):
            with profile(activities=BOTH) as profiler:
                for _ in range(number):
                    x.add_(1)
            self.assertEqual(len(Trace(profiler).of("kernel")), number)

    def test_a_table(self) -> None:
        with profile(activities=BOTH) as profiler:
            train(1)
        table = profiler.key_averages().table(sort_by="device_time_total")
        self.assertIn("CUDA time avg", table)
        self.assertIn("aten::addmm (CPU kernel)", table)


class NvtxTest(unittest.TestCase):
    """Ranges for NVIDIA's tools, which nobody reads here."""

    def test_ranges(self) -> None:
        with torch.autograd.profiler.emit_nvtx(record_shapes=True):
            x = torch.ones(4, device="cuda", requires_grad=True)
            (x * x).sum().backward()
        torch.cuda.nvtx.range_push("a")
        torch.cuda.nvtx.mark("b")
        torch.cuda.nvtx.range_pop()
        with torch.cuda.nvtx.range("c {}", 1):
            pass
        number = torch.cuda.nvtx.range_start("d")
        torch.cuda.nvtx.range_end(number)
        torch.cuda.synchronize()


class MemoryTest(unittest.TestCase):
    """torch.cuda.memory's history and snapshots."""

    def test_a_snapshot_has_what_was_allocated_and_where(self) -> None:
        torch.cuda.memory._record_memory_history(max_entries=1000)
        kept = torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
        torch.empty(5 << 20, dtype=torch.uint8, device="cuda")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "snapshot.pickle"
            torch.cuda.memory._dump_snapshot(str(path))
            torch.cuda.memory._record_memory_history(enabled=None)
            snapshot = pickle.loads(path.read_bytes())
        blocks = [block for segment in snapshot["segments"] for block in segment["blocks"]]
        (mine,) = (
            block
            for block in blocks
            if block["address"] == kept.data_ptr() and block["state"] == "active_allocated"
        )
        self.assertEqual(mine["requested_size"], 3 << 20)
        self.assertTrue(any("profiler_test.py" in frame["filename"] for frame in mine["frames"]))
        actions = [(e["action"], e["size"]) for e in snapshot["device_traces"][0]]
        self.assertIn(("alloc", 3 << 20), actions)
        self.assertIn(("free_completed", 5 << 20), actions)

    def test_memory_viz_draws_it(self) -> None:
        from torch.cuda import _memory_viz

        torch.cuda.memory._record_memory_history()
        torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
        snapshot = torch.cuda.memory._snapshot()
        torch.cuda.memory._record_memory_history(enabled=None)
        self.assertIn("html", _memory_viz.trace_plot(snapshot))
        self.assertIn("html", _memory_viz.segment_plot(snapshot))
        self.assertIn("3.0MiB", _memory_viz.trace(snapshot))

    def test_out_of_memory_calls_its_observer(self) -> None:
        called: list[Any] = []
        # A CPU-only torch, whose types mypy reads, has none.
        attach = torch._C._cuda_attach_out_of_memory_observer  # type: ignore[attr-defined]
        attach(lambda *said: called.append(said))
        with self.assertRaises(torch.OutOfMemoryError):
            torch.empty(1 << 45, dtype=torch.uint8, device="cuda")
        self.assertEqual(len(called), 1)

    def test_statistics(self) -> None:
        before = torch.cuda.memory_allocated()
        kept = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
        self.assertEqual(torch.cuda.memory_allocated() - before, 1 << 20)
        self.assertIn("Allocated memory", torch.cuda.memory_summary())
        free, total = torch.cuda.mem_get_info()
        self.assertLess(free, total)
        del kept


_TRITON = """
    import torch, triton, triton.language as tl
    @triton.jit
    def twice(x, y, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
    x = torch.arange(1000.0, device="cuda")
    y = torch.empty_like(x)
    twice[(8,)](x, y, 1000, BLOCK=128)
    with torch.profiler.profile() as profiler:
        twice[(8,)](x, y, 1000, BLOCK=128)
        torch.cuda.synchronize()
    assert torch.equal(y.cpu(), torch.arange(1000.0) * 2)
    print([e.name for e in profiler.events() if e.device_type.name == "CUDA"])
"""


class OtherProgramsTest(unittest.TestCase):
    """Programs of their own processes."""

    def run_program(self, program: str, **environment: str) -> str:
        """Runs it; returns what it printed."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program.py"
            path.write_text(textwrap.dedent(program), encoding="utf-8")
            done = subprocess.run(
                [sys.executable, str(path)],
                env={**os.environ, **environment},
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_kernels_of_triton(self) -> None:
        if os.environ.get("TORCH_CUDA_DEVICES", "").partition(":")[0] != "sim":
            self.skipTest("the device runs no PTX")
        try:
            import triton  # noqa: F401
        except ImportError:
            self.skipTest("no Triton")
        self.assertIn("'twice'", self.run_program(_TRITON))

    def test_workers_of_a_loader_while_profiling(self) -> None:
        said = self.run_program(
            """
            import torch
            from torch.profiler import profile
            from torch.utils.data import DataLoader
            if __name__ == "__main__":
                x = torch.ones(4, device="cuda")
                with profile() as profiler:
                    for batch in DataLoader(torch.arange(12.0), batch_size=4, num_workers=2):
                        x.add_(batch.cuda())
                work = [e.name for e in profiler.events() if e.device_type.name == "CUDA"]
                print(sum("add_" in name for name in work), sum("HtoD" in name for name in work))
            """
        )
        self.assertEqual(said, "3 3")


def ctypes_memset(tensor: torch.Tensor) -> None:
    """Fills a tensor's memory by the runtime's own function."""
    import ctypes

    name = f"libcudart.so.{(torch.version.cuda or '').partition('.')[0]}"
    status = ctypes.CDLL(name).cudaMemset(
        ctypes.c_void_p(tensor.data_ptr()), 0, ctypes.c_size_t(tensor.nbytes)
    )
    if status != 0:
        raise RuntimeError(f"cudaMemset: {status}")


if __name__ == "__main__":
    unittest.main()
