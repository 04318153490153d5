"""Tests of conditions."""

from __future__ import annotations

from absl.testing import absltest

from decouple.cpp import conditions
from decouple.errors import DecoupleError

_MACROS = conditions.Macros(frozenset({"USE_CUDA", "USE_CUDNN"}), frozenset({"AT_CUDNN_ENABLED"}))


class ConditionsTest(absltest.TestCase):
    def test_what_is_left_without_the_device(self) -> None:
        cases: dict[str, str | bool] = {
            "defined(USE_CUDA)": False,
            "!defined USE_CUDA": True,
            "USE_CUDA": False,
            "USE_CUDA == 0": True,
            "USE_CUDA + 2 > 1 * 1": True,
            "AT_CUDNN_ENABLED()": False,
            "defined(USE_CUDA) || defined(USE_ROCM)": "defined(USE_ROCM)",
            "defined(A) && !defined(USE_CUDA) && B > 3": "defined(A) && B > 3",
            "defined(A) && (defined(USE_CUDA) || B)": "defined(A) && (B)",
            "defined(USE_CUDA) && A || B": "B",
            "!(defined(USE_CUDA) || A)": "!(A)",
            "not defined(USE_XPU) and not defined(USE_CUDA)": "not defined(USE_XPU)",
            "__has_include(<cuda.h>) && !USE_CUDA": "__has_include(<cuda.h>)",
            "A || !USE_CUDA": True,
            "A ? USE_CUDA : B": "A ? USE_CUDA : B",
        }
        for text, expected in cases.items():
            with self.subTest(text):
                self.assertEqual(conditions.parse(text).simplified(_MACROS), expected)

    def test_truth_with_the_device(self) -> None:
        cases = {
            "defined(USE_CUDA)": True,
            "!USE_CUDA": False,
            "defined(USE_CUDA) && A": None,
            "USE_CUDA > 3": None,
            "defined(USE_CUDA) || A": True,
        }
        for text, expected in cases.items():
            with self.subTest(text):
                self.assertEqual(conditions.parse(text).with_all(_MACROS), expected)

    def test_names_inside_other_names_do_not_count(self) -> None:
        self.assertFalse(conditions.parse("defined(USE_CUDA_X)").depends_on(_MACROS))

    def test_broken_conditions_are_named_with_their_line(self) -> None:
        for text in ("", "defined(", "A &&", "(A", "A B", "&& A"):
            with self.subTest(text), self.assertRaisesRegex(DecoupleError, r"^x\.h:7: the condit"):
                conditions.parse(text, path="x.h", line=7)


if __name__ == "__main__":
    absltest.main()
