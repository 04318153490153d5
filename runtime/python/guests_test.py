"""Frameworks other than torch get our libraries, and what they have to be told, before they are imported."""

from __future__ import annotations

import pathlib
from typing import Any

from absl.testing import absltest, parameterized

from runtime.python import pretended

# Whose libraries a process has, by the names that frameworks open.
_WHOSE = """
import ctypes, os
def whose(name, function):
    try:
        says = getattr(ctypes.CDLL(name, mode=os.RTLD_NOLOAD), function)
    except OSError:
        return None
    says.restype = ctypes.c_char_p
    return says().decode()
loaded = [whose(name, "whose_driver") for name in ("libcuda.so.1", "libnvidia-ml.so.1")]
loaded += [whose(name, "whose_library") for name in ("libcudart.so.12", "libcudart.so.13")]
"""
_NOTHING = [None] * 4
_DRIVER = ["our_driver", "our_driver", None, None]
_CUDA_12 = ["our_driver", "our_driver", "our_12", None]
_CUDA_13 = ["our_driver", "our_driver", None, "our_13"]
_DEVICE = """
import pathlib
here = pathlib.Path(__file__).parent
def paths():
    return {"library": str(here / "libaccel_acme.so"), "ptxas": str(here / "programs" / "bin" / "ptxas"),
            "settings": {"ACME_MODEL": "big", "ACME_OTHER": "set"}, "about": "big, the only one"}
"""


class GuestsTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.env = pretended.Environment(pathlib.Path(self.create_tempdir().full_path) / "venv")

    def loaded(self, module: str, **environ: str) -> Any:
        return self.env.answers(f"import {module}\n{_WHOSE}\nanswer = loaded", **environ)

    def add_jax(self) -> None:
        self.env.add_module("jax", "import jaxlib", "jax", "0.12.0")
        self.env.add_module("jaxlib", "import os\nflags = os.environ.get('XLA_FLAGS')", "jaxlib")
        self.env.add_module("jax_cuda13_plugin", "", "jax-cuda13-plugin")
        libdevice = self.env.site / "nvidia" / "cu13" / "nvvm" / "libdevice" / "libdevice.10.bc"
        libdevice.parent.mkdir(parents=True)
        libdevice.touch()

    def add_device(self) -> None:
        (self.env.site / "acme_device.py").write_text(_DEVICE)
        program = self.env.site / "programs" / "bin" / "ptxas"
        program.parent.mkdir(parents=True)
        program.touch()
        (self.env.site / "libaccel_acme.so").touch()
        self.env.add_distribution("acme_device", "[torch_cuda.devices]\nacme = acme_device:paths\n")

    def test_nothing_is_loaded_unless_asked_for(self) -> None:
        self.add_jax()
        self.env.add_module("pynvml", "", "nvidia-ml-py")
        for environ in ({}, {"TORCH_CUDA_SIM": "0", "TORCH_CUDA_DEVICES": "fake"}):
            self.assertEqual(self.loaded("jax, pynvml", **environ), _NOTHING)
        self.assertEqual(self.loaded("json", TORCH_CUDA_DEVICES="fake"), _NOTHING)
        code = f"import importlib.util\nimportlib.util.find_spec('jax')\n{_WHOSE}\nanswer = loaded"
        self.assertEqual(self.env.answers(code, TORCH_CUDA_DEVICES="fake"), _NOTHING)

    @parameterized.parameters(
        ("pynvml", "nvidia-ml-py", "13.5", _DRIVER),
        ("taichi", "taichi", "1.7.4", _DRIVER),
        ("tinygrad", "tinygrad", "0.13.0", _DRIVER),
        ("triton", "triton", "3.9.0", _DRIVER),
        ("cuda.bindings", "cuda-bindings", "13.3.1", _CUDA_13),
        ("cuda.bindings", "cuda-bindings", "12.9.1", _CUDA_12),
        ("onnxruntime", "onnxruntime", "1.31", _DRIVER),
        ("tensorflow", "tensorflow", "2.23", _CUDA_12),
    )
    def test_each_gets_what_it_needs(
        self, module: str, distribution: str, version: str, expected: list[str | None]
    ) -> None:
        self.env.add_module(module, "", distribution, version)
        self.assertEqual(self.loaded(module, TORCH_CUDA_DEVICES="fake"), expected)

    def test_onnxruntime_says_its_cuda_in_its_library(self) -> None:
        self.env.add_module("onnxruntime", "", "onnxruntime-gpu")
        provider = self.env.site / "onnxruntime" / "capi" / "libonnxruntime_providers_cuda.so"
        provider.parent.mkdir()
        provider.write_bytes(b"\x7fELF" + 5000 * b"x" + b"libcudart.so.12\0")
        self.assertEqual(self.loaded("onnxruntime", TORCH_CUDA_DEVICES="fake"), _CUDA_12)

    def test_torch_and_its_guests_have_one_cuda(self) -> None:
        self.env.add_torch("2.9.1+cu128", "12.8")
        self.env.add_module("triton", "", "triton")
        for modules in ("torch, triton", "triton, torch"):
            self.assertEqual(self.loaded(modules, TORCH_CUDA_DEVICES="fake"), _CUDA_12)

    def test_jax_is_told_how_xla_compiles(self) -> None:
        self.add_jax()
        self.add_device()
        code = (
            "import os, jax, jaxlib\n"
            "names = ('PATH', 'LD_LIBRARY_PATH', 'ACME_MODEL', 'ACME_OTHER')\n"
            "answer = [jaxlib.flags, *map(os.environ.get, names)]"
        )
        environ = {
            "TORCH_CUDA_DEVICES": "acme",
            "XLA_FLAGS": "--xla_gpu_autotune_level=3",
            "LD_LIBRARY_PATH": "/own",
            "ACME_OTHER": "mine",
        }
        flags, path, libraries, model, other = self.env.answers(code, **environ)
        programs = f"{self.env.site}/programs"
        self.assertCountEqual(
            flags.split(),
            [
                "--xla_gpu_autotune_level=3",
                "--xla_gpu_enable_libnvptxcompiler=false",
                "--xla_gpu_enable_triton_gemm=false",
                f"--xla_gpu_cuda_data_dir={self.env.site}/nvidia/cu13",
            ],
        )
        self.assertEqual(path.split(":")[0], f"{programs}/bin")
        ours = f"{self.env.site}/torch_cuda_runtime/lib"
        self.assertEqual(libraries, f"{ours}/cu13:{ours}:/own")
        self.assertEqual((model, other), ("big", "mine"))
        self.assertEqual(self.loaded("jax", TORCH_CUDA_DEVICES="acme"), _CUDA_13)

    def test_jax_sees_the_device(self) -> None:
        self.add_jax()
        self.env.add_module("jax._src")
        (self.env.site / "jax" / "_src" / "hardware_utils.py").write_text(
            "def has_visible_nvidia_gpu(): return False\n"
        )
        code = (
            "from importlib.metadata import entry_points\nimport jax, sys\n"
            "from jax._src import hardware_utils\n"
            "plugins = [one.value for one in entry_points(group='jax_plugins')]\n"
            "__import__(plugins[0])\n"
            "sys.modules[plugins[0]].initialize()\n"
            "answer = [plugins, hardware_utils.has_visible_nvidia_gpu()]"
        )
        plugin = ["torch_cuda_runtime._jax_plugin"]
        self.assertEqual(self.env.answers(code), [plugin, False])
        self.assertEqual(self.env.answers(code, TORCH_CUDA_DEVICES="fake"), [plugin, True])

    def refused(self, module: str, *texts: str) -> None:
        for flags in ("", "-W error"):
            done = self.env.run(
                "-c",
                f"import {module}\n{_WHOSE}\nprint(loaded == {_NOTHING})",
                flags=flags,
                TORCH_CUDA_DEVICES="fake",
            )
            self.assertEqual(done.stdout, "True\n", done.stderr)
            self.assertEqual(done.stderr.count("DeviceWarning: torch_cuda_runtime: "), 1)
            for text in texts:
                self.assertIn(text, done.stderr)

    def test_jax_without_its_plugin_is_told_what_to_install(self) -> None:
        self.env.add_module("jax", "import jaxlib", "jax", "0.12.0")
        self.env.add_module("jaxlib", "", "jaxlib")
        self.refused(
            "jax",
            "TORCH_CUDA_DEVICES is set, but jax 0.12.0 gets no devices: found jax 0.12.0 without CUDA",
            '"jax-cuda13-plugin==0.12.0" "jax-cuda13-pjrt==0.12.0"',
        )

    def test_an_older_jax_is_told_so(self) -> None:
        self.env.add_module("jax", "", "jax", "0.4.38")
        self.env.add_module("jax_cuda13_plugin")
        self.refused("jax", "found jax 0.4.38; needed jax 0.5 or newer")

    def test_who_brings_a_runtime_of_its_own_is_told_so(self) -> None:
        self.env.add_module("cupy", "", "cupy-cuda13x", "14.2.0")
        self.refused("cupy", "cupy-cuda13x 14.2.0 gets no devices", "libcudart_static")
        self.env.add_module("warp", "", "warp-lang", "1.19.0")
        self.refused("warp", "warp-lang 1.19.0 gets no devices", "libcudart_static")

    def test_a_cuda_that_there_are_no_libraries_for(self) -> None:
        self.env.add_module("cuda.bindings", "", "cuda-bindings", "14.0.0")
        self.refused("cuda.bindings", "needed CUDA 12 or 13")

    def test_the_doctor_tells_of_them(self) -> None:
        self.add_jax()
        self.add_device()
        self.env.add_module("cupy", "", "cupy-cuda13x", "14.2.0")
        with (self.env.site / "jax" / "__init__.py").open("a") as source:
            source.write(
                "\ndef devices(kind):\n"
                "    return [type('Device', (), {'device_kind': 'Acme', '__str__': lambda self: kind + ':0'})()]\n"
            )
        done = self.env.run("-m", "torch_cuda_runtime", "doctor", TORCH_CUDA_DEVICES="acme")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for line in (
            "  model:           big, the only one",
            (
                "CuPy:              NO DEVICES: found CuPy, whose libraries have NVIDIA's CUDA runtime linked in "
                "(libcudart_static); needed a cupy that loads libcudart.so."
            ),
            "JAX:               jax 0.12.0, the libraries of CUDA 13",
            "  tried:           cuda:0 is Acme",
        ):
            self.assertIn(line, done.stdout.splitlines())


if __name__ == "__main__":
    absltest.main()
