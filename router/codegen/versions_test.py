"""For which versions of PyTorch an entry is."""

from __future__ import annotations

from absl.testing import absltest, parameterized

from router.codegen import versions


class VersionsTest(parameterized.TestCase):
    @parameterized.parameters(
        (">=2.12", "2.9", False),
        (">=2.12", "2.12", True),
        (">=2.9", "2.12", True),  # no strings: "2.12" sorts before "2.9"
        ("<2.12", "2.9", True),
        ("<2.12", "2.12", False),
        (">=2.9,<2.15", "2.12", True),
        (">=2.9, <2.15", "2.15", False),
        ("==2.9", "2.9", True),
        ("!=2.9", "2.9", False),
        (">2.9,!=2.12", "2.12", False),
        ("<=2.15", "3.0", False),
    )
    def test_clauses_all_have_to_hold(self, clauses: str, version: str, holds: bool) -> None:
        self.assertEqual(versions.matches(clauses, version), holds)

    @parameterized.parameters("", "2.12", "~=2.12", ">=2", ">=2.12,", ">=2.12.1", "new")
    def test_what_is_no_comparison_is_said(self, clauses: str) -> None:
        with self.assertRaisesRegex(ValueError, "needed comparisons"):
            versions.matches(clauses, "2.15")

    def test_a_patch_belongs_to_its_minor(self) -> None:
        self.assertEqual(versions.minor("2.15.1"), (2, 15))
        with self.assertRaises(ValueError):
            versions.minor("2")


if __name__ == "__main__":
    absltest.main()
