"""The installed wheel with its real bindings: what activation makes of torch, and what prevents it.

Runs in a virtual environment that has the wheel. The errors that need no compiled parts are tested
in //python/torch_cuda.
"""

from __future__ import annotations

import ast
import contextlib
import copyreg
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator, Mapping
from multiprocessing import reduction
from typing import Any

import torch
import torch_cuda
from absl.testing import absltest
from torch_cuda import _CUDAC, _swap

from tests.wheel import namespaces
from tools.testing import paused_import

PYTHON = os.environ["TORCH_CUDA_TEST_PYTHON"]
PACKAGE = pathlib.Path(torch_cuda.__file__).parent

_ACTIVATED = "import torch, torch._dynamo.device_interface\n" + namespaces.DESCRIBE

# What a CUDA build of PyTorch does: the bindings are on torch._C before torch.cuda is imported.
_FROM_THE_START = (
    """
import importlib, sys
import torch_cuda
from torch_cuda import _build, _libraries
class BindFirst:
    def find_spec(self, name, path=None, target=None):
        if name == "torch.cuda":
            sys.meta_path.remove(self)
            _libraries.preload(_build.build_info())
            bindings = importlib.import_module("torch_cuda._CUDAC")
            for key, value in vars(bindings).items():
                if not key.startswith(("__", "_torch_cuda_")):
                    setattr(sys.modules["torch._C"], key, value)
        return None
sys.meta_path.insert(0, BindFirst())
import torch
bindings = sys.modules["torch_cuda._CUDAC"]
bindings._torch_cuda_complete(torch._C)
import torch._dynamo.device_interface
torch.version.cuda = _build.build_info().cuda_version
"""
    + namespaces.DESCRIBE
)

# Nobody may hold what activation replaces: it is deleted then. It is held weakly here, and typing's
# caches, which are asked by the class, are emptied. The modules have tables of classes and functions;
# not all can be imported everywhere.
_LEFT_BEHIND = """
import gc, importlib, json, sys, types, typing, weakref
import torch
for name in json.loads(sys.argv[1]):
    try:
        importlib.import_module(name)
    except ImportError:
        pass
PLACES = ("torch.cuda", "torch.cuda.nvtx", "torch.cuda.streams", "torch.cuda.graphs",
          "torch.cuda.memory", "torch._C", "torch._dynamo.device_interface")
def there():
    return {
        f"{place}.{name}": weakref.ref(value)
        for place in PLACES if place in sys.modules
        for name, value in vars(sys.modules[place]).items()
        if isinstance(value, (type, types.FunctionType))
    }
before = there()
import torch_cuda
torch_cuda.activate()
after = there()
for clean in typing._cleanups:
    clean()
gc.collect()
replaced = [name for name in before if before[name] is not after.get(name)]
def holders(value):
    return [repr(holder)[:200] for holder in gc.get_referrers(value)]
left = {name: holders(before[name]()) for name in replaced if before[name]() is not None}
print(json.dumps({"replaced": replaced, "left": left}))
"""

_MODULES_WITH_TABLES = (
    "torch.multiprocessing.reductions",
    "torch.serialization",
    "torch.storage",
    "torch.utils._pytree",
    "torch.utils._cxx_pytree",
    "torch.distributed",
    "torch.distributed.fsdp",
    "torch.jit._builtins",
    "torch.fx",
    "torch.fx.experimental.proxy_tensor",
    "torch.export",
    "torch._dynamo",
    "torch._dynamo.guards",
    "torch._dynamo.trace_rules",
    "torch._dynamo.variables.builder",
    "torch._dynamo.device_interface",
    "torch._functorch.aot_autograd",
    "torch._inductor.codecache",
    "torch._inductor.compile_fx",
    "torch._inductor.cudagraph_trees",
    "torch.testing._internal.common_utils",
    "torch.utils.data",
    "torch.utils.checkpoint",
    "torch.profiler",
)

# How the activated torch may differ: in what the plugin adds, and in the stub, unused by now, that
# torch defined while it knew no CUDA.
_ADDED = {"torch.cuda._CUDAC", "torch.cuda.nvtx._NVTXStub"}
# Exchanged on purpose: upstream's own does not know that PTX runs on newer GPUs.
_OURS = frozenset({"torch.cuda._check_cubins"})

_NAMES = "import json, torch; print(json.dumps(dict.fromkeys(vars(torch._C))))"

_CPU = """
import torch
assert not torch.cuda._is_compiled() and torch.version.cuda is None
try:
    torch.zeros(1, device="cuda")
except AssertionError as error:
    print(torch.ones(3).sum().item(), error)
"""
_CPU_OUTPUT = "3.0 Torch not compiled with CUDA enabled"


def run(
    code: str, environ: Mapping[str, str] | None = None, *arguments: str
) -> subprocess.CompletedProcess[str]:
    # The plugin reads the variables that tests change when torch loads it, and no other does.
    return paused_import.run(PYTHON, code, *arguments, environ=os.environ, changes=environ)


