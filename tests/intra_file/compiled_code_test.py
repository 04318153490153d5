"""What code made by torch.compile and AOTInductor calls: the CUDA halves of dynamo and inductor."""

from __future__ import annotations

import unittest.mock
from collections.abc import Callable
from typing import Any

import torch
from absl.testing import absltest, parameterized

from tests.intra_file import interpreter

# Not all of it is in torch's stubs.
_C: Any = torch._C
_guards = _C._dynamo.guards


def _error(call: Callable[..., object], *args: object) -> str:
    try:
        call(*args)
    except (RuntimeError, TypeError) as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    raise AssertionError("no error")


class EmptyStridedTest(parameterized.TestCase):
    """torch/csrc/dynamo/guards.cpp."""

    @parameterized.parameters(
        ((1,),),
        (((2,), (1,), 3),),
        (([2], (1,), torch.float32),),
        (((-2,), (1,), torch.float32),),
    )
    def test_wrong_arguments_are_refused_as_on_the_cpu(self, args: tuple[object, ...]) -> None:
        self.assertEqual(
            _error(_guards._empty_strided_cuda, *args), _error(_guards._empty_strided_cpu, *args)
        )

    @absltest.skipIf(torch.cuda.is_available(), "this machine has a GPU")
    def test_cuda_without_a_gpu(self) -> None:
        with self.assertRaisesRegex(RuntimeError, interpreter.no_gpu_message()):
            _guards._empty_strided_cuda((2, 3), (3, 1), torch.float32)

    @absltest.skipUnless(torch.cuda.is_available(), "needs a CUDA device")
    def test_cuda_tensor_has_the_layout_asked_for(self) -> None:
        tensor = _guards._empty_strided_cuda((2, 3), (1, 2), torch.float16)
        self.assertEqual((tuple(tensor.shape), tensor.stride()), ((2, 3), (1, 2)))
        self.assertEqual((tensor.device.type, tensor.dtype), ("cuda", torch.float16))


class AotiRunnerTest(absltest.TestCase):
    """torch/csrc/inductor/aoti_runner/pybind.cpp and aoti_package/pybind.cpp."""

    def test_runner_has_the_methods_of_the_cpu_one(self) -> None:
        def names(runner: type) -> set[str]:
            return {name for name in vars(runner) if not name.startswith("__")}

        aoti = _C._aoti
        self.assertContainsSubset(
            {"run", "update_constant_buffer"}, names(aoti.AOTIModelContainerRunnerCuda)
        )
        self.assertEqual(
            names(aoti.AOTIModelContainerRunnerCuda), names(aoti.AOTIModelContainerRunnerCpu)
        )

    def test_runner_opens_the_model(self) -> None:
        runner = _C._aoti.AOTIModelContainerRunnerCuda
        for more in ((), ("cuda:0",), ("cuda", "/no/such/folder")):
            with self.assertRaisesRegex(RuntimeError, "/no/such/model.so"):
                runner("/no/such/model.so", 1, *more)

    def test_package_loader_finds_a_cuda_runner(self) -> None:
        # The registry is a std::unordered_map; the fourth word of libstdc++'s is its size.
        code = """
            import ctypes, torch
            maps = open("/proc/self/maps").read().split()
            libtorch_cpu = next(word for word in maps if "/libtorch_cpu.so" in word)
            registry = getattr(
                ctypes.CDLL(libtorch_cpu), "_ZN5torch8inductor26getAOTIModelRunnerRegistryB5cxx11Ev"
            )
            registry.restype = ctypes.POINTER(ctypes.c_size_t)
            print(registry()[3])
        """
        without = int(interpreter.run_python(code, plugin=False))
        self.assertEqual(int(interpreter.run_python(code)), without + 1)


class AotiEagerTest(absltest.TestCase):
    """torch/csrc/inductor/aoti_eager/kernel_holder.cpp."""

    def test_kernel_of_a_cuda_operator_is_loaded(self) -> None:
        # Kernels found in the cache are loaded at once. The CPU build makes no runner for them and
        # crashes when one is called.
        found = [{"kernel_path": "/no/such/kernel.so", "meta_info": []}]
        library = torch.library.Library("aten", "IMPL")
        with (
            unittest.mock.patch(
                "torch._inductor.aoti_eager.load_aoti_eager_cache", return_value=found
            ),
            self.assertRaisesRegex(RuntimeError, "/no/such/kernel.so"),
        ):
            library._impl_with_aoti_compile("mul.Tensor", "CUDA")

    def test_cpu_operators_are_compiled_as_before(self) -> None:
        library = torch.library.Library("torch_cuda_intra_file_test", "DEF")
        library.define("twice(Tensor x) -> Tensor")
        library._impl_with_aoti_compile("twice", "CPU")
        self.assertTrue(
            torch._C._dispatch_has_kernel_for_dispatch_key(
                "torch_cuda_intra_file_test::twice", "CPU"
            )
        )


class ResizeStorageBytesTest(parameterized.TestCase):
    """torch/csrc/inductor/resize_storage_bytes.cpp."""

    @parameterized.parameters("CUDA", "QuantizedCUDA", "NestedTensorCUDA")
    def test_cuda_backend_has_a_kernel_of_its_own(self, key: str) -> None:
        self.assertTrue(
            torch._C._dispatch_has_kernel_for_dispatch_key("inductor::resize_storage_bytes_", key)
        )

    def test_cpu_tensor_is_resized_as_before(self) -> None:
        tensor = torch.ones(4)
        torch.ops.inductor.resize_storage_bytes_(tensor, 0)
        self.assertEqual(tensor.untyped_storage().nbytes(), 0)

    @absltest.skipUnless(torch.cuda.is_available(), "needs a CUDA device")
    def test_cuda_tensor_is_resized(self) -> None:
        tensor = torch.ones(4, device="cuda")
        torch.ops.inductor.resize_storage_bytes_(tensor, 64)
        self.assertEqual(tensor.untyped_storage().nbytes(), 64)
        self.assertEqual(tensor.tolist(), [1, 1, 1, 1])


if __name__ == "__main__":
    absltest.main()
