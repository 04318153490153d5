"""What the swap makes of torch: names, classes, and the references that others took before.

One process for each situation, with real torch and fake bindings; it prints what it
sees as JSON.
"""

from __future__ import annotations

import json
import pathlib
import tempfile
from typing import Any, ClassVar

from absl.testing import absltest

from torch_cuda import fake_installation
from torch_cuda.fake_installation import FakeInstallation

_AFTER_IMPORT = """
import json, pickle, torch, torch.cuda._CUDAC, torch_cuda
import torch_cuda.core.streams, torch_cuda.core.nccl, torch_cuda.backends.cudnn
from torch._dynamo.device_interface import CudaInterface, get_cuda_stream
from torch_cuda.backends.cuda import is_built
bindings = torch.cuda._CUDAC
stream = torch.cuda.Stream()
stream.note = "kept"
names = [n for n in vars(bindings) if not n.startswith(("__", "_torch_cuda_", "torch"))]
print(json.dumps({
    "compiled": torch.cuda._is_compiled(),
    "built": [torch.backends.cuda.is_built(), is_built()],
    "version": torch.version.cuda,
    "missing on torch._C": [n for n in names if getattr(torch._C, n) is not getattr(bindings, n)],
    "bindings": bindings.__name__,
    "stream": [stream.made_by, vars(stream)["note"]],
    "bases": [c.__base__.__module__ for c in (
        torch.cuda.Stream, torch.cuda.Event, torch.cuda.CUDAGraph,
        torch.cuda.MemPool, torch.cuda.MemPoolContext)],
    "external is a stream": issubclass(torch.cuda.ExternalStream, torch.cuda.Stream),
    "external calls the base": torch.cuda.ExternalStream(1).made_by,
    "pickles by its name": pickle.loads(pickle.dumps(torch.cuda.Stream)) is torch.cuda.Stream,
    "one class": [torch_cuda.core.Stream is torch.cuda.Stream,
                  torch.cuda.streams.Stream is torch.cuda.Stream,
                  CudaInterface.Stream is torch.cuda.Stream],
    "same modules": [torch_cuda.core.streams is torch.cuda.streams,
                     torch_cuda.core.nccl is torch.cuda.nccl,
                     torch_cuda.backends.cudnn is torch.backends.cudnn],
    "own spec": torch.cuda.nccl.__spec__.name,
    "taken at import": [torch.cuda._cudart is bindings._cudart,
                        torch.cuda.nvtx._nvtx is bindings._nvtx,
                        torch.cuda._CudaDeviceProperties is bindings._CudaDeviceProperties,
                        torch.cuda.memory._cuda_releasePool is bindings._cuda_releasePool,
                        torch.cuda.graphs._CUDAGraph is bindings._CUDAGraph],
    "exchange": [torch.cuda._exchange_device(1), CudaInterface.exchange_device(2)],
    "raw stream": [get_cuda_stream(0), CudaInterface.get_raw_stream(0)],
    "annotation": torch.cuda.current_stream.__annotations__["return"] is torch.cuda.Stream,
    "available": torch.cuda.is_available(),
}))
"""

_BEFORE_ACTIVATION = """
import json, torch, torch_cuda
from torch.cuda import Stream, Event
from torch.cuda import _exchange_device as exchange
import torch.cuda as module
import torch._dynamo.device_interface as interface
from torch._dynamo.device_interface import CudaInterface
old = id(Stream)
class Mine(torch.cuda.Stream):
    def __new__(cls):
        return super().__new__(cls)
class Holder:
    kind = torch.cuda.Stream
table = {"cuda": [torch.cuda.Stream]}
queued = len(torch.cuda._queued_calls)
torch_cuda.activate()
print(json.dumps({
    "other class": id(Stream) != old,
    "held": [held is torch.cuda.Stream for held in (
        Stream, Holder.kind, table["cuda"][0], CudaInterface.Stream, module.Stream)],
    "event": Event is torch.cuda.Event,
    "subclass": [issubclass(Mine, Stream), Mine().made_by],
    "function": exchange(3),
    "dynamo": [CudaInterface.exchange_device(2), CudaInterface.get_raw_stream(0),
               interface.get_cuda_stream(0)],
    "same module": module is torch.cuda,
    "nothing queued is lost": len(torch.cuda._queued_calls) >= queued,
}))
"""

_WITH_CUDNN = (
    fake_installation.BINDINGS
    + """
_has_cudnn = True
class _cudnn:
    is_cuda = True
    getVersionInt = staticmethod(lambda: 90100)
    getRuntimeVersion = staticmethod(lambda: (9, 1, 0))
    getCompileVersion = staticmethod(lambda: (9, 1, 0))
_limit = [10]
def _cuda_get_cudnn_benchmark_limit(): return _limit[0]
def _cuda_set_cudnn_benchmark_limit(limit): _limit[0] = limit
"""
)

_CUDNN = """
import json, torch
cudnn = torch.backends.cudnn
limits = [cudnn.benchmark_limit]
cudnn.benchmark_limit = 4
limits.append(cudnn.benchmark_limit)
print(json.dumps([cudnn.is_available(), cudnn.version(), limits]))
"""

_NOT_SERVED = """
import ctypes, importlib, json, types
import torch, torch_cuda
from torch_cuda import _activation, _libraries
handle = types.SimpleNamespace(**{marks})
_libraries.preload = lambda build: [_libraries.Library("libcudnn.so.9", "system", None, handle)]
_activation._devices.found = list
before = torch._C._get_cudnn_enabled()
torch_cuda.activate()
cudnn = torch.backends.cudnn
cudnn.enabled = True
with cudnn.flags(enabled=True):
    inside = cudnn.enabled
print(json.dumps([cudnn.is_available(), torch._C._has_cudnn, cudnn.version() is not None, before,
                  torch._C._get_cudnn_enabled(), inside, torch._C._get_cudnn_sdp_enabled()]))
"""