def facts(code: str, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    done = run(code, environ)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@contextlib.contextmanager
def changed(path: pathlib.Path, contents: bytes) -> Iterator[None]:
    """Gives a file other contents for a while, and then its own back."""
    aside = path.with_name(f"{path.name}.aside")
    path.rename(aside)
    try:
        path.write_bytes(contents)
        yield
    finally:
        path.unlink()
        aside.rename(path)


class ActivatedTest(absltest.TestCase):
    def test_torch_has_cuda(self) -> None:
        self.assertIsNone(torch_cuda.why_inactive())
        self.assertTrue(torch.cuda._is_compiled())
        self.assertTrue(torch.backends.cuda.is_built())
        self.assertEqual(torch.version.cuda, torch_cuda.build_info().cuda_version)

    def test_hooks_that_were_cached_before_are_those_of_cuda(self) -> None:
        message = ""
        try:
            torch._cufft_get_plan_cache_size(0)
        except RuntimeError as error:
            # Without a GPU there is no such cache, but it is CUDA's code that says so.
            message = str(error)
        self.assertNotIn("without ATen_cuda library", message)

    def test_every_binding_is_on_torch_c(self) -> None:
        self.assertIs(vars(torch.cuda)["_CUDAC"], _CUDAC)
        self.assertIs(sys.modules["torch.cuda._CUDAC"], _CUDAC)
        for name, value in _swap.upstream_names(_CUDAC).items():
            self.assertIs(getattr(torch._C, name), value, name)

    def test_bindings_go_by_the_name_of_torch_c(self) -> None:
        self.assertEqual(torch._C._cuda_getDeviceCount.__module__, "torch._C")
        self.assertEqual(torch._C._CudaDeviceProperties.__module__, "torch._C")
        self.assertIs(sys.modules["torch._C._cudart"], _CUDAC._cudart)

    def test_stub_declares_every_binding(self) -> None:
        stub = ast.parse((PACKAGE / "_CUDAC.pyi").read_text(encoding="utf-8"))
        declared = {
            node.target.id if isinstance(node, ast.AnnAssign) else node.name  # type: ignore[union-attr]
            for node in stub.body
            if isinstance(node, ast.AnnAssign | ast.FunctionDef | ast.ClassDef)
        }
        # What the CPU build binds as well is declared by torch.
        in_cpu_build = facts(_NAMES, {"TORCH_CUDA_DISABLE": "1"}).keys()
        bound = _swap.upstream_names(_CUDAC).keys() - in_cpu_build
        self.assertEqual(bound - declared, set())

    def test_real_stream_class_has_the_real_base(self) -> None:
        self.assertEqual(
            [kind.__qualname__ for kind in torch.cuda.Stream.__mro__],
            ["Stream", "_CudaStreamBase", "Stream", "object"],
        )
        self.assertIs(torch_cuda.core.Stream, torch.cuda.Stream)

    def test_pickle_of_other_processes_knows_the_classes(self) -> None:
        import torch.multiprocessing

        tables = (vars(reduction.ForkingPickler)["_extra_reducers"], copyreg.dispatch_table)
        self.assertIn(torch.cuda.Event, tables[0])
        for table in tables:
            for held in table:
                if held.__module__.startswith("torch.cuda"):
                    self.assertIs(getattr(sys.modules[held.__module__], held.__name__), held)

    def test_torch_looks_as_if_it_had_been_built_with_cuda(self) -> None:
        activated = facts(_ACTIVATED)
        from_the_start = facts(_FROM_THE_START, {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"})
        different = {
            name: (activated.get(name), from_the_start.get(name))
            for name in (activated.keys() | from_the_start.keys()) - _ADDED - _OURS
            if activated.get(name) != from_the_start.get(name)
        }
        self.assertEqual(different, {})


class KeptOffTest(absltest.TestCase):
    def test_disable_variable(self) -> None:
        done = run(_CPU, {"TORCH_CUDA_DISABLE": "1"})
        self.assertEqual((done.stdout.strip(), done.stderr), (_CPU_OUTPUT, ""))

    def test_nothing_of_what_was_replaced_is_left(self) -> None:
        for modules in ((), _MODULES_WITH_TABLES):
            done = run(
                _LEFT_BEHIND, {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}, json.dumps(list(modules))
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            found = json.loads(done.stdout)
            self.assertContainsSubset(
                ["torch.cuda.Stream", "torch.cuda.Event", "torch.cuda.CUDAGraph"],
                found["replaced"],
            )
            self.assertEqual(found["left"], {})

    def test_autoload_variable_and_activation_by_hand(self) -> None:
        done = run(
            "import torch\n"
            "from torch.cuda import Stream\n"
            "assert not torch.cuda._is_compiled()\n"
            "import torch_cuda\n"
            "torch_cuda.activate()\n"
            "print(torch.cuda._is_compiled(), Stream is torch.cuda.Stream)",
            {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        )
        self.assertEqual((done.stdout.strip(), done.stderr), ("True True", ""))


class DamagedTest(absltest.TestCase):
    def assert_cpu_with_one_warning(self, *parts: str) -> None:
        done = run(_CPU)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, _CPU_OUTPUT), done.stderr)
        self.assertEqual(done.stderr.count("Warning: "), 1, done.stderr)
        for part in ("found ", "needed ", "To fix it: ", *parts):
            self.assertIn(part, done.stderr)

    def test_library_cut_short(self) -> None:
        with changed(PACKAGE / "lib" / "libtorch_cuda.so", b"\x7fELF"):
            self.assert_cpu_with_one_warning("libtorch_cuda.so", "--force-reinstall")

    def test_library_missing(self) -> None:
        library = PACKAGE / "lib" / "libc10_cuda.so"
        aside = library.rename(library.with_name("aside"))
        try:
            self.assert_cpu_with_one_warning("libc10_cuda.so", "--force-reinstall")
        finally:
            aside.rename(library)

    def test_library_of_the_right_size_that_does_not_load(self) -> None:
        library = PACKAGE / "lib" / "libc10_cuda.so"
        with changed(library, b"\0" * library.stat().st_size):
            self.assert_cpu_with_one_warning("bindings that do not load", "libc10_cuda.so")


class DoctorTest(absltest.TestCase):
    def test_doctor_finds_everything_in_order(self) -> None:
        done = subprocess.run(
            [PYTHON, "-m", "torch_cuda", "doctor"], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("libcudart.so.12", done.stdout)
        self.assertNotIn("WRONG", done.stdout)


if __name__ == "__main__":
    absltest.main()
