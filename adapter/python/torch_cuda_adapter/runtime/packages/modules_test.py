"""Modules under other names, and functions that are completed, with packages written for the test."""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import sys
from typing import Any
from unittest import mock

from absl.testing import absltest

from torch_cuda_adapter.errors import UnavailableError
from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.runtime.journal import Journal
from torch_cuda_adapter.runtime.packages import functions, modules

_PROVIDER = """
def flash_attn_func(q, k, v, causal=False, return_softmax_lse=False):
    return (q + k + v, "lse") if return_softmax_lse and q else q + k + v
def old(q): return q
def new(q, only_qv=False): return only_qv
def any_of_them(q, **options): return options
"""


class ModulesTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.enter_context(mock.patch.object(sys, "path", [str(self.folder), *sys.path]))
        self.enter_context(mock.patch.dict(sys.modules))
        self.finders = list(sys.meta_path)
        self.journal = Journal()
        self.addCleanup(self.journal.restore)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        importlib.invalidate_caches()

    def begin(self, **tables: Any) -> None:
        platform = Platform("mine", "", self.folder, "", tables)
        functions.change(platform, self.journal)
        modules.change(platform, self.journal)

    def load(self, name: str) -> Any:
        return importlib.import_module(name)

    def test_module_of_another_package(self) -> None:
        self.write("mine_attention.py", _PROVIDER)
        self.begin(modules={"t_kernel.inner.attention": {"module": "mine_attention"}})
        self.assertIsNotNone(importlib.util.find_spec("t_kernel"))
        self.assertNotIn("mine_attention", sys.modules)
        found = self.load("t_kernel.inner.attention")
        self.assertIs(found, self.load("mine_attention"))
        self.assertEqual(found.__spec__.name, "mine_attention")
        self.assertIs(self.load("t_kernel").inner.attention, found)
        with self.assertRaises(ModuleNotFoundError):
            self.load("t_kernel.other")
        self.journal.restore()
        self.assertEqual(sys.meta_path, self.finders)
        self.assertEmpty([name for name in sys.modules if name.startswith("t_kernel")])
        self.assertIs(self.load("mine_attention"), found)
        with self.assertRaises(ModuleNotFoundError):
            self.load("t_kernel.inner.attention")

    def test_part_of_a_package_that_is_not_installed(self) -> None:
        self.write("mine_extra.py", "")
        self.begin(
            modules={"t_kernel.a.cuda": {"module": "mine_extra", "replaces": True, "part": True}}
        )
        self.assertIsNone(importlib.util.find_spec("t_kernel"))
        with self.assertRaisesRegex(ModuleNotFoundError, "'t_kernel'"):
            self.load("t_kernel.a.cuda")
        self.write("t_kernel/a/__init__.py", "")
        self.assertIs(self.load("t_kernel.a.cuda"), self.load("mine_extra"))

    def test_what_is_not_installed(self) -> None:
        self.begin(modules={"t_kernel.attention": {"module": "mine_nowhere", "replaces": True}})
        self.assertIsNone(importlib.util.find_spec("t_kernel"))
        with self.assertRaisesRegex(ModuleNotFoundError, "'t_kernel'"):
            self.load("t_kernel.attention")

    def test_installed_module_wins_unless_it_is_replaced(self) -> None:
        for name in ("kept", "other"):
            self.write(f"t_kernel/{name}.py", "REAL = True\n")
        self.write("t_kernel/__init__.py", "")
        self.write("mine_attention.py", "REAL = False\n")
        self.begin(
            modules={
                "t_kernel.kept": {"module": "mine_attention"},
                "t_kernel.other": {"module": "mine_attention", "replaces": True},
            }
        )
        self.assertTrue(self.load("t_kernel.kept").REAL)
        self.assertFalse(self.load("t_kernel.other").REAL)
        self.journal.restore()
        self.assertFalse(hasattr(self.load("t_kernel"), "other"))
        self.assertTrue(self.load("t_kernel.other").REAL)

    def test_package_that_imports_what_is_replaced(self) -> None:
        self.write("t_kernel/cuda.py", "REAL = True\n")
        # As Triton does: past the finders.
        self.write(
            "t_kernel/__init__.py",
            "import sys, types\nsys.modules['t_kernel.cuda'] = cuda = types.ModuleType('t_kernel.cuda')\n",
        )
        self.write("mine_extra/__init__.py", "")
        self.write("mine_extra/part.py", "REAL = False\n")
        self.begin(modules={"t_kernel.cuda": {"module": "mine_extra", "replaces": True}})
        package = self.load("t_kernel")
        self.assertIs(package.cuda, self.load("mine_extra"))
        self.assertIs(self.load("t_kernel.cuda.part"), self.load("mine_extra.part"))
        self.journal.restore()
        self.assertIsNot(package.cuda, self.load("mine_extra"))
        self.assertNotIn("t_kernel.cuda.part", sys.modules)
        self.assertIs(self.load("mine_extra").part, sys.modules["mine_extra.part"])

    def test_package_whose_parts_are_imported_with_it(self) -> None:
        # As Triton's, which imports its packages of extras twice.
        self.write("t_kernel/__init__.py", "from . import cuda\n")
        self.write("t_kernel/cuda/__init__.py", "from . import part, utils\n")
        for name in ("part", "utils"):
            self.write(f"t_kernel/cuda/{name}.py", "REAL = True\n")
        self.write("mine_extra/__init__.py", "")
        self.write("mine_extra/part.py", "REAL = False\n")
        self.begin(
            modules={
                "t_kernel.cuda": {"module": "mine_extra", "replaces": True},
                "t_kernel.part": {"module": "mine_extra.part", "replaces": True},
            }
        )
        package = self.load("t_kernel")
        self.assertIs(package.cuda, self.load("mine_extra"))
        self.assertFalse(self.load("t_kernel.part").REAL)
        self.assertFalse(self.load("t_kernel.cuda.part").REAL)
        with self.assertRaises(ModuleNotFoundError):
            self.load("t_kernel.cuda.utils")
        self.journal.restore()
        self.assertTrue(package.cuda.part.REAL)
        self.assertIs(self.load("t_kernel.cuda.part"), package.cuda.part)
        self.assertTrue(self.load("t_kernel.cuda.utils").REAL)

    def test_keywords_that_a_function_does_not_know(self) -> None:
        self.write("mine_attention.py", _PROVIDER)
        names = ("old", "new", "any_of_them", "no_such")
        self.begin(
            functions={
                "mine_attention": {"optional_keywords": {name: ["only_qv"] for name in names}}
            }
        )
        module = self.load("mine_attention")
        self.assertEqual(module.old(3, only_qv=True), 3)
        with self.assertRaisesRegex(TypeError, "another"):
            module.old(3, another=True)
        self.assertTrue(module.new(3, only_qv=True))
        self.assertEqual(module.any_of_them(3, only_qv=True), {"only_qv": True})
        self.assertFalse(hasattr(module, "no_such"))
        self.journal.restore()
        with self.assertRaises(TypeError):
            module.old(3, only_qv=True)

    def test_forward_made_of_the_public_function(self) -> None:
        composed = {"_flash_attn_forward": "flash_attention_forward"}
        self.write("mine_attention.py", _PROVIDER)
        self.write("mine_own.py", "_flash_attn_forward = 7\n")
        self.begin(
            functions={name: {"composed": composed} for name in ("mine_attention", "mine_own")}
        )
        self.assertEqual(self.load("mine_own")._flash_attn_forward, 7)
        forward = self.load("mine_attention")._flash_attn_forward
        self.assertEqual(
            forward(1, 2, 3, None, dropout_p=0.0, softcap=0, window_size=(-1, -1), causal=True),
            (6, "lse", None, None),
        )
        for arguments, options, message in (
            ((1, 2, 3, 4), {}, "give them by name"),
            ((1, 2, 3), {"dropout_p": 0.5}, "takes no dropout_p"),
            ((1, 2, 3), {"window_size_left": 0}, "takes no window_size"),
            ((0, 2, 3), {}, "returned no log-sum-exp"),
        ):
            with self.assertRaisesRegex(UnavailableError, message):
                forward(*arguments, **options)


if __name__ == "__main__":
    absltest.main()
