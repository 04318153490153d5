"""A device that runs out of memory or is lost: the error names it, and the process goes on."""

from __future__ import annotations

import json

from absl.testing import absltest

from tests.device_behaviour import programs

_TRAINING = """
    import json
    import torch
    from torch import nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters())
    losses = []
    for step in range(20):
        batch = torch.randn(4, 8, generator=torch.Generator().manual_seed(step)).to(DEVICE)
        # Memory of its own, which is asked for anew in each step.
        scratch = torch.zeros(3 << 20, device=DEVICE)
        loss = model(batch).square().mean() + scratch[step]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        del scratch, loss
        if DEVICE == "cuda":
            torch.cuda.empty_cache()
"""
_RETRIES = """
    print(json.dumps([losses, torch.cuda.memory_stats()["num_alloc_retries"]]))
"""
_LOSSES = """
    print(json.dumps([losses, 0]))
"""
_WITHOUT_CACHE = """
    import json
    import torch
    kept, errors = [], []
    for number in range(1, 41):
        try:
            kept.append(torch.full((10,), float(number), device="cuda"))
        except RuntimeError as error:
            errors.append([number, str(error)])
    print(json.dumps([errors, sum(sum(tensor.tolist()) for tensor in kept)]))
"""
_LOST = """
    import json
    import torch
    errors = []
    while len(errors) < 3:
        try:
            torch.ones(4, device="cuda:0").cpu()
        except RuntimeError as error:
            errors.append(str(error))
    other = torch.arange(5.0, device="cuda:1").sum().item()
    print(json.dumps([errors, other, torch.ones(3).sum().item()]))
"""


def _of_training(device: str, ending: str, **settings: str) -> tuple[list[float], int]:
    losses, retries = json.loads(
        programs.output(_TRAINING.replace("DEVICE", repr(device)) + ending, **settings)
    )
    return losses, retries


class FaultsTest(absltest.TestCase):
    def test_each_tenth_allocation_fails_and_training_is_the_cpu_s(self) -> None:
        wanted, _ = _of_training("cpu", _LOSSES, TORCH_CUDA_DEVICES="fake")
        losses, retries = _of_training("cuda", _RETRIES, TORCH_CUDA_DEVICES="fake:every=10")
        self.assertEqual(losses, wanted)
        self.assertGreater(retries, 0)

    def test_a_program_without_the_allocator_s_cache_gets_each_tenth_error(self) -> None:
        errors, total = json.loads(
            programs.output(
                _WITHOUT_CACHE,
                TORCH_CUDA_DEVICES="fake:every=10",
                PYTORCH_NO_CUDA_MEMORY_CACHING="1",
            )
        )
        self.assertEqual([number for number, _ in errors], [10, 20, 30, 40])
        for _, text in errors:
            self.assertIn("out of memory", text)
        self.assertEqual(total, 10 * (sum(range(1, 41)) - 100))

    def test_a_lost_device_s_error_names_it_and_the_others_go_on(self) -> None:
        done = programs.run(_LOST, TORCH_CUDA_DEVICES="fake:count=2;lost=12")
        self.assertEqual(done.returncode, 0, done.stderr)
        errors, other, on_host = json.loads(done.stdout)
        for error in errors:
            self.assertIn("CUDA error", error)
        self.assertEqual((other, on_host), (10.0, 3.0))
        self.assertRegex(done.stderr, "torch_cuda: a device of fake is lost: .*device 0")


if __name__ == "__main__":
    absltest.main()
