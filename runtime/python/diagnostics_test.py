"""Which of the router's files the errors of g++ and clang++ lead to."""

from __future__ import annotations

from absl.testing import absltest
from torch_cuda_runtime import _diagnostics

_GCC = """In file included from router/operators/stock_units/unit_0.cpp:3:
router/operators/copy.cpp: In function 'void f()':
router/operators/copy.cpp:12:5: error: 'g' was not declared in this scope
   12 |     g();
router/operators/copy.cpp:13:5: error: 'h' was not declared in this scope
In file included from /torch/include/ATen/Tensor.h:3,
                 from ./router/aliasing/aliases.h:7,
                 from router/operators/random/twin.cpp:2,
                 from router/operators/stock_units/unit_0.cpp:9:
/torch/include/ATen/Gone.h:1:10: fatal error: Other.h: No such file or directory
compilation terminated.
"""
_CLANG = """In file included from router/operators/stock_units/unit_1.cpp:1:
./router/operators/copy.cpp:3:14: error: no member named 'gone' in namespace 'at'
1 error generated.
"""


class DiagnosticsTest(absltest.TestCase):
    def test_errors_lead_to_files(self) -> None:
        self.assertEqual(
            [(error.source, error.place, error.text) for error in _diagnostics.errors(_GCC)],
            [
                (
                    "router/operators/copy.cpp",
                    "router/operators/copy.cpp:12",
                    "'g' was not declared in this scope",
                ),
                (
                    "router/operators/copy.cpp",
                    "router/operators/copy.cpp:13",
                    "'h' was not declared in this scope",
                ),
                (
                    "router/aliasing/aliases.h",
                    "/torch/include/ATen/Gone.h:1",
                    "Other.h: No such file or directory",
                ),
            ],
        )
        [error] = _diagnostics.by_source(_CLANG).values()
        self.assertEqual(error.source, "router/operators/copy.cpp")
        self.assertEqual(error.text, "no member named 'gone' in namespace 'at'")

    def test_the_first_of_each_file(self) -> None:
        first = _diagnostics.by_source(_GCC)
        self.assertEqual(first["router/operators/copy.cpp"].place.rpartition(":")[2], "12")
        self.assertLen(first, 2)

    def test_no_errors(self) -> None:
        self.assertEmpty(
            _diagnostics.errors("a.cpp:1:2: warning: an error: is near\ncc1plus: killed\n")
        )


if __name__ == "__main__":
    absltest.main()
