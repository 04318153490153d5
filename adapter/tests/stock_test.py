"""What CUDA programs do with parts of PyTorch that differ from version to version, and in a build with CUDA."""

from __future__ import annotations

import io
from typing import Any

import torch
from absl.testing import absltest
from torch.nn import functional
from torch_cuda_adapter.errors import UnavailableError
from torch_cuda_adapter.runtime import activate, restore


class StockTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        activate("stand-in")
        self.addCleanup(restore)

    def test_training_with_amp_is_the_cpus(self) -> None:
        losses: dict[str, list[float]] = {}
        for device in ("cpu", "cuda"):
            torch.manual_seed(0)
            model = torch.nn.Sequential(
                torch.nn.Conv2d(3, 4, 3),
                torch.nn.BatchNorm2d(4),
                torch.nn.Flatten(),
                torch.nn.Linear(144, 4),
            ).to(device)
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
            scaler = torch.amp.GradScaler(device)
            x, y = torch.randn(8, 3, 8, 8).to(device), torch.arange(8).remainder(4).to(device)
            losses[device] = []
            for _ in range(3):
                with torch.autocast(device, dtype=torch.bfloat16):
                    loss = functional.cross_entropy(model(x), y)
                optimizer.zero_grad()
                scaler.scale(loss).backward()
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
                losses[device].append(loss.item())
        torch.testing.assert_close(losses["cuda"], losses["cpu"], rtol=2e-2, atol=2e-2)

    def test_second_derivatives(self) -> None:
        x = torch.randn(5, device="cuda", requires_grad=True)
        (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x)
        torch.testing.assert_close(second, 6 * x)

    def test_streams_and_events(self) -> None:
        stream = torch.cuda.Stream()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.stream(stream):
            begin.record()
            y = torch.ones(100, device="cuda") * 2
            end.record()
            y.record_stream(torch.cuda.current_stream())
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        self.assertGreaterEqual(begin.elapsed_time(end), 0)
        self.assertEqual(y.sum().item(), 200)

    def test_accelerator_is_the_device(self) -> None:
        accelerator = torch.accelerator
        self.assertEqual(accelerator.current_accelerator(), torch.device("cuda"))
        self.assertTrue(accelerator.is_available())
        self.assertEqual(accelerator.device_count(), torch.cuda.device_count())
        self.assertEqual(torch.ones(1).to(1).device, torch.device("cuda:1"))

    def test_graphs_of_callables(self) -> None:
        """PyTorch gives its graphs keywords that a platform may not know yet."""
        graph = torch.cuda.CUDAGraph()
        x = torch.zeros(3, device="cuda")
        with torch.cuda.graph(graph):
            y = x + 1
        x.fill_(4)
        graph.replay()
        self.assertEqual(y.tolist(), [5.0, 5.0, 5.0])
        model = torch.nn.Linear(3, 3).cuda()
        made: Any = torch.cuda.make_graphed_callables(model, (torch.zeros(2, 3, device="cuda"),))
        self.assertEqual(made(torch.ones(2, 3, device="cuda")).shape, (2, 3))

    def test_compile_without_inductor(self) -> None:
        def function(x: torch.Tensor) -> torch.Tensor:
            return x.sin() * torch.cuda.device_count() if x.is_cuda else x

        x = torch.ones(4, device="cuda")
        for backend in ("eager", "aot_eager"):
            torch.testing.assert_close(torch.compile(function, backend=backend)(x), function(x))

    def test_files_and_generators(self) -> None:
        generator = torch.Generator("cuda").manual_seed(3)
        numbers = torch.rand(3, device="cuda", generator=generator)
        file = io.BytesIO()
        torch.save({"numbers": numbers, "state": generator.get_state()}, file)
        for place in ("cpu", "cuda:1"):
            file.seek(0)
            self.assertEqual(
                torch.load(file, map_location=place)["numbers"].device, torch.device(place)
            )

    def test_no_library_of_cudas_is_asked(self) -> None:
        """cuDNN's version would be compared with the device's generation, and its networks taken."""
        self.assertFalse(torch.backends.cudnn.is_available())
        self.assertIsNone(torch.backends.cudnn.version())
        x = torch.ones(2, 1, 3, device="cuda")
        self.assertFalse(torch.backends.cudnn.is_acceptable(x))
        self.assertEqual(torch.nn.LSTM(3, 4).cuda()(x)[0].shape, (2, 1, 4))

    def test_what_is_cudas_alone_is_refused_in_the_platforms_words(self) -> None:
        calls: dict[str, Any] = {
            # NVIDIA's GPUs may be there as well.
            "utilization": torch.cuda.utilization,
            "list_gpu_processes": torch.cuda.list_gpu_processes,
            "memory_snapshot": torch.cuda.memory_snapshot,
            "MemPool": lambda: torch.cuda.MemPool(),
        }
        for name, call in calls.items():
            with (
                self.subTest(name),
                self.assertRaisesRegex(UnavailableError, "stand-in has nothing"),
            ):
                call()
        self.assertNotIsInstance(torch.ones(1), torch.cuda.MemPool)

    def test_functions_of_a_build_with_cuda(self) -> None:
        if not torch._C._has_cuda:
            self.skipTest("torch is built without CUDA")
        self.assertEqual(torch._C._cuda_getDeviceCount(), torch.cuda.device_count())
        snapshot: Any = torch._C._cuda_memorySnapshot
        for call in (
            lambda: snapshot(None),
            lambda: torch.cuda.comm.broadcast(torch.ones(2), [0, 1]),
            lambda: torch.backends.cuda.cufft_plan_cache.size,
            lambda: torch.backends.cuda.cufft_plan_cache[0],
        ):
            with self.assertRaisesRegex(UnavailableError, "stand-in has nothing"):
                call()


if __name__ == "__main__":
    absltest.main()
