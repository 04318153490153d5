"""The ways to switch the adapter on, which platform it takes, and what it says if it cannot."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

from absl.testing import absltest

_DEADLINE_S = 120
_SAYS = "import torch; print(torch.device('cuda').type, torch.ones(2, device='cuda').is_cuda)"


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

    def test_import_before_torch_and_variable(self) -> None:
        for platform in ("stand-in", "musa"):
            code, said, error = _python(
                "-c",
                f"from torch_cuda_adapter.runtime import activate; activate('stand-in'); {_SAYS}",
                TORCH_CUDA_ADAPTER=platform,
            )
            self.assertEqual((code, said, error), (0, "cuda True", ""))

    def test_variable_that_is_wrong_leaves_torch(self) -> None:
        for name, needed in (
            ("none", "needed one of"),
            ("musa", "found no torch_musa"),
            ("./no.toml", "found no file"),
        ):
            code, said, error = _python(
                "-c", "import torch; print(torch.ones(2).sum().item())", TORCH_CUDA_ADAPTER=name
            )
            self.assertEqual((code, said), (0, "2.0"))
            self.assertIn("torch_cuda_adapter is not active: ", error)
            self.assertIn(needed, error)
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
        script.write_text(
            f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {_SAYS!r}], check=True)\n"
        )
        self.assertEqual(_python("-m", "torch_cuda_adapter", script)[:2], (0, "cuda True"))

    def test_one_platform_at_a_time(self) -> None:
        code, _, error = _python(
            "-c",
            "from torch_cuda_adapter.runtime import activate\n"
            "assert activate('stand-in') is activate('stand-in') is activate()\n"
            "activate('musa')",
        )
        self.assertEqual(code, 1)
        self.assertIn("the adapter is active for stand-in, and musa was asked for", error)

    def test_variables_of_cuda_are_the_platforms(self) -> None:
        said = "import torch_cuda_adapter.auto, os, torch; print(os.environ['STAND_IN_VISIBLE_DEVICES'], torch.cuda.device_count())"
        options: dict[str, Any] = {
            "TORCH_STAND_IN_DEVICE": "count=4",
            "CUDA_VISIBLE_DEVICES": "1,2",
        }
        self.assertEqual(_python("-c", said, **options)[1], "1,2 2")
        self.assertEqual(_python("-c", said, STAND_IN_VISIBLE_DEVICES="3", **options)[1], "3 1")

    def test_torch_with_cuda_of_its_own_is_refused(self) -> None:
        code, _, error = _python(
            "-c", "import torch; torch._C._cuda_init = 1; import torch_cuda_adapter.auto"
        )
        self.assertEqual(code, 1)
        self.assertIn("found a torch with CUDA of its own", error)


class DetectionTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.enter_context(tempfile.TemporaryDirectory()))

    def test_names_of_torchada(self) -> None:
        said = (
            "from torch_cuda_adapter.runtime import alias; alias.install(); import torchada, torch\n"
            "from torchada import Platform, detect_platform, is_cuda_platform, is_musa_platform, is_gpu_device, CUDA_HOME\n"
            "print(detect_platform() is Platform.CUDA, is_cuda_platform(), is_musa_platform(), CUDA_HOME)\n"
            "print([is_gpu_device(d) for d in ('cuda', 'cuda:1', torch.device('cuda'), torch.ones(1, device='cuda'),"
            " 'stand_in:0', 'cpu', torch.device('cpu'), torch.ones(1), None, 0)])"
        )
        code, output, error = _python("-c", said, STAND_IN_HOME="/")
        self.assertEqual(
            (code, output), (0, f"True True False /\n{[True] * 5 + [False] * 5}"), error
        )

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
            code, said, _ = _python(
                "-m",
                "torch_cuda_adapter",
                "--torchada",
                "-m",
                "timeit",
                "-n1",
                "-r1",
                "import torchada",
            )
            self.assertEqual(code, 0, said)

    def test_torchadas_modules_are_torchs(self) -> None:
        said = (
            "from torch_cuda_adapter.runtime import alias; alias.install(); alias.install()\n"
            "import sys, torch, torchada, torchada.cuda.amp\n"
            "from torchada.utils.cpp_extension import load\n"
            "print(torchada.cuda is torch.cuda, torchada.cuda.amp is torch.cuda.amp,\n"
            "      torchada.utils.cpp_extension is torch.utils.cpp_extension, torchada.get_backend() is torch.cuda)\n"
            "print(torchada.cuda_to_musa_name('cudaMalloc'), torchada.nccl_to_mccl_name('cudaMalloc'))\n"
            "assert all(hasattr(torchada, name) for name in torchada.__all__)\n"
            "alias.remove(); alias.remove(); print([n for n in sys.modules if n.startswith('torchada')])\n"
            "import torchada"
        )
        code, output, error = _python("-c", said)
        self.assertEqual(
            output, "True True True True\nmusaMalloc cudaMalloc\n[]", f"{code}: {error}"
        )
        self.assertIn("No module named 'torchada'", error)

    def test_processes_of_a_program_have_torchada_too(self) -> None:
        script = self.folder / "parent.py"
        child = "import torchada; print(torchada.is_patched(), torchada.detect_platform().name)"
        script.write_text(
            f"import subprocess, sys, torchada\nsubprocess.run([sys.executable, '-c', {child!r}], check=True)\n"
        )
        code, output, error = _python("-m", "torch_cuda_adapter", "--torchada", script)
        self.assertEqual((code, output), (0, "True CUDA"), error)

    def test_alias_is_not_there_unasked(self) -> None:
        self.assertIn(
            "No module named 'torchada'",
            _python("-c", "import torch_cuda_adapter.auto, torchada")[2],
        )


if __name__ == "__main__":
    absltest.main()
