"""Flags and queries of torch._C: the CUDA half of torch/csrc/Module.cpp."""

from __future__ import annotations

from typing import Any

import torch
import torch_cuda._build_info as build
from absl.testing import absltest, parameterized

from tests.intra_file import interpreter

# Not all of it is in torch's stubs.
_C: Any = torch._C


class ModuleTest(parameterized.TestCase):
    def test_flags_say_what_the_build_has(self) -> None:
        self.assertTrue(_C._has_cuda)
        self.assertTrue(torch.backends.cuda.is_built())
        # The simulated device's libcudnn serves nothing, and torch_cuda then withdraws cuDNN (_cudnn.py).
        simulated = torch.cuda.is_available() and "cudasim" in torch.cuda.get_device_name()
        self.assertEqual(_C._has_cudnn, build.CUDNN and not simulated)
        self.assertFalse(_C._has_magma)
        self.assertFalse(_C._has_cusparselt)

    def test_flash_attention_is_there_if_it_was_built(self) -> None:
        flash = build.ATTENTION in ("flash-128", "all")
        self.assertEqual(torch.backends.cuda.is_flash_attention_available(), flash)

    @parameterized.parameters("flash", "mem_efficient", "cudnn")
    def test_attention_query_explains_its_no(self, backend: str) -> None:
        # The explanation is a C++ warning, which goes to the standard error stream. The CPU build's
        # function answers "no" too, but knows no reason.
        code = f"""
            import os, torch
            os.dup2(1, 2)
            ones = torch.ones(1, 1, 2, 8)
            params = torch._C._SDPAParams(ones, ones, ones, None, 0.0, False, False)
            assert not torch._C._can_use_{backend}_attention(params, True)
        """
        self.assertIn("Warning:", interpreter.run_python(code))
        self.assertEqual(interpreter.run_python(code, plugin=False), "")

    @parameterized.parameters("flash", "mem_efficient", "cudnn")
    def test_attention_query_keeps_its_signature(self, backend: str) -> None:
        query = getattr(_C, f"_can_use_{backend}_attention")
        with self.assertRaisesRegex(TypeError, "incompatible function arguments"):
            query(1, True)
        self.assertNotIn("Overloaded", query.__doc__)

    def test_batch_norm_reserve_space(self) -> None:
        if build.CUDNN and not torch.cuda.is_available():
            self.skipTest("needs a CUDA device")
        query = _C._get_cudnn_batch_norm_reserve_space_size
        if build.CUDNN and not _C._has_cudnn:
            with self.assertRaisesRegex(RuntimeError, "CUDNN_STATUS_NOT_SUPPORTED"):
                query(torch.ones(1, 2, 3, 3, device="cuda"), True)
        elif build.CUDNN:
            self.assertGreaterEqual(query(torch.ones(1, 2, 3, 3, device="cuda"), True), 0)
        else:
            with self.assertRaisesRegex(RuntimeError, "ATen not compiled with cuDNN support"):
                query(input=torch.ones(1, 2, 3, 3), training=True)


if __name__ == "__main__":
    absltest.main()
