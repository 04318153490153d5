"""When CUDA's libraries over other devices are asked for, and what is said when they are not there."""

from __future__ import annotations

import pathlib
import sys
from unittest import mock

from absl.testing import absltest

from torch_cuda import _libraries, _runtime
from torch_cuda._errors import ActivationError


class RequestTest(absltest.TestCase):
    def test_it_is_opt_in(self) -> None:
        self.assertIsNone(_runtime.requested_by({}))
        self.assertIsNone(_runtime.library_folder({}))

    def test_values_that_mean_no(self) -> None:
        for value in ("", "0", "false", "No", " off "):
            self.assertIsNone(_runtime.requested_by({"TORCH_CUDA_SIM": value}), value)

    def test_values_that_mean_yes(self) -> None:
        for value in ("1", "true", "sm_90"):
            self.assertEqual(
                _runtime.requested_by({"TORCH_CUDA_SIM": value}), "TORCH_CUDA_SIM", value
            )

    def test_a_choice_of_devices_asks_for_them(self) -> None:
        for value in ("fake", "fake:2,sim", "/path/of/libaccel_vendor.so"):
            self.assertEqual(
                _runtime.requested_by({"TORCH_CUDA_DEVICES": value}), "TORCH_CUDA_DEVICES", value
            )
        self.assertIsNone(_runtime.requested_by({"TORCH_CUDA_DEVICES": " "}))

    def test_no_is_no_whatever_the_devices(self) -> None:
        environ = {"TORCH_CUDA_SIM": "0", "TORCH_CUDA_DEVICES": "fake"}
        self.assertIsNone(_runtime.requested_by(environ))


class FolderTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = pathlib.Path(self.create_tempdir().full_path)
        self.enter_context(mock.patch.object(sys, "path", [str(self.site), *sys.path]))
        sys.modules.pop("torch_cuda_runtime", None)

    def install(self, *libraries: str) -> pathlib.Path:
        folder = self.site / "torch_cuda_runtime" / "lib"
        folder.mkdir(parents=True)
        (folder.parent / "__init__.py").touch()
        for library in libraries:
            (folder / library).write_bytes(b"not a library")
        return folder

    def test_it_is_the_installed_package_s(self) -> None:
        folder = self.install("libcuda.so.1")
        self.assertEqual(_runtime.library_folder({"TORCH_CUDA_SIM": "1"}), folder)

    def test_it_comes_before_every_other_place(self) -> None:
        folder = self.install("libcuda.so.1", "libcudart.so.12")
        mine = self.create_tempdir()
        mine.create_file("libcudart.so.12")
        found = _libraries.candidates(
            "libcudart.so.12",
            "nvidia-cuda-runtime-cu12",
            {"TORCH_CUDA_SIM": "1", "TORCH_CUDA_LIBRARY_PATH": mine.full_path},
            [],
        )
        self.assertEqual([path.parent for _, path in found], [folder, pathlib.Path(mine.full_path)])

    def test_a_package_without_libraries_does_not_count(self) -> None:
        self.install()
        with self.assertRaisesRegex(ActivationError, "no torch_cuda_runtime with libraries"):
            _runtime.library_folder({"TORCH_CUDA_SIM": "1"})

    def test_what_is_missing_is_named_with_what_to_type(self) -> None:
        for environ in (
            {"TORCH_CUDA_DEVICES": "fake"},
            {"TORCH_CUDA_DEVICES": "x", "TORCH_CUDA_SIM": "1"},
        ):
            with self.assertRaisesRegex(ActivationError, "pip install torch_cuda_runtime"):
                _runtime.library_folder(environ)

    def test_the_simulated_gpu_is_one_thing_to_type(self) -> None:
        """pip gets the runtime with it."""
        sys.path[:] = [path for path in sys.path if "runtime/python" not in path]
        text = "(?s)TORCH_CUDA_SIM=1, but no torch_cuda_sim.*pip install torch_cuda_sim "
        with self.assertRaisesRegex(ActivationError, text):
            _runtime.library_folder({"TORCH_CUDA_SIM": "1"})
        (self.site / "torch_cuda_sim").mkdir()
        (self.site / "torch_cuda_sim" / "__init__.py").touch()
        with self.assertRaisesRegex(ActivationError, "pip install torch_cuda_runtime"):
            _runtime.library_folder({"TORCH_CUDA_SIM": "1"})

    def test_the_variable_that_asks_is_named(self) -> None:
        with self.assertRaisesRegex(ActivationError, "TORCH_CUDA_DEVICES=fake, but no torch_cuda"):
            _runtime.library_folder({"TORCH_CUDA_DEVICES": "fake"})

    def test_a_broken_driver_is_an_activation_error(self) -> None:
        folder = self.install("libcuda.so.1")
        with self.assertRaisesRegex(ActivationError, "does not load"):
            _runtime.load_driver(folder)


if __name__ == "__main__":
    absltest.main()
