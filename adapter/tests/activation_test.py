"""The ways to switch the adapter on, which platform it takes, and what it says if it cannot."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings
from typing import Any
from unittest import mock

from absl.testing import absltest
from torch_cuda_adapter import autoload
from torch_cuda_adapter.errors import AdapterError, UnavailableError
from torch_cuda_adapter.runtime import activate, alias, restore

_DEADLINE_S = 120
_SAYS = "import torch; print(torch.device('cuda').type, torch.ones(2, device='cuda').is_cuda)"

# inductor's tables before activation, with the adapter and after it; imported before it or while it is active.
_TABLES = """
import sys, torch, torch_stand_in
from torch_cuda_adapter.runtime import activate, restore

def tables():
    from torch._dynamo import device_interface
    from torch._inductor import cudagraph_utils, scheduler, utils
    from torch._inductor.codegen import common, wrapper
    common.init_backend_registration()
    device_interface.get_interface_for_device("cpu")
    found = {(kind, name): value for kind, table in (
        ("code", common.device_codegens),
        ("operations", common.device_op_overrides_dict),
        ("interface", device_interface.device_interfaces),
    ) for name, value in table.items()}
    found["kinds"] = list(utils.GPU_TYPES)
    found["functions"] = [common.register_backend_for_device, common.register_device_op_overrides,
        device_interface.register_interface_for_device, wrapper.PythonWrapperCodegen.make_allocation,
        scheduler.Scheduler.create_backend, cudagraph_utils.check_multiple_devices_or_any_cpu_nodes]
    return found

before = tables() if sys.argv[1] == "before" else None
activate("stand-in")
found = tables()
for kind in ("code", "operations", "interface"):
    assert found[kind, "cuda"] is found[kind, "stand_in"] is not found[kind, "cpu"], kind
assert "cuda" not in found["kinds"]
restore()
after = tables()
assert before is None or after == before
for kind in ("code", "operations", "interface"):
    assert (kind, "cuda") in after and after[kind, "cuda"] is not after[kind, "stand_in"], kind
# The others differ between versions, "cuda" is the first of all.
assert after["kinds"][0] == "cuda" and "xpu" in after["kinds"], after["kinds"]
activate("stand-in")
assert tables()["code", "cuda"] is found["code", "stand_in"]
"""

# A release that lacks an operator: without the adapter, with it, and after it; then one that has it.
_MENDED = """
import sys, torch, torch_stand_in
from torch_cuda_adapter.runtime import activate, restore
has = lambda: torch._C._dispatch_has_kernel_for_dispatch_key("aten::isfinite", "PrivateUse1")
def log():
    x = torch.ones(2, device="stand_in", dtype=torch.float64)
    try:
        return x.log_().tolist()
    except NotImplementedError as error:
        return str(error)
mended = sys.argv[1] == "0.9"
assert torch_stand_in.__version__ == sys.argv[1]
before = log()
assert ("not implemented for 'Double'" in before) if mended else before == [0.0, 0.0], before
for _ in range(2):
    activate("stand-in")
    assert log() == [0.0, 0.0] and has() == mended
    restore()
    assert log() == before and not has()
