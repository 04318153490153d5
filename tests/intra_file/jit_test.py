"""TorchScript's CUDA halves: NNC's code generator and the frozen conv-add-relu pass."""

from __future__ import annotations

from typing import Any

import torch
from absl.testing import absltest

from tests.intra_file import interpreter

# Not in torch's stubs.
_C: Any = torch._C


def _doubling(codegen: str) -> Any:
    """Compiles `c[i] = a[i] + a[i]` for four floats."""
    te = _C._te
    size = [te.ExprHandle.int(4)]
    a = te.BufHandle("a", size, torch.float32)
    c = te.Compute("c", size, lambda i: a.load([i]) + a.load([i]))
    nest = te.LoopNest([c])
    if codegen == "cuda":
        nest.get_loops_for(c)[0].set_gpu_block_index(0)
    nest.prepare_for_codegen()
    return te.construct_codegen(codegen, nest.root_stmt(), [a, c])


class CodeGeneratorTest(absltest.TestCase):
    """torch/csrc/jit/tensorexpr/tensorexpr_init.cpp."""

    def test_interpreter_is_built_as_before(self) -> None:
        a, c = torch.arange(4.0), torch.empty(4)
        _doubling("ir_eval").call([a, c])
        self.assertEqual(c.tolist(), [0, 2, 4, 6])

    def test_unknown_generator_is_refused_as_before(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "expects 'llvm', 'cuda', or 'ir_eval'"):
            _doubling("nonsense")

    @absltest.skipIf(torch.cuda.is_available(), "this machine has a GPU")
    def test_cuda_generator_without_a_gpu(self) -> None:
        with self.assertRaisesRegex(RuntimeError, interpreter.NO_DEVICE_ERROR):
            _doubling("cuda")

    @absltest.skipUnless(torch.cuda.is_available(), "needs a CUDA device")
    def test_cuda_generator_makes_a_kernel(self) -> None:
        a, c = torch.arange(4.0, device="cuda"), torch.empty(4, device="cuda")
        kernel = _doubling("cuda")
        kernel.call([a, c])
        self.assertEqual(c.tolist(), [0, 2, 4, 6])
        self.assertIn("blockIdx.x", kernel.get_code_text())


class FrozenConvAddReluTest(absltest.TestCase):
    """torch/csrc/jit/passes/frozen_conv_add_relu_fusion.cpp."""

    def test_pass_has_its_implementation(self) -> None:
        # The pass calls a std::function that is empty in a CPU build; the third word of
        # libstdc++'s is null if it is.
        code = """
            import ctypes, torch
            maps = open("/proc/self/maps").read().split()
            libtorch_cpu = next(word for word in maps if "/libtorch_cpu.so" in word)
            implementation = getattr(
                ctypes.CDLL(libtorch_cpu), "_ZN5torch3jit28getFuseFrozenConvAddReluImplEv"
            )
            implementation.restype = ctypes.POINTER(ctypes.c_size_t)
            print(implementation()[2] != 0)
        """
        self.assertEqual(interpreter.run_python(code, plugin=False), "False")
        self.assertEqual(interpreter.run_python(code), "True")


if __name__ == "__main__":
    absltest.main()
