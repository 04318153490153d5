"""A vendor's device, as //device:new writes it, beside a torch of PyPI: what its users see, right and wrong.

TORCH_CUDA_DEVICES=acme python tests/stock/vendor_test.py, where the wheels of torch_cuda_runtime, torch_cuda_sim and
the device are installed.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import torch
from torch import nn

_MINOR = ".".join(torch.__version__.split(".")[:2])
_OPERATORS = f"libaccel_acme_operators-{_MINOR}.so"


def folder() -> pathlib.Path:
    """Where the installed device's libraries are."""
    import acme_torch_device  # type: ignore[import-not-found]

    return pathlib.Path(acme_torch_device.__file__).parent / "lib"


def train(device: str) -> list[float]:
    """The losses of a few steps of a convolutional network with AdamW."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.SiLU(), nn.Flatten(), nn.Linear(144, 8), nn.ReLU()
    )
    model.append(nn.Linear(8, 3)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    losses = []
    for _ in range(6):
        images, labels = torch.randn(16, 1, 8, 8).to(device), torch.randint(3, (16,)).to(device)
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def run(program: str, devices: str) -> subprocess.CompletedProcess[str]:
    """Runs a program of its own, with devices."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "TORCH_CUDA_DEVICES": devices},
        capture_output=True,
        text=True,
        check=False,
    )


class VendorTest(unittest.TestCase):
    """The installed wheel."""

    def test_torch_is_pypi_s_and_the_device_is_the_vendor_s(self) -> None:
        self.assertIsNotNone(torch.version.cuda)
        self.assertEqual(torch.cuda.get_device_name(0), "acme")
        with self.assertRaises(ImportError):
            __import__("torch_cuda")

    def test_losses_are_those_of_the_cpu(self) -> None:
        torch.testing.assert_close(torch.tensor(train("cuda")), torch.tensor(train("cpu")))

    def test_the_kernels_are_those_for_this_torch(self) -> None:
        torch.cuda.init()
        for operator in ("aten::relu", "aten::silu", "aten::silu_", "aten::silu.out"):
            self.assertIn(_OPERATORS, torch._C._dispatch_dump(operator))
        self.assertNotIn(_OPERATORS, torch._C._dispatch_dump("aten::tanh"))

    def test_who_serves_is_said(self) -> None:
        import torch_cuda_runtime

        self.assertEqual(torch_cuda_runtime.served_by("aten::relu"), "acme")
        self.assertEqual(torch_cuda_runtime.served_by("aten::tanh"), "host")
        with self.assertRaises(ValueError):
            torch_cuda_runtime.served_by("aten::no_such")

    def test_beside_the_simulated_gpu_each_has_its_own(self) -> None:
        done = run(
            """
            import torch
            import torch_cuda_runtime
            print(torch.cuda.get_device_name(1))
            print([torch_cuda_runtime.served_by("aten::relu", device) for device in (0, 1)])
            for device in ("cuda:0", "cuda:1"):
                print(torch.relu(torch.tensor([-1.0, 2.0], device=device)).tolist())
            try:
                torch.ops.acme.soft_clip(torch.ones(1, device="cuda:0"), 1.0)
            except NotImplementedError:
                print("refused")
            """,
            "sim,acme",
        )
        self.assertEqual(
            done.stdout, "acme\n['host', 'acme']\n[0.0, 2.0]\n[0.0, 2.0]\nrefused\n", done.stderr
        )


class WrongLibraryTest(unittest.TestCase):
    """Libraries of operators that are not for this torch: one message, before anything of them runs."""

    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.device = str(shutil.copy(folder() / "libaccel_acme.so", self.folder))

    def said(self) -> str:
        done = run("import torch; torch.ones(1, device='cuda')", self.device)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_a_device_without_any_runs_on_the_cpu_s(self) -> None:
        done = run(
            "import torch; print(torch.relu(torch.ones(1, device='cuda')).item())", self.device
        )
        self.assertEqual(done.stdout, "1.0\n", done.stderr)

    def test_those_of_other_versions_only(self) -> None:
        others = [one for one in folder().glob("*_operators-*.so") if one.name != _OPERATORS]
        self.assertTrue(others)
        for other in others:
            shutil.copy(other, self.folder)
        said = self.said()
        for word in (
            "acme",
            "found those for PyTorch ",
            f"needed is {_OPERATORS}",
            "python -m pip install 'torch==",
        ):
            self.assertIn(word, said)

    def test_another_version_s_under_a_name_that_is_taken(self) -> None:
        other = next(one for one in folder().glob("*_operators-*.so") if one.name != _OPERATORS)
        version = other.stem.rpartition("-")[2]
        for name in (_OPERATORS, "libaccel_acme_operators.so"):
            shutil.copy(other, self.folder / name)
            self.assertIn(f"compiled for PyTorch {version}, and this is {_MINOR}", self.said())
            (self.folder / name).unlink()

    def test_one_that_does_not_say_its_version(self) -> None:
        content = (folder() / _OPERATORS).read_bytes()
        self.assertEqual(content.count(b"torch_cuda_vendor_torch="), 1)
        damaged = content.replace(b"torch_cuda_vendor_torch=", b"xorch_cuda_vendor_torch=")
        (self.folder / _OPERATORS).write_bytes(damaged)
        self.assertIn("does not say for which PyTorch", self.said())

    def test_what_is_no_library(self) -> None:
        (self.folder / _OPERATORS).write_text("no library")
        self.assertIn("the operators of device library acme", self.said())


if __name__ == "__main__":
    unittest.main()
