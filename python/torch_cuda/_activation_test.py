"""`import torch` beside an installed torch_cuda: what turns it on, what keeps it off.

Real torch in processes of their own; the compiled parts are fakes. Every error has to leave one
warning and a torch that works on the CPU.
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import torch
from absl.testing import absltest

from torch_cuda import fake_installation
from torch_cuda.fake_installation import FakeInstallation, Run

# Prints "cpu" when torch is the CPU torch that it is without the plugin.
USE_CPU = """
import torch
assert torch.ones(3).sum().item() == 3
assert not torch.cuda._is_compiled() and not torch.backends.cuda.is_built()
assert not torch.cuda.is_available() and torch.version.cuda is None
assert not hasattr(torch.cuda, "_CUDAC")
try:
    torch.zeros(3, device="cuda")
except AssertionError as error:
    assert "not compiled with CUDA" in str(error)
try:
    torch.cuda.Stream()
except RuntimeError as error:
    assert "dummy base class Stream" in str(error)
print("cpu")
"""
IS_ON = "import torch; print(torch.cuda._is_compiled())"


class ActivationTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = pathlib.Path(self.create_tempdir().full_path)

    def assert_off_without_a_word(self, run: Run) -> None:
        self.assertEqual(run, Run(0, "cpu", ""))

    def assert_off_with_one_warning(self, run: Run, *parts: str) -> None:
        self.assertEqual((run.code, run.out), (0, "cpu"), run.err)
        self.assertEqual(run.warnings, 1, run.err)
        self.assertIn("ActivationWarning: torch_cuda is installed but stays off", run.err)
        self.assertNotIn("Traceback", run.err)
        for part in ("found ", "needed ", "To fix it: ", *parts):
            self.assertIn(part, run.err)


class OnTest(ActivationTest):
    def test_import_torch_turns_it_on_without_a_word(self) -> None:
        run = FakeInstallation(self.site).run(IS_ON)
        self.assertEqual(run, Run(0, "True", ""))

    def test_importing_the_plugin_first_works_as_well(self) -> None:
        run = FakeInstallation(self.site).run(
            "import torch_cuda; print(torch_cuda.core.Stream.__module__, torch_cuda.is_active())"
        )
        self.assertEqual(run, Run(0, "torch.cuda.streams True", ""))

    def test_importing_the_plugin_alone_does_not_import_torch(self) -> None:
        run = FakeInstallation(self.site).run(
            "import sys, torch_cuda; print(torch_cuda.__version__, 'torch' in sys.modules)"
        )
        self.assertEqual(run, Run(0, "2.6.0+cu124 False", ""))

    def test_explicit_activation_works_where_autoload_is_off(self) -> None:
        run = FakeInstallation(self.site).run(
            "import torch, torch_cuda\n"
            "assert not torch.cuda._is_compiled()\n"
            "torch_cuda.activate()\n"
            "torch_cuda.activate()\n"
            "print(torch.cuda._is_compiled(), torch_cuda.why_inactive())",
            {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        )
        self.assertEqual(run, Run(0, "True None", ""))

    def test_library_of_a_package_is_loaded_and_its_version_read(self) -> None:
        _compile_runtime(self.site / "nvidia/cuda_runtime/lib", version=12060)
        run = FakeInstallation(self.site, CUDA_LIBRARIES=RUNTIME).run(
            "import torch; print('nvidia/cuda_runtime/lib' in open('/proc/self/maps').read(), "
            "torch.cuda._is_compiled())"
        )
        self.assertEqual(run, Run(0, "True True", ""))


class OffTest(ActivationTest):
    def test_disable_variable_keeps_it_off(self) -> None:
        installation = FakeInstallation(self.site)
        for value in ("1", "true", "yes"):
            with self.subTest(value):
                run = installation.run(USE_CPU, {"TORCH_CUDA_DISABLE": value})
                self.assert_off_without_a_word(run)

    def test_disable_variable_set_to_zero_does_not(self) -> None:
        run = FakeInstallation(self.site).run(IS_ON, {"TORCH_CUDA_DISABLE": "0"})
        self.assertEqual(run.out, "True")

    def test_autoload_variable_of_torch_keeps_it_off(self) -> None:
        run = FakeInstallation(self.site).run(USE_CPU, {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"})
        self.assert_off_without_a_word(run)

    def test_why_inactive_names_the_variable(self) -> None:
        run = FakeInstallation(self.site).run(
            "import torch, torch_cuda; print(torch_cuda.why_inactive())",
            {"TORCH_CUDA_DISABLE": "1"},
        )
        self.assertEqual(run.out, "TORCH_CUDA_DISABLE=1 is set")


class ErrorTest(ActivationTest):
    def test_wrong_torch_version(self) -> None:
        run = FakeInstallation(self.site, TORCH_VERSION="2.5.1").run(USE_CPU)
        self.assert_off_with_one_warning(
            run, f"found torch {torch.__version__}", "needed torch 2.5.1", "pip install"
        )

    def test_wrong_abi(self) -> None:
        abi = not torch._C._GLIBCXX_USE_CXX11_ABI
        run = FakeInstallation(self.site, CXX11_ABI=abi).run(USE_CPU)
        self.assert_off_with_one_warning(run, "_GLIBCXX_USE_CXX11_ABI=0", "=1")

    def test_wrong_python(self) -> None:
        run = FakeInstallation(self.site, PYTHON_TAG="cp37").run(USE_CPU)
        self.assert_off_with_one_warning(run, "needed Python cp37")

    def test_missing_library(self) -> None:
        run = FakeInstallation(
            self.site, CUDA_LIBRARIES={"libnosuchblas.so.12": "nvidia-nosuchblas-cu12"}
        ).run(USE_CPU)
        self.assert_off_with_one_warning(
            run, "libnosuchblas.so.12", "pip install nvidia-nosuchblas-cu12"
        )

    def test_old_library(self) -> None:
        _compile_runtime(self.site / "nvidia/cuda_runtime/lib", version=12010)
        run = FakeInstallation(self.site, CUDA_LIBRARIES=RUNTIME).run(USE_CPU)
        self.assert_off_with_one_warning(
            run, "CUDA runtime 12.1", "needed CUDA 12.4 or newer", str(self.site)
        )

    def test_torch_that_has_cuda_already(self) -> None:
        # Another entry point, loaded before ours, is the only code that can run in between.
        installation = FakeInstallation(self.site)
        (self.site / "torch_cuda-2.6.0+cu124.dist-info/entry_points.txt").write_text(
            "[torch.backends]\nearly = early:load\ntorch_cuda = torch_cuda:_autoload\n"
        )
        (self.site / "early.py").write_text(
            "def load():\n    import torch\n    torch.version.cuda = '12.6'\n"
        )
        run = installation.run("import torch; print(torch.version.cuda, torch.cuda._is_compiled())")
        self.assertEqual((run.code, run.out, run.warnings), (0, "12.6 False", 1))
        self.assertIn("already has CUDA 12.6 of its own", run.err)

    def test_damaged_wheel(self) -> None:
        installation = FakeInstallation(self.site)
        (installation.package / "_CUDAC.py").write_text("cut off", encoding="utf-8")
        self.assert_off_with_one_warning(
            installation.run(USE_CPU), "damaged wheel", "_CUDAC.py (7 bytes", "--force-reinstall"
        )

    def test_wheel_without_build_info(self) -> None:
        installation = FakeInstallation(self.site)
        (installation.package / "_build_info.py").unlink()
        self.assert_off_with_one_warning(installation.run(USE_CPU), "no usable _build_info.py")

    def test_two_installations_of_torch_cuda(self) -> None:
        other = self.site / "other"
        fake_installation.add_distribution(other, "torch_cuda", "2.5.0+cu121", "torch_cuda:_auto")
        run = FakeInstallation(self.site / "one").run(
            USE_CPU, {"PYTHONPATH": f"{self.site}/one:{other}"}
        )
        self.assert_off_with_one_warning(
            run, "2 plugins for CUDA", f"torch_cuda 2.5.0+cu121 in {other}", "pip uninstall"
        )

    def test_another_plugin_for_cuda(self) -> None:
        dist_info = self.site / "acme_gpu-1.dist-info"
        fake_installation.add_distribution(self.site, "acme_gpu", "1", "acme_gpu:load")
        (dist_info / "entry_points.txt").write_text("[torch.backends]\ncuda = acme_gpu:load\n")
        (self.site / "acme_gpu.py").write_text("def load(): pass\n", encoding="utf-8")
        run = FakeInstallation(self.site).run(USE_CPU)
        self.assert_off_with_one_warning(run, "acme_gpu (entry point cuda = acme_gpu:load)")

    def test_a_backend_for_another_device_is_no_obstacle(self) -> None:
        fake_installation.add_distribution(self.site, "torch_npu", "1", "npu:load")
        (self.site / "npu.py").write_text("def load(): pass\n", encoding="utf-8")
        self.assertEqual(FakeInstallation(self.site).run(IS_ON), Run(0, "True", ""))

    def test_bindings_that_do_not_load(self) -> None:
        run = FakeInstallation(
            self.site, bindings="raise ImportError('undefined symbol: _ZN3c10')"
        ).run(USE_CPU)
        self.assert_off_with_one_warning(run, "undefined symbol: _ZN3c10", "--force-reinstall")

    def test_failure_in_the_last_step_of_the_swap_takes_everything_back(self) -> None:
        bindings = fake_installation.BINDINGS + (
            "def _torch_cuda_complete(torch_c):\n"
            "    assert torch_c._has_cuda and torch.cuda._is_compiled()\n"
            "    raise RuntimeError('no hooks')\n"
        )
        run = FakeInstallation(self.site, bindings=bindings).run(USE_CPU)
        self.assert_off_with_one_warning(run, "RuntimeError: no hooks")

    def test_unforeseen_error(self) -> None:
        run = FakeInstallation(self.site, bindings="1 / 0").run(USE_CPU)
        self.assert_off_with_one_warning(run, "ZeroDivisionError")

    def test_warnings_as_errors_do_not_take_torch_away(self) -> None:
        installation = FakeInstallation(self.site, TORCH_VERSION="2.5.1")
        run = installation.python(
            "-W", "error::UserWarning", "-c", "import torch; print(torch.ones(1).item())"
        )
        self.assertEqual((run.code, run.out, run.warnings), (0, "1.0", 1), run.err)

    def test_explicit_activation_raises_instead_of_warning(self) -> None:
        run = FakeInstallation(self.site, TORCH_VERSION="2.5.1").run(
            "import torch, torch_cuda\n"
            "try: torch_cuda.activate()\n"
            "except torch_cuda.ActivationError as error: print(error.needed)",
            {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        )
        self.assertEqual(run, Run(0, "torch 2.5.1, for which torch_cuda 2.6.0+cu124 was built", ""))

    def test_uninstalled_it_leaves_no_trace(self) -> None:
        installation = FakeInstallation(self.site)
        self.assertEqual(installation.run(IS_ON).out, "True")
        shutil.rmtree(installation.package)
        shutil.rmtree(self.site / "torch_cuda-2.6.0+cu124.dist-info")
        self.assert_off_without_a_word(installation.run(USE_CPU))


RUNTIME = {"libcudart.so.12": "nvidia-cuda-runtime-cu12"}


def _compile_runtime(folder: pathlib.Path, version: int) -> None:
    """Makes a libcudart.so.12 that knows nothing but its version."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "g++-13", "clang"))))
    folder.mkdir(parents=True)
    source = folder / "cudart.c"
    source.write_text(
        f"int cudaRuntimeGetVersion(int* version) {{ *version = {version}; return 0; }}"
    )
    library = folder / "libcudart.so.12"
    subprocess.run(
        [
            compiler,
            "-x",
            "c",
            "-shared",
            "-fPIC",
            f"-Wl,-soname,{library.name}",
            str(source),
            "-o",
            str(library),
        ],
        check=True,
    )


if __name__ == "__main__":
    absltest.main()
