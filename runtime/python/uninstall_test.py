"""Installs the wheels torch_cuda_runtime and torch_cuda_sim with pip, uses all of it, and takes them out again.

uninstall_test.py RUNTIME_WHEEL SIM_WHEEL
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import ClassVar

from absl.testing import absltest

RUNTIME, SIMULATOR = (pathlib.Path(wheel).absolute() for wheel in sys.argv[1:3])
del sys.argv[1:3]

PACKAGES = ("torch_cuda_runtime", "torch_cuda_sim")
# No router is for it, and it does without CUDA.
_VERSION = "__version__ = '0.1+cu130'\ncuda = '13.0'\n"


class UninstallTest(absltest.TestCase):
    python: ClassVar[pathlib.Path]
    folder: ClassVar[pathlib.Path]
    before: ClassVar[dict[pathlib.Path, bytes]]
    installed: ClassVar[set[pathlib.Path]]
    used: ClassVar[set[pathlib.Path]]
    after: ClassVar[dict[pathlib.Path, bytes]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.folder = pathlib.Path(absltest.get_default_test_tmpdir()) / "home"
        venv = cls.folder / "venv"
        subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", str(venv)], check=True)
        cls.python = venv / "bin" / "python3"
        (site,) = venv.glob("lib/python*/site-packages")
        torch = site / "torch"
        torch.mkdir()
        (torch / "version.py").write_text(_VERSION)
        (torch / "__init__.py").touch()
        cls.before = cls.files()
        cls.pip("install", "--no-index", f"--find-links={RUNTIME.parent}", str(SIMULATOR))
        cls.installed = set(cls.files()) - set(cls.before)
        cls.use(site)
        cls.used = set(cls.files()) - set(cls.before)
        cls.pip("uninstall", "--yes", *PACKAGES)
        cls.after = cls.files()

    @classmethod
    def files(cls) -> dict[pathlib.Path, bytes]:
        """What the files of the environment and of the home hold; folders have a slash."""
        return {
            path.relative_to(cls.folder): path.read_bytes() if path.is_file() else b"/"
            for path in cls.folder.rglob("*")
            # What Python itself compiles of the torch of this test.
            if "torch/__pycache__" not in str(path)
        }

    @classmethod
    def run_python(cls, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [cls.python, *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(cls.folder), **settings},
            cwd=cls.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    @classmethod
    def pip(cls, *arguments: str) -> None:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        command = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check"]
        done = subprocess.run(
            [*command, "--python", str(cls.python), *arguments],
            env={**environ, "PIP_CONFIG_FILE": os.devnull},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise AssertionError(f"pip {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")

    @classmethod
    def use(cls, site: pathlib.Path) -> None:
        """Everything that writes anywhere, Python's compiled files above all."""
        asked = {"TORCH_CUDA_SIM": "1"}
        for folder in PACKAGES:
            cls.run_python("-m", "compileall", "-q", str(site / folder)).check_returncode()
        program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import torch'])"
        done = cls.run_python("-c", f"import torch; {program}", **asked)
        if done.returncode != 0 or "DeviceWarning" not in done.stderr:
            raise AssertionError(f"the import is not that of a used torch:\n{done.stderr}")
        cls.run_python("-m", "torch_cuda_runtime", "doctor", **asked)
        script = site / "torch" / "program.py"
        script.write_text(program)
        cls.run_python("-m", "torch_cuda_runtime", "run", str(script), **asked).check_returncode()
        script.unlink()
        libraries = "import ctypes, sys; [ctypes.CDLL(path) for path in sys.argv[1:]]"
        runtime = str(site / "torch_cuda_runtime/lib/cu13/libcudart.so.13")
        cls.run_python("-c", libraries, runtime, **asked).check_returncode()

    def test_there_was_something_to_take_out(self) -> None:
        names = {path.name for path in self.installed}
        self.assertContainsSubset(
            {
                *("torch_cuda_runtime.pth", "sitecustomize.py", "nvidia-smi"),
                *("libcudart.so.13", "libaccel_sim.so"),
            },
            names,
        )
        compiled = {path for path in self.used if path.match("_site/__pycache__/*.pyc")}
        self.assertNotEmpty(compiled)

    def test_using_it_writes_beside_it_alone(self) -> None:
        elsewhere = {
            path
            for path in self.used - self.installed
            if not any(package in str(path) for package in PACKAGES)
        }
        self.assertEmpty(elsewhere)

    def test_nothing_is_left(self) -> None:
        self.assertEqual(sorted(set(self.after) - set(self.before)), [])
        self.assertEqual(self.after, self.before)

    def test_the_variables_then_mean_nothing(self) -> None:
        for settings in ({"TORCH_CUDA_SIM": "1"}, {"TORCH_CUDA_DEVICES": "fake"}):
            done = self.run_python("-c", "import sys, torch; print(len(sys.meta_path))", **settings)
            plain = self.run_python("-c", "import sys, torch; print(len(sys.meta_path))")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, plain.stdout)


if __name__ == "__main__":
    absltest.main()