def seen(
    code: str, bindings: str = fake_installation.BINDINGS, environ: dict[str, str] | None = None
) -> Any:
    with tempfile.TemporaryDirectory() as site:
        run = FakeInstallation(pathlib.Path(site), bindings).run(code, environ)
    if run.code != 0:
        raise AssertionError(run.err)
    return json.loads(run.out)


class AfterImportTest(absltest.TestCase):
    facts: ClassVar[dict[str, Any]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.facts = seen(_AFTER_IMPORT)

    def test_torch_says_that_it_has_cuda(self) -> None:
        self.assertTrue(self.facts["compiled"])
        self.assertEqual(self.facts["built"], [True, True])
        self.assertEqual(self.facts["version"], "12.4")

    def test_no_gpu_is_not_available_cuda(self) -> None:
        self.assertFalse(self.facts["available"])

    def test_bindings_are_on_torch_cuda_and_every_name_on_torch_c(self) -> None:
        self.assertEqual(self.facts["bindings"], "torch_cuda._CUDAC")
        self.assertEqual(self.facts["missing on torch._C"], [])

    def test_classes_have_the_real_bases(self) -> None:
        self.assertEqual(self.facts["bases"], ["torch_cuda._CUDAC"] * 5)
        self.assertEqual(self.facts["stream"], ["real base", "kept"])
        self.assertTrue(self.facts["pickles by its name"])

    def test_class_derived_from_a_remade_one_reaches_the_real_base(self) -> None:
        self.assertTrue(self.facts["external is a stream"])
        self.assertEqual(self.facts["external calls the base"], "real base")

    def test_there_is_one_class_under_all_names(self) -> None:
        self.assertEqual(self.facts["one class"], [True] * 3)

    def test_python_halves_mirror_modules_and_leave_their_specs_alone(self) -> None:
        self.assertEqual(self.facts["same modules"], [True] * 3)
        self.assertEqual(self.facts["own spec"], "torch.cuda.nccl")

    def test_names_taken_at_import_are_the_bindings(self) -> None:
        self.assertEqual(self.facts["taken at import"], [True] * 5)
        self.assertEqual(self.facts["exchange"], [["exchanged", 1], ["exchanged", 2]])
        self.assertEqual(self.facts["raw stream"], [7, 7])

    def test_annotations_name_the_new_classes(self) -> None:
        self.assertTrue(self.facts["annotation"])


class BeforeActivationTest(absltest.TestCase):
    facts: ClassVar[dict[str, Any]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.facts = seen(_BEFORE_ACTIVATION, environ={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"})

    def test_objects_that_are_frozen_are_found(self) -> None:
        code = _BEFORE_ACTIVATION.replace(
            "torch_cuda.activate()", "import gc; gc.freeze(); torch_cuda.activate()"
        )
        self.assertNotEqual(code, _BEFORE_ACTIVATION)
        self.assertEqual(seen(code, environ={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}), self.facts)

    def test_references_taken_before_are_the_new_classes(self) -> None:
        self.assertTrue(self.facts["other class"])
        self.assertEqual(self.facts["held"], [True] * 5)
        self.assertTrue(self.facts["event"])

    def test_classes_that_users_derived_work(self) -> None:
        self.assertEqual(self.facts["subclass"], [True, "real base"])

    def test_stub_functions_taken_before_are_the_real_ones(self) -> None:
        self.assertEqual(self.facts["function"], ["exchanged", 3])

    def test_dynamo_imported_before_works(self) -> None:
        self.assertEqual(self.facts["dynamo"], [["exchanged", 2], 7, 7])

    def test_module_stays_the_same_and_keeps_its_queue(self) -> None:
        self.assertTrue(self.facts["same module"])
        self.assertTrue(self.facts["nothing queued is lost"])


class CudnnTest(absltest.TestCase):
    def test_cudnn_module_takes_the_branch_of_cuda_builds(self) -> None:
        self.assertEqual(seen(_CUDNN, _WITH_CUDNN), [True, 90100, [10, 4]])

    def _seen_with_cudnn(self, *, empty: bool, **environ: str) -> Any:
        # The bindings' last step says what was compiled in, as the real one does.
        bindings = _WITH_CUDNN + "\ndef _torch_cuda_complete(torch_c): torch_c._has_cudnn = True\n"
        environ = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", **environ}
        marks = {"accelerator_no_cudnn": 1} if empty else {}
        return seen(_NOT_SERVED.replace("{marks}", repr(marks)), bindings, environ)

    def test_cudnn_that_the_device_does_not_serve_is_off_and_stays_off(self) -> None:
        self.assertEqual(
            self._seen_with_cudnn(empty=True, TORCH_CUDA_SIM="1"),
            [False, False, False, True, False, False, False],
        )

    def test_cudnn_that_the_device_serves_is_on(self) -> None:
        self.assertEqual(
            self._seen_with_cudnn(empty=False, TORCH_CUDA_DEVICES="sim"),
            [True, True, True, True, True, True, True],
        )

    def test_cudnn_of_nvidia_s_devices_is_not_asked(self) -> None:
        self.assertEqual(
            self._seen_with_cudnn(empty=True), [True, True, True, True, True, True, True]
        )


if __name__ == "__main__":
    absltest.main()
