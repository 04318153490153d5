"""torch_pu beside a torch without CUDA, where torch_cuda is not installed."""

from __future__ import annotations

import importlib.util
import pathlib
import shutil

from absl.testing import absltest

from tests.device_behaviour import programs


class AloneTest(absltest.TestCase):
    def test_says_what_is_missing(self) -> None:
        done = programs.run("import torch_pu")
        self.assertEqual(done.returncode, 1)
        self.assertIn("which has no CUDA, and no torch_cuda; needed a torch with CUDA", done.stderr)
        self.assertIn(" from PyPI), or torch_cuda 2.6.0", done.stderr)
        self.assertIn("python -m pip install torch_cuda==", done.stderr)

    def test_names_the_versions_that_it_has_libraries_for(self) -> None:
        found = importlib.util.find_spec("torch_pu")
        assert found is not None and found.origin is not None
        folder = pathlib.Path(self.create_tempdir().full_path)
        package = folder / "torch_pu"
        shutil.copytree(
            pathlib.Path(found.origin).parent, package, ignore=shutil.ignore_patterns("lib")
        )
        (package / "lib").mkdir()
        for minor in ("2.12", "2.15", "2.9"):
            # None is loaded: this torch has no CUDA.
            (package / "lib" / f"libtorch_pu-{minor}.so").touch()
        done = programs.run(f"import sys; sys.path.insert(0, {str(folder)!r}); import torch_pu")
        self.assertIn("(2.9, 2.12, 2.15 from PyPI), or torch_cuda 2.6.0", done.stderr)
        self.assertIn('--force-reinstall "torch==2.15.*"', done.stderr)

    def test_torch_is_as_it_was(self) -> None:
        self.assertEqual(
            programs.output("import torch; print(hasattr(torch, 'pu'), torch.ones(1).item())"),
            "False 1.0",
        )


if __name__ == "__main__":
    absltest.main()
