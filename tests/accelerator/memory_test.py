"""The allocator's figures are those of a device that runs CUDA's own kernels."""

from __future__ import annotations

import json

import torch
from absl.testing import absltest

from tests.device_behaviour import programs

_PROGRAM = """
    import json
    import torch
    from torch import nn
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5)
    ).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    figures = [torch.cuda.memory_allocated()]
    for _ in range(3):
        loss = nn.functional.cross_entropy(
            model(torch.ones(2, 3, 8, 8, device="cuda")), torch.tensor([1, 2], device="cuda")
        )
        figures.append(torch.cuda.memory_allocated())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        del loss
        figures.append(torch.cuda.memory_allocated())
    del model, optimizer
    figures.append(torch.cuda.memory_allocated())
    print(json.dumps(figures))
"""

# What a program itself asks for, on two streams, with memory that is given back and asked for again.
_OWN = """
    import json
    import torch
    side = torch.cuda.Stream()
    kept = [torch.empty(n, device="cuda") for n in (1, 1000, 1 << 18, 3 << 20)]
    with torch.cuda.stream(side):
        beside = torch.empty(12345, device="cuda", dtype=torch.float64)
    beside.record_stream(torch.cuda.current_stream())
    kept[1].resize_(5000)
    kept[2].set_(kept[3])
    del kept[0], beside
    side.synchronize()
    grown = torch.empty(5 << 20, dtype=torch.uint8, device="cuda")
    del grown
    torch.cuda.empty_cache()
    again = torch.empty(200, 200, device="cuda")
    torch.cuda.reset_peak_memory_stats()
    more = torch.empty_like(again)
    stats = {name: value for name, value in torch.cuda.memory_stats().items() if "time" not in name}
    segments = [
        {
            **{name: segment[name] for name in ("total_size", "allocated_size", "segment_type", "is_expandable")},
            "blocks": [(block["size"], block["requested_size"], block["state"]) for block in segment["blocks"]],
        }
        for segment in torch.cuda.memory_snapshot()
    ]
    print(json.dumps([stats, sorted(segments, key=str)]))
"""

# Asked for in the environment, and again by a call.
_EXPANDABLE = """
    import json
    import warnings
    import torch

    def state():
        settings = torch.cuda.memory._snapshot()["allocator_settings"]
        return [settings["expandable_segments"], settings["max_split_size"] >> 20]

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        tensor = torch.ones(3 << 20, device="cuda")
        found = [state()]
        torch.cuda.memory._set_allocator_settings("max_split_size_mb:32,expandable_segments:True")
        more = torch.ones(3 << 20, device="cuda")
        found.append(state())
    texts = [str(warning.message) for warning in said if "expandable" in str(warning.message)]
    print(json.dumps([found, texts, tensor.sum().item() + more.sum().item()]))
"""


class MemoryTest(absltest.TestCase):
    def test_a_training_s_steps(self) -> None:
        # cuBLAS's workspace is the allocator's too, and only CUDA's kernels need one.
        settings = {"CUBLAS_WORKSPACE_CONFIG": ":0:0"}
        figures = [
            json.loads(programs.output(_PROGRAM, TORCH_CUDA_DEVICES=devices, **settings))
            for devices in ("fake", "sim")
        ]
        self.assertEqual(figures[0], figures[1])
        self.assertGreater(figures[0][2], 0)

    def test_all_figures_of_memory_that_a_program_asks_for(self) -> None:
        here, there = (
            json.loads(programs.output(_OWN, TORCH_CUDA_DEVICES=devices))
            for devices in ("fake", "sim")
        )
        self.assertEqual(here[0], there[0])
        self.assertEqual(here[1], there[1])
        self.assertGreater(here[0]["segment.all.freed"], 0)

    def test_expandable_segments_are_left_off_without_virtual_memory(self) -> None:
        asked = "max_split_size_mb:64, expandable_segments:True"
        for devices, which in (("fake", "cuda:0"), ("sim,fake", "cuda:1"), ("sim", None)):
            found, texts, total = json.loads(
                programs.output(
                    _EXPANDABLE, TORCH_CUDA_DEVICES=devices, PYTORCH_CUDA_ALLOC_CONF=asked
                )
            )
            self.assertEqual(found, [[which is None, 64], [which is None, 32]], devices)
            self.assertEqual(total, 6 << 20, devices)
            self.assertLen(texts, 0 if which is None else 2, devices)
            for text in texts:
                self.assertIn(f"{which} without virtual memory", text)

    def test_a_result_is_counted_once_and_freed(self) -> None:
        before = torch.cuda.memory_allocated()
        tensor = torch.ones(1024, device="cuda")
        result = (tensor + 1).sort().values
        self.assertEqual(torch.cuda.memory_allocated() - before, 2 * 4096)
        del tensor, result
        self.assertEqual(torch.cuda.memory_allocated(), before)

    def test_snapshots_have_the_blocks(self) -> None:
        tensor = torch.ones(1000, device="cuda").exp()
        blocks = {
            block["address"]: block["state"]
            for segment in torch.cuda.memory_snapshot()
            for block in segment["blocks"]
        }
        self.assertEqual(blocks[tensor.data_ptr()], "active_allocated")


if __name__ == "__main__":
    absltest.main()
