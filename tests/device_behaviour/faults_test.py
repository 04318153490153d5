"""Faults in kernels surface as CUDA's errors, stay, and do not take the process with them."""

from __future__ import annotations

import unittest

from absl.testing import absltest

from tests.device_behaviour import programs

# Reports what each step raises, and that the process is well: a fault stays on the device.
PRELUDE = """
import torch

def attempt(name, step):
    try:
        step()
        print(name, "passed")
    except RuntimeError as error:
        print(name, type(error).__name__, str(error).splitlines()[0])

class Alias:
    '''Device memory as an array of float32, whoever owns it.'''

    def __init__(self, address, length):
        self.__cuda_array_interface__ = {
            "data": (address, False), "shape": (length,), "typestr": "<f4", "version": 3,
        }

ones = torch.ones(4, device="cuda")
torch.cuda.synchronize()
"""

EPILOGUE = """
attempt("again", lambda: ones.sum().item())
attempt("synchronize", torch.cuda.synchronize)
attempt("allocate", lambda: torch.ones(1 << 24, device="cuda"))
print("host", torch.ones(3).sum().item())
"""

ILLEGAL = "CUDA error: an illegal memory access was encountered"
ASSERTED = "CUDA error: device-side assert triggered"
# What CUDA's errors end with in a stock build.
_ASYNCHRONOUS = (
    "CUDA kernel errors might be asynchronously reported at some other API call, "
    "so the stacktrace below might be incorrect."
)


def fault(step: str) -> tuple[list[str], str]:
    """What a program prints that does one thing wrong, and its standard error."""
    done = programs.run(PRELUDE + step + EPILOGUE)
    if done.returncode != 0:
        raise AssertionError(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout.splitlines(), done.stderr


class FaultsTest(absltest.TestCase):
    def assert_sticky(self, lines: list[str], message: str) -> None:
        self.assertEqual(lines[0], f"first RuntimeError {message}")
        self.assertEqual(
            lines[1:],
            [
                f"again RuntimeError {message}",
                f"synchronize RuntimeError {message}",
                f"allocate RuntimeError {message}",
                "host 3.0",
            ],
        )

    def test_an_index_out_of_range_is_an_assertion(self) -> None:
        lines, complaints = fault("""
index = torch.tensor([0, 9], device="cuda")
attempt("first", lambda: print(ones[index].sum().item()))
""")
        self.assert_sticky(lines, ASSERTED)
        self.assertRegex(
            complaints,
            r"\.cu:\d+: .*: block: \[0,0,0\], thread: \[1,0,0\] Assertion `.*` failed\.",
        )

    def test_a_class_out_of_range_is_an_assertion(self) -> None:
        lines, complaints = fault("""
scores = torch.zeros(2, 3, device="cuda")
target = torch.tensor([1, 7], device="cuda")
attempt("first", lambda: torch.nn.functional.cross_entropy(scores, target).item())
""")
        self.assert_sticky(lines, ASSERTED)
        self.assertIn("Assertion `", complaints)

    def test_reading_freed_memory_is_an_illegal_access(self) -> None:
        lines, complaints = fault("""
freed = torch.ones(8 << 20, device="cuda")
alias = torch.as_tensor(Alias(freed.data_ptr(), freed.numel()), device="cuda")
assert alias.data_ptr() == freed.data_ptr()
del freed
torch.cuda.empty_cache()
attempt("first", lambda: alias.sum().item())
""")
        self.assert_sticky(lines, ILLEGAL)
        if programs.IS_SIMULATED:
            self.assertRegex(complaints, r"Invalid read of size \d+ bytes at address 0x")
            self.assertRegex(complaints, r"by thread \(\d+,\d+,\d+\) in block \(\d+,\d+,\d+\)")

    @unittest.skipUnless(programs.IS_SIMULATED, "a real device has memory behind most allocations")
    def test_writing_behind_an_allocation_is_an_illegal_access(self) -> None:
        lines, complaints = fault("""
length = 8 << 20
whole = torch.zeros(length, device="cuda")
alias = torch.as_tensor(Alias(whole.data_ptr(), length + 1), device="cuda")

def write():
    alias.fill_(1)
    torch.cuda.synchronize()

attempt("first", write)
""")
        self.assert_sticky(lines, ILLEGAL)
        self.assertRegex(complaints, r"Invalid write of size \d+ bytes at address 0x")
        self.assertRegex(complaints, r"behind the end of allocation \d+ of 33554432 bytes")

    @unittest.skipUnless(programs.IS_SIMULATED, "a real device has memory behind most allocations")
    def test_a_product_of_memory_that_is_not_there_is_an_error(self) -> None:
        lines, complaints = fault("""
length = 8 << 20
whole = torch.zeros(length, device="cuda")
alias = torch.as_tensor(Alias(whole.data_ptr(), 2 * length), device="cuda").view(4096, 4096)
attempt("first", lambda: torch.mm(alias, alias).sum().item())
""")
        self.assertStartsWith(lines[0], "first RuntimeError CUDA error")
        self.assertRegex(complaints, r"gemm.*: illegal memory access: 67108864 bytes at 0x")
        self.assertIn("host 3.0", lines)

    def test_errors_have_the_words_of_a_stock_build(self) -> None:
        """All of them: programs and people look for what is known."""
        text = programs.output("""
import torch
index = torch.tensor([9], device="cuda")
try:
    torch.ones(4, device="cuda")[index].sum().item()
except RuntimeError as error:
    print(error)
""")
        self.assertEqual(
            text.strip().splitlines(),
            [
                ASSERTED,
                _ASYNCHRONOUS,
                "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
                "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
            ],
        )


if __name__ == "__main__":
    absltest.main()
