"""The installed plugin: what it makes of torch.distributed, and what keeps it off.

Runs in a virtual environment that has the wheels. Needs no communication.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

import torch
import torch.distributed as dist
import torch_cuda
import torch_cuda_distributed
from absl.testing import absltest

from tests.distributed import processes
from tests.wheel import namespaces

PACKAGE = pathlib.Path(torch_cuda_distributed.__file__).parent
SITE = pathlib.Path(os.environ["TORCH_CUDA_TEST_SITE"])

# All that is imported later is the same either way.
_MODULES = "import torch, torch.distributed.fsdp, torch.distributed.rpc, torch.distributed.tensor\n"

# What a CUDA build does: NCCL's names are there when torch.distributed's modules are imported.
_FROM_THE_START = """
import importlib, sys
import torch_cuda
from torch_cuda import _build, _libraries
class BindFirst:
    def find_spec(self, name, path=None, target=None):
        if name == "torch.distributed.constants":
            sys.meta_path.remove(self)
            _libraries.preload(_build.build_info())
            importlib.import_module("torch_cuda._CUDAC")
            _libraries.preload(_build.build_info("torch_cuda_distributed"))
            bindings = importlib.import_module("torch_cuda_distributed._CUDAC_distributed")
            torch_c = sys.modules["torch._C"]
            for source, target in (
                (bindings.torch_c, torch_c), (bindings.c10d, torch_c._distributed_c10d)
            ):
                for key, value in vars(source).items():
                    if not key.startswith("__"):
                        setattr(target, key, value)
        return None
