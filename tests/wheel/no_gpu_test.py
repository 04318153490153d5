"""Without a GPU, CUDA calls raise exactly what a stock CUDA build of PyTorch raises.

The expected texts are PyTorch 2.6's. Skipped on a machine that has a GPU.
"""

from __future__ import annotations

import ctypes
import io
import json
import pathlib
import sys
import warnings
from collections.abc import Callable, Mapping

import torch
from absl.testing import absltest, parameterized

REGISTRATIONS = pathlib.Path(sys.argv.pop(1))


def _driver_is_installed() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


NO_GPU = (
    "No CUDA GPUs are available"
    if _driver_is_installed()
    else "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and "
    "installed a driver from http://www.nvidia.com/Download/index.aspx"
)

CALLS: dict[str, Callable[[], object]] = {
    "factory": lambda: torch.zeros(3, device="cuda"),
    "factory_with_index": lambda: torch.empty(3, device="cuda:1"),
    "tensor_cuda": lambda: torch.ones(3).cuda(),
    "tensor_to": lambda: torch.ones(3).to("cuda"),
    "random": lambda: torch.randn(3, device="cuda"),
    "from_data": lambda: torch.tensor([1.0], device="cuda"),
    "module_to": lambda: torch.nn.Linear(2, 2).to("cuda"),
    "init": torch.cuda.init,
    "synchronize": torch.cuda.synchronize,
    "current_device": torch.cuda.current_device,
    "current_stream": torch.cuda.current_stream,
    "device_name": torch.cuda.get_device_name,
    "device_properties": lambda: torch.cuda.get_device_properties(0),
    "memory_info": torch.cuda.mem_get_info,
    "rng_state": torch.cuda.get_rng_state,
}


@absltest.skipIf(torch.cuda.is_available(), "this machine has a GPU")
class NoGpuTest(parameterized.TestCase):
    @parameterized.named_parameters(*((name, call) for name, call in CALLS.items()))
    def test_call_says_there_is_no_gpu(self, call: Callable[[], object]) -> None:
        with self.assertRaises(RuntimeError) as caught:
            call()
        self.assertIs(type(caught.exception), RuntimeError)
        self.assertEqual(str(caught.exception).splitlines()[0], NO_GPU)

    def test_questions_are_answered_without_a_warning(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # PyTorch's own, where NVIDIA's management library is installed but no driver.
            warnings.filterwarnings("ignore", "Can't initialize NVML")
            self.assertFalse(torch.cuda.is_available())
            self.assertEqual(torch.cuda.device_count(), 0)
            self.assertFalse(torch.cuda.is_initialized())
            self.assertEqual(torch.cuda.memory_allocated(), 0)
            self.assertFalse(torch.cuda.is_bf16_supported())
            torch.cuda.manual_seed_all(1)
            torch.cuda.empty_cache()

    def test_loading_a_cuda_checkpoint_says_what_to_do(self) -> None:
        buffer = io.BytesIO()
        torch.save(torch.ones(3), buffer)
        buffer.seek(0)
        with self.assertRaisesRegex(
            RuntimeError,
            r"torch\.cuda\.is_available\(\) is False.*map_location=torch\.device\('cpu'\)",
        ):
            torch.load(buffer, map_location="cuda", weights_only=True)

    def test_errors_leave_cpu_work_intact(self) -> None:
        with self.assertRaises(RuntimeError):
            torch.zeros(3, device="cuda")
        self.assertEqual((torch.ones(3) + 1).sum().item(), 6.0)

    def test_call_after_a_failed_call_fails_the_same_way(self) -> None:
        for _ in range(2):
            with self.assertRaisesRegex(RuntimeError, NO_GPU.split(".", maxsplit=1)[0]):
                torch.cuda.init()


class OutsideTheProfileTest(absltest.TestCase):
    # Operators that make a tensor on a device, so that calling one needs no CUDA tensor.
    CANDIDATES: Mapping[str, Callable[[], object]] = {
        "_cudnn_init_dropout_state": lambda: torch.ops.aten._cudnn_init_dropout_state(
            0.5, True, 1, dtype=torch.uint8, device="cuda"
        ),
        "tril_indices": lambda: torch.ops.aten.tril_indices(3, 3, device="cuda"),
        "triu_indices": lambda: torch.ops.aten.triu_indices(3, 3, device="cuda"),
    }

    def test_operator_is_not_available_for_this_backend(self) -> None:
        registered = json.loads(REGISTRATIONS.read_text(encoding="utf-8"))["CUDA"]
        outside = [name for name in self.CANDIDATES if f"aten::{name}" not in registered]
        if not outside:
            self.skipTest("the profile takes in every candidate")
        for name in outside:
            with self.assertRaises(NotImplementedError) as caught:
                self.CANDIDATES[name]()
            self.assertStartsWith(
                str(caught.exception),
                f"Could not run 'aten::{name}' with arguments from the 'CUDA' backend. This could "
                "be because the operator doesn't exist for this backend, or was omitted during the "
                "selective/custom build process",
            )


if __name__ == "__main__":
    absltest.main()
