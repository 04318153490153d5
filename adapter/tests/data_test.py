"""Programs whose parts meet: the data loader, training with AMP, storages, packed sequences."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import torch
from absl.testing import absltest
from torch.utils.data import DataLoader, TensorDataset
from torch_cuda_adapter.runtime import activate, restore

_PROGRAMS = pathlib.Path(__file__).parent / "programs"
_DEADLINE_S = 240


class DataTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        activate("stand-in")
        self.addCleanup(restore)

    def test_loader_pins_batches(self) -> None:
        data = TensorDataset(torch.arange(12.0))
        for workers in (0, 2):
            for device in ("", "cuda"):
                loader = DataLoader(
                    data,
                    batch_size=4,
                    pin_memory=True,
                    num_workers=workers,
                    pin_memory_device=device,
                )
                batches = [batch for (batch,) in loader]
                self.assertTrue(all(batch.is_pinned() for batch in batches))
                moved = torch.cat([batch.to("cuda", non_blocking=True) for batch in batches])
                torch.cuda.synchronize()
                self.assertEqual(moved.cpu().tolist(), list(map(float, range(12))))

    def test_pinned_memory_of_tensors(self) -> None:
        x = torch.ones(4).pin_memory()
        self.assertTrue(x.is_pinned())
        self.assertFalse(torch.ones(4).is_pinned())
        self.assertTrue(torch.empty(4, pin_memory=True).is_pinned())

    def test_packed_sequences_and_storages(self) -> None:
        packed = torch.nn.utils.rnn.pack_sequence([torch.ones(3), torch.ones(2)]).cuda()
        self.assertTrue(packed.is_cuda)
        self.assertEqual(packed.to("cpu").data.device.type, "cpu")
        storage = torch.ones(4).untyped_storage().cuda()
        self.assertEqual(storage.device, torch.device("cuda:0"))
        self.assertEqual(storage.cpu().tolist(), torch.ones(4).untyped_storage().tolist())

    def test_lstm_and_optimizers(self) -> None:
        torch.manual_seed(0)
        model = torch.nn.LSTM(4, 8).cuda()
        x = torch.randn(5, 2, 4, device="cuda")
        expected, _ = torch.nn.LSTM(4, 8).requires_grad_(False)(x.cpu())
        self.assertEqual(model(x)[0].shape, expected.shape)
        for kind in (torch.optim.SGD, torch.optim.AdamW, torch.optim.RMSprop):
            optimizer = kind(model.parameters(), lr=1e-2)
            before = model(x)[0].pow(2).mean().item()
            for _ in range(3):
                optimizer.zero_grad()
                model(x)[0].pow(2).mean().backward()
                optimizer.step()
            self.assertLess(model(x)[0].pow(2).mean().item(), before)

    def test_module_parts_that_name_devices(self) -> None:
        self.assertEqual(
            torch.nn.utils.parameters_to_vector(torch.nn.Linear(2, 2).cuda().parameters()).numel(),
            6,
        )
        self.assertTrue(torch.ones(2, device="cuda").type(torch.float64).is_cuda)
        self.assertTrue(torch.ones(2).to(torch.ones(1, device="cuda")).is_cuda)
        with torch.random.fork_rng(devices=[0], device_type="cuda"):
            torch.cuda.manual_seed(1)
        self.assertTrue(
            torch.utils.checkpoint.checkpoint(
                torch.sin, torch.ones(1, device="cuda"), use_reentrant=False
            ).is_cuda
        )

    def test_cnn_with_amp_trains_unmodified(self) -> None:
        finished = subprocess.run(
            [
                sys.executable,
                "-m",
                "torch_cuda_adapter",
                "--platform",
                "stand-in",
                _PROGRAMS / "cnn.py",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_DEADLINE_S,
            check=False,
        )
        self.assertEqual(finished.returncode, 0, finished.stdout)


if __name__ == "__main__":
    absltest.main()