"""


def _python(
    *arguments: str | os.PathLike[str], folder: pathlib.Path | None = None, **environment: str
) -> tuple[int, str, str]:
    """Runs Python in this environment, with a folder of modules before what is installed."""
    # As in a shell: Bazel's tests have a safe path.
    ours = ("TORCH_CUDA_ADAPTER", "PYTHONSAFEPATH")
    clean = {key: value for key, value in os.environ.items() if key not in ours}
    if folder is not None:
        environment["PYTHONPATH"] = os.pathsep.join([str(folder), clean.get("PYTHONPATH", "")])
    finished = subprocess.run(
        [sys.executable, *arguments],
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=_DEADLINE_S,
        check=False,
    )
    return finished.returncode, finished.stdout.strip(), finished.stderr.strip()


class ActivationTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.enter_context(tempfile.TemporaryDirectory()))

    def test_import(self) -> None:
        self.assertEqual(
            _python("-c", f"import torch_cuda_adapter.auto; {_SAYS}"), (0, "cuda True", "")
        )
        code, _, error = _python("-c", f"import torch_cuda_adapter.runtime; {_SAYS}")
        self.assertNotEqual((code, error), (0, ""))

    def test_variable(self) -> None:
        self.assertEqual(_python("-c", _SAYS, TORCH_CUDA_ADAPTER="stand-in")[:2], (0, "cuda True"))

    def test_program_activates_before_it_imports_torch(self) -> None:
        """`import torch` then calls autoload, which does what the variable says."""
        code, said, error = _python(
            "-c",
            f"from torch_cuda_adapter.runtime import activate; activate('stand-in'); {_SAYS}",
            TORCH_CUDA_ADAPTER="musa",
        )
        self.assertEqual((code, said, error), (0, "cuda True", ""))

    def test_variable_that_is_wrong_leaves_torch(self) -> None:
        code, said, error = _python(
            "-c",
            "import torch; print(torch.ones(2).sum().item())",
            TORCH_CUDA_ADAPTER="none",
        )
        self.assertEqual((code, said), (0, "2.0"))
        self.assertIn("torch_cuda_adapter is not active: ", error)
        self.assertIn("needed one of", error)
        self.assertNotIn("Traceback", error)

    def test_command_runs_scripts_and_modules_with_their_arguments(self) -> None:
        script = self.folder / "show.py"
        script.write_text(
            f"import sys, beside\n{_SAYS}\nprint(__name__, sys.argv[1:], beside.VALUE)\n"
        )
        (self.folder / "beside.py").write_text("VALUE = 7\n")
        code, said, error = _python("-m", "torch_cuda_adapter", script, "--platform", "mine")
        self.assertEqual((code, said), (0, "cuda True\n__main__ ['--platform', 'mine'] 7"), error)
        code, said, error = _python(
            "-m", "torch_cuda_adapter", "-m", "show", "1", folder=self.folder
        )
        self.assertEqual((code, said), (0, "cuda True\n__main__ ['1'] 7"), error)

    def test_command_says_what_is_wrong_in_one_line(self) -> None:
        code, said, error = _python("-m", "torch_cuda_adapter", "--platform", "npu", "train.py")
        self.assertEqual((code, said), (2, ""))
        self.assertRegex(error, r"^torch_cuda_adapter: found no torch_npu[^\n]*$")

    def test_processes_that_a_program_starts_have_it(self) -> None:
        script = self.folder / "parent.py"
        child = f"import torchada; {_SAYS}; print(torchada.is_patched())"
        script.write_text(
            f"import subprocess, sys, torchada\nsubprocess.run([sys.executable, '-c', {child!r}], check=True)\n"
        )
        code, said, error = _python("-m", "torch_cuda_adapter", "--torchada", script)
        self.assertEqual((code, said), (0, "cuda True\nTrue"), error)

    def test_variables_of_cuda_are_the_platforms(self) -> None:
        said = "import torch_cuda_adapter.auto, os, torch; print(os.environ['STAND_IN_VISIBLE_DEVICES'], torch.cuda.device_count())"
        options: dict[str, Any] = {
            "TORCH_STAND_IN_DEVICE": "count=4",
            "CUDA_VISIBLE_DEVICES": "1,2",
        }
        self.assertEqual(_python("-c", said, **options)[1], "1,2 2")
        self.assertEqual(_python("-c", said, STAND_IN_VISIBLE_DEVICES="3", **options)[1], "3 1")


class HereTest(absltest.TestCase):
    """In this process, where torch is imported once."""

    def setUp(self) -> None:
        super().setUp()
        self.enter_context(mock.patch.dict(os.environ))
        os.environ.pop("TORCH_CUDA_ADAPTER", None)
        self.addCleanup(restore)

    def test_one_platform_at_a_time(self) -> None:
        platform = activate("stand-in")
        self.assertIs(activate("stand-in"), platform)
        self.assertIs(activate(), platform)
        with self.assertRaisesRegex(
            AdapterError, "the adapter is active for stand-in, and musa was asked for"
        ):
            activate("musa")

    def test_variable_that_is_wrong_is_a_warning(self) -> None:
        for name, needed in (("musa", "found no torch_musa"), ("./no.toml", "found no file")):
            os.environ["TORCH_CUDA_ADAPTER"] = name
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                autoload.autoload()
            self.assertLen(caught, 1)
            self.assertStartsWith(str(caught[0].message), "torch_cuda_adapter is not active: ")
            self.assertIn(needed, str(caught[0].message))

    def test_defaults_of_variables_leave_what_is_set(self) -> None:
        os.environ["SGLANG_MOE_CONFIG_DIR"] = "/mine"
        os.environ.pop("VLLM_TUNED_CONFIG_FOLDER", None)
        activate()
        self.assertEqual(os.environ["SGLANG_MOE_CONFIG_DIR"], "/mine")
        self.assertNotEmpty(
            list(pathlib.Path(os.environ["VLLM_TUNED_CONFIG_FOLDER"]).glob("*.json"))
        )
        restore()
        self.assertNotIn("VLLM_TUNED_CONFIG_FOLDER", os.environ)

    def test_torch_cuda_is_refused(self) -> None:
        torch = importlib.import_module("torch")
        with (
            mock.patch.object(torch._C, "_has_cuda", False),
            mock.patch.object(torch._C, "_cuda_init", 1, create=True),
            self.assertRaisesRegex(
                AdapterError, "found a torch with CUDA of its own.*: TORCH_CUDA_DISABLE=1"
            ),
        ):
            activate()

    def test_devices_of_a_build_with_cuda_are_refused(self) -> None:
        torch = importlib.import_module("torch")
        with (
            mock.patch.object(torch._C, "_has_cuda", True),
            mock.patch.object(torch.cuda, "device_count", return_value=2),
        ):
            with self.assertRaisesRegex(
                AdapterError,
                "2 CUDA devices, .*: CUDA_VISIBLE_DEVICES= STAND_IN_VISIBLE_DEVICES=0",
            ):
                activate()
            with (
                mock.patch.dict(sys.modules, {"torch_cuda_runtime": mock.Mock()}),
                self.assertRaisesRegex(AdapterError, "no TORCH_CUDA_DEVICES"),
            ):
                activate()
        self.assertFalse(torch.cuda.is_available())

    def test_build_with_cuda_and_without_a_device_is_taken(self) -> None:
        """On a build without CUDA, as if it had some; its functions are not reached."""
        torch = importlib.import_module("torch")
        reached = mock.Mock(return_value=0)
        with (
            mock.patch.object(torch._C, "_has_cuda", True),
            mock.patch.object(torch._C, "_has_cudnn", True),
            mock.patch.object(torch._C, "_cuda_getDeviceCount", reached, create=True),
            mock.patch.object(torch._C, "_cuda_sleep", reached, create=True),
        ):
            activate("stand-in")
            self.assertEqual(torch._C._cuda_getDeviceCount(), torch.cuda.device_count())
            self.assertGreater(torch.cuda.device_count(), 0)
            with self.assertRaisesRegex(UnavailableError, r"torch\._C\._cuda_sleep: stand-in has"):
                torch._C._cuda_sleep(1)
            reached.reset_mock()
            self.assertFalse(torch.backends.cudnn.is_available())
            self.assertIsNone(torch.backends.cudnn.version())
            restore()
            reached.assert_not_called()
            self.assertIs(torch._C._cuda_sleep, reached)
            self.assertTrue(torch.backends.cudnn.is_available())

    def test_names_of_torchada(self) -> None:
        os.environ["STAND_IN_HOME"] = "/"
        self.addCleanup(alias.remove)
        alias.install()
        alias.install()
        torch, torchada = map(importlib.import_module, ("torch", "torchada"))
        self.assertIs(torchada.detect_platform(), torchada.Platform.CUDA)
        self.assertTrue(torchada.is_cuda_platform())
        self.assertFalse(torchada.is_musa_platform())
        self.assertEqual(torchada.CUDA_HOME, "/")
        there = ["cuda", "cuda:1", torch.device("cuda"), torch.ones(1, device="cuda"), "stand_in:0"]
        elsewhere = ["cpu", torch.device("cpu"), torch.ones(1), None, 0]
        self.assertEqual(
            [torchada.is_gpu_device(device) for device in (*there, *elsewhere)],
            [True] * 5 + [False] * 5,
        )
        self.assertEqual(torchada.cuda_to_musa_name("cudaMalloc"), "musaMalloc")
        self.assertEqual(torchada.nccl_to_mccl_name("cudaMalloc"), "cudaMalloc")
        for name in torchada.__all__:
            self.assertTrue(hasattr(torchada, name), name)

    def test_torchadas_modules_are_torchs(self) -> None:
        self.addCleanup(alias.remove)
        alias.install()
        for name in ("cuda", "cuda.amp", "cuda.random", "utils.cpp_extension"):
            self.assertIs(
                importlib.import_module(f"torchada.{name}"),
                importlib.import_module(f"torch.{name}"),
            )
        alias.remove()
        alias.remove()
        self.assertEmpty([name for name in sys.modules if name.startswith("torchada")])
        self.assertIsNone(importlib.util.find_spec("torchada"))

    def test_torchada_is_not_there_unasked(self) -> None:
        activate()
        self.assertIsNone(importlib.util.find_spec("torchada"))


class InductorTest(absltest.TestCase):
    def test_tables_are_the_platforms_and_are_put_back(self) -> None:
        for imported in ("before", "after"):
            with self.subTest(imported):
                code, _, error = _python("-c", _TABLES, imported)
                self.assertEqual(code, 0, error)


class OperatorsTest(absltest.TestCase):
    def test_releases_that_lack_operators_are_mended(self) -> None:
        for release in ("0.9", "1.0"):
            with self.subTest(release):
                code, _, error = _python("-c", _MENDED, release, TORCH_STAND_IN_RELEASE=release)
                self.assertEqual(code, 0, error)
                self.assertEqual(error, "")


class DetectionTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.enter_context(tempfile.TemporaryDirectory()))

    def test_before_activation_nothing_is_imported_or_changed(self) -> None:
        said = (
            "from torch_cuda_adapter.runtime import detection; import sys, torch\n"
            "print(detection.detect_platform().name, 'torch_stand_in' in sys.modules, torch.cuda.is_available())"
        )
        self.assertEqual(_python("-c", said)[1], "STAND_IN False False")

    def test_torchada_itself_is_left_alone(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            pathlib.Path(folder, "torchada.py").write_text("REAL = True\n")
            code, _, error = _python(
                "-c", "from torch_cuda_adapter.runtime import alias; alias.install()", folder=folder
            )
            self.assertEqual(code, 1)
            self.assertIn("found torchada installed", error)


if __name__ == "__main__":
    absltest.main()
