"""torch.cuda.FloatTensor and its siblings: the CUDA half of torch/csrc/tensor/python_tensor.cpp."""

from __future__ import annotations

from typing import Any

import torch
from absl.testing import absltest

from tests.intra_file import interpreter

# torch makes its tensor types at run time.
_cuda: Any = torch.cuda


class LegacyTensorTypesTest(absltest.TestCase):
    def test_cpu_types_are_as_before(self) -> None:
        self.assertEqual(torch.FloatTensor([1, 2]).tolist(), [1, 2])

    @absltest.skipIf(torch.cuda.is_available(), "this machine has a GPU")
    def test_cuda_types_without_a_gpu(self) -> None:
        for tensor_type in (_cuda.FloatTensor, _cuda.sparse.LongTensor):
            with self.assertRaisesRegex(RuntimeError, interpreter.no_gpu_message()):
                tensor_type(3)

    def test_cuda_type_can_be_the_default(self) -> None:
        printed = interpreter.run_python(
            """
            import torch
            torch.set_default_tensor_type(torch.cuda.DoubleTensor)
            print(torch.Storage is torch.cuda.DoubleStorage, torch.get_default_dtype())
            print(torch.cuda.DoubleTensor.is_cuda, torch._C._get_default_device())
            torch.set_default_tensor_type(torch.FloatTensor)
            print(torch.tensor(1.0).device, torch.get_default_dtype())
            """
        )
        self.assertEqual(printed, "True torch.float64\nTrue cuda\ncpu torch.float32")

    def test_other_objects_are_no_default_type(self) -> None:
        with self.assertRaisesRegex(TypeError, "invalid type object"):
            torch._C._set_default_tensor_type(int)
        with self.assertRaisesRegex(TypeError, "only dense types are supported"):
            torch._C._set_default_tensor_type(_cuda.sparse.FloatTensor)

    @absltest.skipUnless(torch.cuda.is_available(), "needs a CUDA device")
    def test_cuda_types_make_cuda_tensors(self) -> None:
        tensor = _cuda.IntTensor([1, 2])
        self.assertIsInstance(tensor, _cuda.IntTensor)
        self.assertEqual((tensor.device.type, tensor.tolist()), ("cuda", [1, 2]))


if __name__ == "__main__":
    absltest.main()
