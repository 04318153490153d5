"""Where CUDA libraries are looked for, in which order they load, what is said when they do not."""

from __future__ import annotations

import ctypes
import dataclasses
import pathlib
import types
from typing import Any

from absl.testing import absltest

from torch_cuda import _libraries
from torch_cuda._errors import ActivationError
from torch_cuda.fake_installation import BUILD


def cudart(version: int, status: int = 0) -> Any:
    """A fake of a loaded CUDA runtime."""

    def get_version(out: Any) -> int:
        out._obj.value = version
        return status

    return types.SimpleNamespace(cudaRuntimeGetVersion=get_version)


def runtime(version: int) -> _libraries.Library:
    return _libraries.Library("libcudart.so.12", "system", None, cudart(version))


NEEDS_RUNTIME = dataclasses.replace(
    BUILD, cuda_libraries={"libcudart.so.12": "nvidia-cuda-runtime-cu12"}
)


class SearchTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.root = pathlib.Path(self.create_tempdir().full_path)

    def put(self, folder: str) -> pathlib.Path:
        path = self.root / folder / "libcudart.so.12"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
        return path

    def found(self, environ: dict[str, str]) -> list[tuple[str, pathlib.Path]]:
        return _libraries.candidates(
            "libcudart.so.12", "nvidia-cuda-runtime-cu12", environ, [str(self.root / "site")]
        )

    def test_package_of_pypi_is_searched(self) -> None:
        path = self.put("site/nvidia/cuda_runtime/lib")
        self.assertEqual(self.found({}), [("nvidia-cuda-runtime-cu12", path)])

    def test_variable_comes_before_package(self) -> None:
        in_package = self.put("site/nvidia/cuda_runtime/lib")
        mine = self.put("mine")
        found = self.found({"TORCH_CUDA_LIBRARY_PATH": f"{self.root}/nothing:{mine.parent}"})
        self.assertEqual([path for _, path in found], [mine, in_package])

    def test_nothing_is_found_where_nothing_is(self) -> None:
        self.assertEqual(self.found({"TORCH_CUDA_LIBRARY_PATH": ""}), [])

    def test_folder_of_a_package_follows_from_its_name(self) -> None:
        self.assertEqual(
            [
                _libraries.pip_folder(package)
                for package in ("nvidia-cublas-cu12", "nvidia-cuda-runtime-cu12")
            ],
            ["nvidia/cublas/lib", "nvidia/cuda_runtime/lib"],
        )


class OrderTest(absltest.TestCase):
    def test_libraries_load_after_those_they_need(self) -> None:
        self.assertEqual(
            _libraries.in_load_order(
                [
                    "libcusolver.so.11",
                    "libother.so.1",
                    "libcusparse.so.12",
                    "libcublas.so.12",
                    "libcublasLt.so.12",
                    "libnvJitLink.so.12",
                    "libcudart.so.12",
                ]
            ),
            [
                "libcudart.so.12",
                "libnvJitLink.so.12",
                "libcublasLt.so.12",
                "libcublas.so.12",
                "libcusparse.so.12",
                "libcusolver.so.11",
                "libother.so.1",
            ],
        )

    def test_compiler_and_solver_are_left_for_their_first_use(self) -> None:
        libraries = {"libnvrtc.so.12": "", "libcusolver.so.11": "", "libcudart.so.12": ""}
        self.assertEqual(_libraries.needed_at_start(libraries), ["libcudart.so.12"])
        self.assertEqual(
            _libraries.needed_on_first_use(libraries), ["libcusolver.so.11", "libnvrtc.so.12"]
        )


class LoadTest(absltest.TestCase):
    def test_library_that_is_loaded_already_is_used(self) -> None:
        library = _libraries.load("libc.so.6", "nvidia-none-cu12", {}, [])
        self.assertEqual(library.origin, "already loaded")

    def test_broken_file_is_not_stepped_over(self) -> None:
        root = pathlib.Path(self.create_tempdir().full_path)
        (root / "libcudart.so.12").write_bytes(b"no library")
        with self.assertRaisesRegex(OSError, str(root)):
            _libraries.load(
                "libcudart.so.12", "nvidia-none-cu12", {_libraries.PATH_VARIABLE: str(root)}, []
            )

    def test_all_missing_libraries_are_named_at_once(self) -> None:
        build = dataclasses.replace(
            BUILD,
            cuda_libraries={
                "libnosuchblas.so.12": "nvidia-nosuchblas-cu12",
                "libnosuchfft.so.11": "nvidia-nosuchfft-cu12",
            },
        )
        with self.assertRaises(ActivationError) as caught:
            _libraries.preload(build, {}, [])
        text = str(caught.exception)
        self.assertIn("libnosuchblas.so.12", text)
        self.assertIn("libnosuchfft.so.11", text)
        self.assertIn("pip install nvidia-nosuchblas-cu12 nvidia-nosuchfft-cu12", text)
        self.assertIn("TORCH_CUDA_LIBRARY_PATH", text)

    def test_nothing_needed_is_nothing_loaded(self) -> None:
        self.assertEqual(_libraries.preload(BUILD, {}, []), [])


class VersionTest(absltest.TestCase):
    def test_runtime_of_the_build_or_newer_passes(self) -> None:
        for version in (12040, 12060):
            _libraries.check_version(runtime(version), NEEDS_RUNTIME)

    def test_older_runtime_is_refused_with_both_versions_named(self) -> None:
        with self.assertRaises(ActivationError) as caught:
            _libraries.check_version(runtime(12020), NEEDS_RUNTIME)
        text = str(caught.exception)
        self.assertIn("found the CUDA runtime 12.2 (libcudart.so.12, system)", text)
        self.assertIn("needed CUDA 12.4 or newer", text)
        self.assertIn('pip install --upgrade "nvidia-cuda-runtime-cu12>=12.4"', text)

    def test_versions_are_compared_as_numbers(self) -> None:
        build = dataclasses.replace(NEEDS_RUNTIME, cuda_version="12.9")
        _libraries.check_version(runtime(12100), build)

    def test_other_libraries_are_not_asked(self) -> None:
        library = _libraries.Library("libc.so.6", "system", None, ctypes.CDLL("libc.so.6"))
        _libraries.check_version(library, NEEDS_RUNTIME)

    def test_runtime_that_does_not_answer_is_an_error(self) -> None:
        with self.assertRaisesRegex(OSError, "error 3"):
            _libraries.runtime_version(cudart(0, status=3))

    def test_library_that_is_no_runtime_is_an_error(self) -> None:
        with self.assertRaisesRegex(OSError, "not a CUDA runtime"):
            _libraries.runtime_version(ctypes.CDLL("libc.so.6"))


if __name__ == "__main__":
    absltest.main()
