"""Where the builder is found: after activation, late or at once, and where the plugin stays off."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys

import torch.utils.cpp_extension
from absl.testing import absltest
from torch_cuda.utils.cpp_extension import CUDAExtension, NewDeviceCppExtension

_LATE = """
import torch, torch_cuda
from torch.utils import cpp_extension
assert not hasattr(cpp_extension, "NewDeviceCppExtension") and cpp_extension.CUDA_HOME is None
torch_cuda.activate()
print(cpp_extension.NewDeviceCppExtension.__name__, cpp_extension.CUDA_HOME is not None,
      "cudart" in cpp_extension.CUDAExtension("name", ["a.cu"]).libraries)
"""

_OFF = """
import torch
from torch.utils import cpp_extension
from torch_cuda.utils.cpp_extension import NewDeviceCppExtension
device = NewDeviceCppExtension(name="npu", compiler=["npucc"], suffixes=(".npu",))
print(hasattr(cpp_extension, "NewDeviceCppExtension"), cpp_extension.CUDAExtension.__module__,
      device("name", ["a.npu"]).name)
"""

_WITHOUT_SETUPTOOLS = """
import sys
sys.modules["setuptools"] = None
import torch
print(torch.cuda.is_available())
try:
    import torch.utils.cpp_extension
except ImportError as error:
    print(error.name)
"""


def printed(code: str, **environ: str) -> str:
    """What a process prints that runs this code with these environment variables, too."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


class PlaceTest(absltest.TestCase):
    def test_it_is_reachable_under_both_names(self) -> None:
        module = torch.utils.cpp_extension
        self.assertIs(vars(module)["NewDeviceCppExtension"], NewDeviceCppExtension)
        self.assertIs(module.CUDAExtension, CUDAExtension)
        self.assertIn("NewDeviceCppExtension", module.__all__)

    def test_cuda_is_an_instance_of_it(self) -> None:
        self.assertIsInstance(CUDAExtension, NewDeviceCppExtension)

    def test_nothing_but_its_description_knows_cuda(self) -> None:
        spec = importlib.util.find_spec("torch_cuda.utils.cpp_extension")
        assert spec is not None and spec.origin is not None
        package = pathlib.Path(spec.origin).parent
        for name in (
            "extension.py",
            "commands.py",
            "run.py",
            "build.py",
            "loading.py",
            "device.py",
        ):
            code = (package / name).read_text(encoding="utf-8").partition("from __future__")[2]
            self.assertNotRegex(code, r"torch_cuda\.utils\.cpp_extension\.cuda|nvcc", name)

    def test_late_activation_extends_the_module_that_is_there(self) -> None:
        self.assertEqual(
            printed(_LATE, TORCH_DEVICE_BACKEND_AUTOLOAD="0"), "NewDeviceCppExtension True True"
        )

    def test_without_the_plugin_upstream_s_module_is_untouched(self) -> None:
        self.assertEqual(
            printed(_OFF, TORCH_CUDA_DISABLE="1"), "False torch.utils.cpp_extension name"
        )

    def test_setuptools_is_needed_by_nobody_else(self) -> None:
        self.assertEqual(printed(_WITHOUT_SETUPTOOLS).split(), ["True", "setuptools"])

    def test_paths_name_the_plugin_s_folders_for_cuda_alone(self) -> None:
        module = torch.utils.cpp_extension
        for name, file in (("include", "ATen/cuda/CUDAConfig.h"), ("library", "libtorch_cuda.so")):
            paths = getattr(module, f"{name}_paths")
            having = {
                kind: [folder for folder in paths(kind) if (pathlib.Path(folder) / file).is_file()]
                for kind in ("cpu", "cuda")
            }
            self.assertEqual((len(having["cpu"]), len(having["cuda"])), (0, 1), name)


if __name__ == "__main__":
    absltest.main()
