"""Devices that installed distributions bring, and what is said when they do not."""

from __future__ import annotations

import pathlib
import sys
from unittest import mock

import torch_cuda_runtime
from absl.testing import absltest
from torch_cuda_runtime import _asked, _devices
from torch_cuda_runtime._errors import Unusable


class NamesTest(absltest.TestCase):
    def test_names_are_those_of_the_variable(self) -> None:
        for value, wanted in {
            "acme": ["acme"],
            "acme:2,sim": ["acme", "sim"],
            "sim,acme:count=2;memory=1G": ["sim", "acme"],
            "/opt/libaccel_acme.so,fake": ["/opt/libaccel_acme.so", "fake"],
            "": [],
            ",": [],
        }.items():
            self.assertEqual(_asked.libraries({"TORCH_CUDA_DEVICES": value}), wanted, value)
        self.assertEqual(_asked.libraries({}), [])

    def test_one_variable_alone_asks_for_the_simulated_gpu(self) -> None:
        for value, wanted in {"1": ["sim"], "0": [], "": []}.items():
            self.assertEqual(_asked.libraries({"TORCH_CUDA_SIM": value}), wanted, value)
        both = {"TORCH_CUDA_SIM": "1", "TORCH_CUDA_DEVICES": "acme"}
        self.assertEqual(_asked.libraries(both), ["acme"])


class FoundTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = pathlib.Path(self.create_tempdir().full_path)
        self.enter_context(mock.patch.object(sys, "path", [str(self.site), *sys.path]))
        self.enter_context(mock.patch.dict(sys.modules))
        self.library = self.site / "libaccel_acme.so"
        self.library.touch()

    def install(self, returns: str, distribution: str = "acme_device", again: bool = False) -> None:
        sys.modules.pop(distribution, None)
        (self.site / f"{distribution}.py").write_text(f"def paths():\n    return {returns}\n")
        info = self.site / f"{distribution}-1.dist-info"
        info.mkdir(exist_ok=again)
        (info / "METADATA").write_text(f"Name: {distribution}\nVersion: 1\n")
        (info / "entry_points.txt").write_text(
            f"[torch_cuda.devices]\nacme = {distribution}:paths\n"
        )

    def found(self, devices: str = "acme", **others: str) -> list[_devices.Device]:
        return _devices.found({"TORCH_CUDA_DEVICES": devices, **others})

    def test_a_distribution_says_where_its_libraries_are(self) -> None:
        operators = self.site / "operators.so"
        operators.touch()
        self.install(repr({"library": str(self.library), "operators": str(operators)}))
        self.assertEqual(
            self.found("sim,acme:2"), [_devices.Device("acme", self.library, operators)]
        )

    def test_operators_may_be_left_out(self) -> None:
        self.install(repr({"library": str(self.library)}))
        self.assertEqual(self.found(), [_devices.Device("acme", self.library, None)])

    def test_nobody_is_called_who_is_not_asked_for(self) -> None:
        self.install("1 / 0")
        self.assertEqual(self.found("sim"), [])
        self.assertEqual(self.found("/opt/acme"), [])
        self.assertEqual(self.found("acme", TORCH_CUDA_SIM="0"), [])

    def test_the_path_of_its_library_asks_for_the_device_too(self) -> None:
        """`python -m torch_cuda_runtime` starts programs with paths."""
        ptxas = self.site / "ptxas"
        ptxas.touch()
        self.install(repr({"library": str(self.library), "ptxas": str(ptxas)}))
        other = self.site / "other" / self.library.name
        self.assertEqual(
            self.found(f"{self.library}:2"), [_devices.Device("acme", self.library, None, ptxas)]
        )
        self.assertEqual(self.found(str(other)), [])
        self.install("1 / 0", again=True)
        self.assertEqual(self.found(str(self.library)), [])

    def test_other_names_are_the_runtime_s(self) -> None:
        self.assertEqual(self.found("acme"), [])

    def test_what_a_distribution_does_wrong_is_told_with_its_name(self) -> None:
        self.install("1 / 0")
        with self.assertRaisesRegex(Unusable, "(?s)ZeroDivisionError.*acme_device:paths"):
            self.found()

    def test_a_path_has_to_be_said(self) -> None:
        self.install("{}")
        with self.assertRaisesRegex(Unusable, "(?s)KeyError: 'library'.*of acme_device"):
            self.found()

    def test_files_have_to_be_there(self) -> None:
        gone = str(self.site / "gone.so")
        self.install(repr({"library": str(self.library), "operators": gone}))
        with self.assertRaisesRegex(Unusable, f"no file {gone}"):
            self.found()

    def test_the_simulated_gpu_is_named_with_what_to_type(self) -> None:
        with self.assertRaisesRegex(
            Unusable,
            "(?s)TORCH_CUDA_SIM=1, but no torch_cuda_sim.*pip install torch_cuda_sim",
        ):
            _devices.found({"TORCH_CUDA_SIM": "1"})

    def test_triton_is_told_where_it_finds_what_it_needs(self) -> None:
        runtime = torch_cuda_runtime.library_folder()
        ptxas = self.site / "ptxas"
        ptxas.touch()
        asked = {"TORCH_CUDA_DEVICES": "acme"}
        self.install(repr({"library": str(self.library)}))
        environ = dict(asked)
        _devices.offer_to_triton(_devices.found(environ), environ)
        # A device without an assembler runs no kernels of Triton's: its driver says so.
        self.assertEqual(environ, {**asked, "TRITON_LIBCUDA_PATH": str(runtime)})
        environ = {}
        _devices.offer_to_triton([], environ)
        self.assertEqual(environ, {})
        # No distribution brings it.
        environ = {"TORCH_CUDA_DEVICES": "fake"}
        _devices.offer_to_triton(_devices.found(environ), environ)
        self.assertEqual(environ["TRITON_LIBCUDA_PATH"], str(runtime))
        environ = dict(asked)
        told = {
            "TRITON_PTXAS_PATH": str(ptxas),
            "TRITON_PTXAS_BLACKWELL_PATH": str(ptxas),
            "TRITON_LIBCUDA_PATH": str(runtime),
            "LIBRARY_PATH": str(runtime),
        }
        self.install(repr({"library": str(self.library), "ptxas": str(ptxas)}), again=True)
        _devices.offer_to_triton(_devices.found(environ), environ)
        self.assertEqual(environ, {**asked, **told})
        environ = {**asked, "TRITON_PTXAS_PATH": "/of/the/user"}
        _devices.offer_to_triton(_devices.found(environ), environ)
        self.assertEqual(environ, {**asked, **told, "TRITON_PTXAS_PATH": "/of/the/user"})
        environ = {**asked, "LIBRARY_PATH": "/of/the/user"}
        for _ in range(2):
            _devices.offer_to_triton(_devices.found(environ), environ)
        self.assertEqual(environ, {**asked, **told, "LIBRARY_PATH": f"/of/the/user:{runtime}"})
        paths = {"library": str(self.library), "ptxas": str(ptxas), "triton_arch": "sm80"}
        self.install(repr(paths), again=True)
        for arch, variables in (("sm80", {}), ("sm90", {"TRITON_OVERRIDE_ARCH": "sm90"})):
            environ = {**asked, **variables}
            _devices.offer_to_triton(_devices.found(environ), environ)
            self.assertEqual(environ, {**asked, **told, "TRITON_OVERRIDE_ARCH": arch})

    def test_two_devices_of_one_name_are_refused(self) -> None:
        self.install(repr({"library": str(self.library)}))
        self.install(repr({"library": str(self.library)}), "other_device")
        with self.assertRaisesRegex(Unusable, "from acme_device and other_device"):
            self.found()


if __name__ == "__main__":
    absltest.main()
