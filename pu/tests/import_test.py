"""When torch_pu is imported, and what it meets."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re

from absl.testing import absltest

from tests.device_behaviour import programs

ADD = "print((torch.ones(2, device='pu') + 1).tolist(), (torch.ones(2, device='cuda') + 1).tolist())\n"
SUM = "[2.0, 2.0] [2.0, 2.0]"
# Else CUDA is of the torch itself, from PyPI.
HAS_TORCH_CUDA = importlib.util.find_spec("torch_cuda") is not None


class ImportTest(absltest.TestCase):
    def test_before_cuda_is_used(self) -> None:
        self.assertEqual(programs.output("import torch, torch_pu\n" + ADD), SUM)

    def test_before_torch(self) -> None:
        self.assertEqual(programs.output("import torch_pu, torch\n" + ADD), SUM)

    def test_after_cuda_was_used(self) -> None:
        self.assertEqual(
            programs.output(
                "import torch; torch.ones(2, device='cuda') + 1\nimport torch_pu\n" + ADD
            ),
            SUM,
        )

    def test_twice(self) -> None:
        self.assertEqual(
            programs.output(
                "import importlib, torch, torch_pu; importlib.reload(torch_pu)\n" + ADD
            ),
            SUM,
        )

    def test_nothing_without_it(self) -> None:
        self.assertEqual(
            programs.output(
                "import torch; print(hasattr(torch, 'pu'), torch.accelerator.current_accelerator())"
            ),
            "False cuda",
        )

    def test_importing_it_uses_no_device(self) -> None:
        self.assertEqual(
            programs.output("import torch, torch_pu; print(torch.cuda.is_initialized())"), "False"
        )

    def test_announced_by_the_environment(self) -> None:
        done = programs.run(
            "import torch, torch_pu; torch.cuda.is_available()",
            TORCH_PU_ANNOUNCE="1",
            PYTHONWARNINGS="always::DeprecationWarning",
        )
        self.assertIn("torch.pu.is_available", done.stderr)

    @absltest.skipUnless(HAS_TORCH_CUDA, "for torch_cuda")
    def test_cuda_is_off(self) -> None:
        done = programs.run("import torch_pu", TORCH_CUDA_DISABLE="1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("torch_pu needs an active torch_cuda", done.stderr)
        self.assertIn("python -m torch_cuda doctor", done.stderr)

    def test_another_backend_has_the_type(self) -> None:
        done = programs.run(
            "import torch; torch.utils.rename_privateuse1_backend('npu'); import torch_pu"
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("found that it is 'npu'", done.stderr)

    @absltest.skipIf(HAS_TORCH_CUDA, "for a torch from PyPI")
    def test_another_torch(self) -> None:
        done = programs.run("import torch; torch.__version__ = '2.13.1+cu130'; import torch_pu")
        self.assertEqual(done.returncode, 1)
        # A test's wheel is for its own version of torch, one to give away for all.
        minor = re.escape(".".join(importlib.metadata.version("torch").split(".")[:2]))
        self.assertRegex(
            done.stderr,
            rf"found torch 2\.13\.1\+cu130; needed one of ([\d., ]+, )?{minor}(, [\d., ]+)? from PyPI",
        )
        self.assertRegex(done.stderr, r'python -m pip install "torch==2\.\d+\.\*"')

    @absltest.skipUnless(HAS_TORCH_CUDA, "for torch_cuda")
    def test_version(self) -> None:
        self.assertEqual(
            importlib.metadata.version("torch_pu"), importlib.metadata.version("torch_cuda")
        )


if __name__ == "__main__":
    absltest.main()