sys.meta_path.insert(0, BindFirst())
"""

_STATE = """
import torch, torch_cuda, torch.distributed as dist
print(torch_cuda.is_active(), dist.is_nccl_available(), dist.is_gloo_available())
"""


def run(
    code: str, environ: Mapping[str, str] | None = None, *options: str
) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            [sys.executable, *options, "-c", code],
            env={**processes.environment(1), **(environ or {})},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=processes.DEADLINE,
            check=False,
        )


class ActiveTest(absltest.TestCase):
    def test_plugin_is_active_and_says_so(self) -> None:
        (plugin,) = torch_cuda.plugins()
        self.assertEqual(
            (plugin.name, plugin.version, plugin.why_inactive),
            ("torch_cuda_distributed", torch_cuda.__version__, None),
        )

    def test_nccl_is_available(self) -> None:
        self.assertTrue(dist.is_nccl_available())
        self.assertTrue(dist.is_backend_available("nccl"))
        self.assertEqual(dist.get_default_backend_for_device("cuda"), "nccl")
        self.assertIs(dist.ProcessGroupNCCL, dist.distributed_c10d.ProcessGroupNCCL)
        self.assertEqual(dist.ProcessGroupNCCL.__module__, "torch.distributed.distributed_c10d")
        self.assertIn("ProcessGroupNCCL", dist.distributed_c10d.__all__)
        self.assertGreaterEqual(torch.cuda.nccl.version()[:2], (2, 22))

    def test_options_hold_what_is_set(self) -> None:
        options = dist.ProcessGroupNCCL.Options(is_high_priority_stream=True)
        self.assertIsInstance(options, torch._C._distributed_c10d.Backend.Options)
        self.assertTrue(options.is_high_priority_stream)
        config: Any = options.config
        config.max_ctas = 4
        config.net_name = "Socket"
        self.assertEqual((config.max_ctas, config.net_name), (4, "Socket"))
        self.assertEqual(options._timeout, torch._C._distributed_c10d._DEFAULT_PG_NCCL_TIMEOUT)

    def test_hash_of_tensors_depends_on_their_contents(self) -> None:
        hashes = {
            torch._C._distributed_c10d._hash_tensors([torch.full((5,), value, device="cuda")])
            for value in (1.0, 2.0, 1.0)
        }
        self.assertLen(hashes, 2)

    def test_torch_looks_as_if_it_had_been_built_with_nccl(self) -> None:
        found = []
        for first, environ in (
            ("", {}),
            (_FROM_THE_START, {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}),
        ):
            done = run(first + _MODULES + namespaces.DESCRIBE, environ)
            self.assertEqual(done.returncode, 0, done.stderr)
            names: dict[str, Any] = json.loads(done.stdout)
            found.append(
                {
                    name: value
                    for name, value in names.items()
                    if name.startswith(("torch.distributed", "torch._C._distributed_c10d"))
                    or ".nccl" in name
                }
            )
        activated, from_the_start = found
        self.assertGreater(len(activated), 1000)
        different = {
            name: (activated.get(name), from_the_start.get(name))
            for name in activated.keys() | from_the_start.keys()
            if activated.get(name) != from_the_start.get(name)
        }
        self.assertEqual(different, {})

    def test_public_names_are_in_the_order_of_a_cuda_build(self) -> None:
        groups = [name for name in dist.distributed_c10d.__all__ if name.startswith("ProcessGroup")]
        order = ["ProcessGroup", "ProcessGroupMPI", "ProcessGroupNCCL", "ProcessGroupGloo"]
        self.assertEqual(groups, [name for name in order if name in groups])

    def test_core_without_the_plugin_has_no_nccl(self) -> None:
        maps = run(
            "import torch; print('libnccl' in open('/proc/self/maps').read())",
            {"PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        )
        self.assertEqual(maps.stdout, "True\n", maps.stderr)
        with moved(SITE / "torch_cuda_distributed"), moved(dist_info()):
            done = run(
                "import torch, torch.distributed as dist\n"
                "print('libnccl' in open('/proc/self/maps').read(), dist.is_nccl_available())\n"
            )
        self.assertEqual((done.stdout, done.stderr), ("False False\n", ""))

    def test_rpc_works_as_in_the_cpu_build(self) -> None:
        done = run(
            "import os, torch, torch.distributed.rpc as rpc\n"
            "options = rpc.TensorPipeRpcBackendOptions(\n"
            "    init_method='file://' + os.path.abspath('store'))\n"
            "rpc.init_rpc('one', rank=0, world_size=1, rpc_backend_options=options)\n"
            "print(rpc.rpc_sync('one', torch.add, (torch.ones(2), 1)).tolist())\n"
            "rpc.shutdown()\n"
        )
        self.assertEqual(done.stdout, "[2.0, 2.0]\n", done.stderr)


class OffTest(absltest.TestCase):
    def assert_off(self, done: subprocess.CompletedProcess[str], *parts: str) -> None:
        """CUDA works and NCCL does not, with one warning."""
        self.assertEqual((done.returncode, done.stdout), (0, "True False True\n"), done.stderr)
        self.assertEqual(done.stderr.count("Warning: "), 1, done.stderr)
        for part in ("torch_cuda_distributed is installed but stays off", "To fix it: ", *parts):
            self.assertIn(part, done.stderr)

    def test_nccl_that_does_not_load(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        (folder / "libnccl.so.2").write_bytes(b"no library")
        environ = {"TORCH_CUDA_SIM": "0", "TORCH_CUDA_LIBRARY_PATH": str(folder)}
        self.assert_off(
            run(_STATE, environ), "no usable libnccl.so.2", "pip install nvidia-nccl-cu12"
        )

    def test_nccl_that_is_too_old(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        source = folder / "nccl.c"
        source.write_text("int ncclGetVersion(int* version) { *version = 21805; return 0; }")
        compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "g++-13", "clang"))))
        subprocess.run(
            [compiler, "-x", "c", "-shared", "-fPIC", "-Wl,-soname,libnccl.so.2", str(source)]
            + ["-o", str(folder / "libnccl.so.2")],
            check=True,
        )
        environ = {"TORCH_CUDA_SIM": "0", "TORCH_CUDA_LIBRARY_PATH": str(folder)}
        self.assert_off(run(_STATE, environ), "found NCCL 2.18.5", "needed NCCL 2.", str(folder))

    def test_half_a_wheel(self) -> None:
        library = PACKAGE / "lib" / "libtorch_cuda_distributed.so"
        with moved(library):
            self.assert_off(run(_STATE), "damaged wheel", "(missing)", "--force-reinstall")

    def test_without_the_core_it_says_what_to_install(self) -> None:
        for options in ((), ("-W", "error::UserWarning")):
            with self.subTest(options), moved(SITE / "torch_cuda"), moved(dist_info("torch_cuda")):
                done = run("import torch; print(torch.cuda._is_compiled())", {}, *options)
                self.assertEqual((done.returncode, done.stdout), (0, "False\n"), done.stderr)
                warnings = done.stderr.count("Warning: torch_cuda_distributed")
                self.assertEqual(warnings, 1, done.stderr)
                self.assertIn("found no torch_cuda", done.stderr)
                self.assertIn("python -m pip install torch_cuda", done.stderr)


def dist_info(name: str = "torch_cuda_distributed") -> pathlib.Path:
    (found,) = SITE.glob(f"{name}-*.dist-info")
    return found


class moved:
    """Puts a file or folder aside for a while."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path, self._aside = path, SITE.parent / f"{path.name}.aside"

    def __enter__(self) -> None:
        self._path.rename(self._aside)

    def __exit__(self, *_: object) -> None:
        self._aside.rename(self._path)


if __name__ == "__main__":
    absltest.main()
