"""A module is acted on when it is imported, once, and its import goes on if that fails."""

from __future__ import annotations

import importlib
import inspect
import pathlib
import sys
import warnings
from types import ModuleType

from absl.testing import absltest

from torch_cuda import _import_hook
from torch_cuda._errors import ActivationWarning


def _mark(module: ModuleType) -> None:
    vars(module)["marks"] = [*vars(module).get("marks", ()), vars(module)["VALUE"]]


class AfterImportTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = self.create_tempdir()
        # A name of its own for each test: what a process has imported stays.
        self.name = f"hooked_{self.id().rpartition('.')[2]}"
        folder.create_file(f"{self.name}.py", "VALUE = 7\n\ndef function():\n    return VALUE\n")
        sys.path.insert(0, folder.full_path)
        importlib.invalidate_caches()
        self.finders = list(sys.meta_path)
        self.addCleanup(sys.path.remove, folder.full_path)
        self.addCleanup(sys.modules.pop, self.name, None)
        self.addCleanup(lambda: sys.meta_path.__setitem__(slice(None), self.finders))

    def test_module_is_not_imported_before_somebody_wants_it(self) -> None:
        _import_hook.after_import(self.name, _mark)
        self.assertNotIn(self.name, sys.modules)

    def test_importer_gets_the_changed_module(self) -> None:
        _import_hook.after_import(self.name, _mark)
        self.assertEqual(importlib.import_module(self.name).marks, [7])

    def test_imported_module_is_changed_at_once(self) -> None:
        module = importlib.import_module(self.name)
        _import_hook.after_import(self.name, _mark)
        self.assertEqual(module.marks, [7])

    def test_reloaded_module_is_changed_again(self) -> None:
        _import_hook.after_import(self.name, _mark)
        module = importlib.import_module(self.name)
        self.assertEqual(importlib.reload(module).marks, [7, 7])

    def test_module_says_that_its_own_loader_loaded_it(self) -> None:
        _import_hook.after_import(self.name, _mark)
        module = importlib.import_module(self.name)
        self.assertEqual(type(module.__loader__).__name__, "SourceFileLoader")
        assert module.__spec__ is not None
        self.assertIs(module.__spec__.loader, module.__loader__)
        self.assertIn("return VALUE", inspect.getsource(module.function))
        self.assertEqual(pathlib.Path(module.__file__ or "").stem, self.name)

    def test_other_modules_are_left_alone(self) -> None:
        _import_hook.after_import("hooked_nobody_imports_this", _mark)
        self.assertFalse(hasattr(importlib.import_module(self.name), "marks"))

    def test_failure_leaves_the_module_and_one_warning(self) -> None:
        def fail(module: ModuleType) -> None:
            raise AttributeError(f"{module.__name__} has no VALUES")

        _import_hook.after_import(self.name, fail)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module = importlib.import_module(self.name)
        self.assertEqual(module.VALUE, 7)
        self.assertEqual([warning.category for warning in caught], [ActivationWarning])
        self.assertIn(
            f"could not extend {self.name}, which stays as it was", str(caught[0].message)
        )


if __name__ == "__main__":
    absltest.main()
