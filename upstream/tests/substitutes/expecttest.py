"""As much of the package expecttest as PyTorch's test files import: literal expectations.

The real one also rewrites the expectations in the source, which nobody wants here.
"""

from __future__ import annotations

import textwrap
import unittest
from typing import Any


class TestCase(unittest.TestCase):
    """A test case that compares with texts written in the test."""

    longMessage = True

    def assertExpectedInline(self, actual: Any, expected: str, skip: int = 0) -> None:
        """Compares a text with an indented literal."""
        self.assertEqual(str(actual), textwrap.dedent(expected))

    def assertExpectedRaisesInline(
        self, error: type[Exception], function: Any, expected: str, *arguments: Any, **options: Any
    ) -> None:
        """Compares the text of an error with an indented literal."""
        with self.assertRaises(error) as caught:
            function(*arguments, **options)
        self.assertExpectedInline(str(caught.exception), expected)


def assert_expected_inline(test: unittest.TestCase, actual: Any, expected: str) -> None:
    """The same without the class."""
    test.assertEqual(str(actual), textwrap.dedent(expected))
