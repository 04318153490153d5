"""Devices are torch_cuda_runtime's to find; what it says is said in the words of activation."""

from __future__ import annotations

import pathlib
import sys
from unittest import mock

from absl.testing import absltest

from torch_cuda import _devices
from torch_cuda._errors import ActivationError


class DevicesTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = pathlib.Path(self.create_tempdir().full_path)
        self.enter_context(mock.patch.object(sys, "path", [str(self.site), *sys.path]))
        self.enter_context(mock.patch.dict(sys.modules))

    def install(self, returns: str) -> None:
        (self.site / "acme_device.py").write_text(f"def paths():\n    return {returns}\n")
        info = self.site / "acme_device-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Name: acme_device\nVersion: 1\n")
        (info / "entry_points.txt").write_text("[torch_cuda.devices]\nacme = acme_device:paths\n")

    def test_they_are_those_of_the_runtime(self) -> None:
        library = self.site / "libaccel_acme.so"
        library.touch()
        self.install(repr({"library": str(library)}))
        (device,) = _devices.found({"TORCH_CUDA_DEVICES": "acme:2"})
        self.assertEqual((device.name, device.library), ("acme", library))

    def test_the_runtime_is_not_needed_where_nothing_is_asked_for(self) -> None:
        self.enter_context(mock.patch.dict(sys.modules, {"torch_cuda_runtime": None}))
        for environ in ({}, {"TORCH_CUDA_SIM": "0", "TORCH_CUDA_DEVICES": "acme"}):
            self.assertEqual(_devices.found(environ), [])
        _devices.announce([])
        _devices.offer_to_triton([])

    def test_mistakes_of_a_distribution_are_activation_errors(self) -> None:
        self.install("1 / 0")
        with self.assertRaisesRegex(ActivationError, "(?s)ZeroDivisionError.*acme_device:paths"):
            _devices.found({"TORCH_CUDA_DEVICES": "acme"})

    def test_the_simulated_gpu_is_named_with_what_to_type(self) -> None:
        with self.assertRaisesRegex(
            ActivationError,
            "(?s)TORCH_CUDA_SIM=1, but no torch_cuda_sim.*pip install torch_cuda_sim",
        ):
            _devices.found({"TORCH_CUDA_SIM": "1"})

    def test_so_is_the_runtime(self) -> None:
        for name in [name for name in sys.modules if name.startswith("torch_cuda_runtime")]:
            del sys.modules[name]
        sys.path[:] = [path for path in sys.path if "runtime/python" not in path]
        with self.assertRaisesRegex(
            ActivationError, "(?s)no torch_cuda_runtime with libraries.*pip install torch_cuda_run"
        ):
            _devices.found({"TORCH_CUDA_DEVICES": "acme"})


if __name__ == "__main__":
    absltest.main()
