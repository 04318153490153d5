"""Programs that share the import of torch are like programs that have processes of their own."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from absl.testing import absltest, parameterized

from tools.testing import paused_import

_INHERITED = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}


class CanShareTest(parameterized.TestCase):
    @parameterized.parameters(
        ("import torch", True),
        ("import os\nfrom sys import path\nimport torch.cuda as c\nprint(c)", True),
        ("from torch import nn", True),
        ("import os, torch", True),
        ("import torch_cuda, torch", False),
        ("import os\nos.environ['A'] = '1'\nimport torch", False),
        ("from . import torch", False),
        ("print(1)", False),
        ("import os", False),
    )
    def test_torch_comes_first(self, code: str, expected: bool) -> None:
        self.assertEqual(paused_import.can_share(code, {}), expected)

    def test_backends_are_loaded_with_it(self) -> None:
        self.assertTrue(
            paused_import.can_share("import torch", {"TORCH_DEVICE_BACKEND_AUTOLOAD": "1"})
        )
        self.assertFalse(
            paused_import.can_share("import torch", {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"})
        )


# What a program can see of its process.
_FACTS = """
import torch
import json, multiprocessing, os, sys
print(json.dumps([
    sys.argv, sys.path, os.getcwd(), sorted(os.environ.items()), sorted(globals()), __name__,
    os.path.exists("/proc/self/fd/3") and sorted(os.listdir("/proc/self/fd")),
    multiprocessing.current_process().name, torch.ones(3).sum().item(),
    [name for name in sys.modules if name.startswith("backend_")],
]))
"""


class RunTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = pathlib.Path(self.create_tempdir().full_path)
        self.variables = {"MINE": "1", "PYTHONPATH": str(self.site)}

    def add_backend(self, source: str) -> None:
        info = self.site / "backend_of_test-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: backend_of_test\nVersion: 1\n")
        (info / "entry_points.txt").write_text("[torch.backends]\nmine = backend_of_test:load\n")
        (self.site / "backend_of_test.py").write_text(source)

    def shared(self, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        self.assertTrue(paused_import.can_share(code, _INHERITED))
        return paused_import.run(
            sys.executable,
            code,
            *arguments,
            environ=_INHERITED,
            changes={"MINE": "1"},
            path=[str(self.site)],
            folder=self.site,
        )

    def alone(self, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env={**_INHERITED, **self.variables},
            cwd=self.site,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def test_process_looks_the_same(self) -> None:
        self.add_backend("def load(): print('loaded')\n")
        shared, alone = self.shared(_FACTS, "one", "two"), self.alone(_FACTS, "one", "two")
        self.assertEqual(
            (shared.returncode, shared.stdout, shared.stderr),
            (alone.returncode, alone.stdout, alone.stderr),
        )
        self.assertStartsWith(shared.stdout, "loaded\n")
        self.assertIn("backend_of_test", shared.stdout)

    def test_import_fails_as_it_does_alone(self) -> None:
        self.add_backend("def load(): raise ValueError('broken')\n")
        done = self.shared("import torch")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ValueError: broken", done.stderr)
        self.assertIn("Failed to load the backend extension: mine", done.stderr)

    def test_what_one_does_no_other_sees(self) -> None:
        change = "import torch, os\ntorch.mine = os.environ['OTHER'] = 'x'"
        ask = "import torch, os\nprint(hasattr(torch, 'mine'), 'OTHER' in os.environ)"
        self.assertEqual(self.shared(change).returncode, 0)
        self.assertEqual(self.shared(ask).stdout, "False False\n")

    def test_ends(self) -> None:
        for code, expected in (
            ("sys.exit(7)", (7, "", "")),
            ("sys.exit('words')", (1, "", "words\n")),
            ("os.kill(os.getpid(), 9)", (-9, "", "")),
            ("os._exit(3)", (3, "", "")),
            ("atexit.register(print, 'at the end')\nprint(1)", (0, "1\nat the end\n", "")),
            ("subprocess.run(['echo', 'child'])", (0, "child\n", "")),
        ):
            with self.subTest(code):
                done = self.shared(f"import torch, atexit, os, subprocess, sys\n{code}")
                self.assertEqual((done.returncode, done.stdout, done.stderr), expected)
        done = self.shared("import torch\n1 / 0")
        self.assertEqual(done.returncode, 1)
        self.assertIn('  File "<string>", line 2, in <module>', done.stderr)
        self.assertIn("ZeroDivisionError", done.stderr)

    def test_code_that_cannot_share_has_its_own_process(self) -> None:
        done = paused_import.run(
            sys.executable, "import sys; print('torch' in sys.modules)", environ=_INHERITED
        )
        self.assertEqual((done.returncode, done.stdout), (0, "False\n"))

    def test_torch_that_is_not_there(self) -> None:
        (self.site / "torch.py").write_text("raise ImportError('no such torch')\n")
        environ = {**_INHERITED, "PYTHONPATH": str(self.site)}
        with (
            paused_import.PausedImport(sys.executable, environ) as paused,
            self.assertRaisesRegex(RuntimeError, "(?s)import torch failed.*no such torch"),
        ):
            paused.run("import torch")


if __name__ == "__main__":
    absltest.main()
