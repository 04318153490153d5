"""No function of cuda_fp16.h and cuda_bf16.h is left out of the programs for them."""

from __future__ import annotations

import re
from pathlib import Path

from absl import flags
from absl.testing import absltest

_PROGRAMS = flags.DEFINE_list("programs", [], "half_functions.cu and half_conversions.cu")
_HEADERS = flags.DEFINE_list("headers", [], "cuda_fp16.h and cuda_bf16.h")

_DECLARATION = re.compile(
    r"__CUDA(?:_HOSTDEVICE)?_(?:FP16|BF16)_DECL__\s+[\w\s]+?\b(\w+)\s*\([^)]*\)\s*;"
)


def declared(header: Path) -> set[str]:
    """The functions that a header declares, without its comments."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", header.read_text(encoding="utf-8"), flags=re.DOTALL)
    return set(_DECLARATION.findall(text))


class HalfFunctionsListTest(absltest.TestCase):
    def test_each_function_is_called(self) -> None:
        program = "".join(Path(path).read_text(encoding="utf-8") for path in _PROGRAMS.value)
        called = set(re.findall(r"\w+", program))
        # "ROUNDED(use, __half2int, ...)" stands for four functions.
        for name in re.findall(r"ROUNDED\(use, (\w+), (\w+)", program):
            called.update(f"{each}_{mode}" for each in name for mode in ("rn", "rz", "rd", "ru"))
        self.assertLen(_HEADERS.value, 2)
        for header in _HEADERS.value:
            functions = declared(Path(header))
            self.assertGreater(len(functions), 150, header)
            self.assertEqual(functions - called, set(), header)


if __name__ == "__main__":
    absltest.main()
