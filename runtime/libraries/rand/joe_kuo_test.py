"""joe_kuo.py takes of a table what Sobol's sequence needs."""

from __future__ import annotations

from absl.testing import absltest

from runtime.libraries.rand import joe_kuo

TABLE = """
// poly[3] has polynomials.
const int64_t poly[3] = {
    1,
    3,  7,
};
const int64_t initsobolstate[3][4] = {
    {1, 1, 1, 1,},
    {1, 0, 0, 0,},
    {1, 3, 0, 0,},
};
"""


class JoeKuoTest(absltest.TestCase):
    def test_as_many_numbers_as_the_degree(self) -> None:
        code = joe_kuo.source(TABLE, 3)
        self.assertIn("kPolynomials[] = {1,3,7};", code)
        self.assertIn("kInitialNumbers[] = {1,1,3};", code)

    def test_fewer_dimensions(self) -> None:
        self.assertIn("kInitialNumbers[] = {1};", joe_kuo.source(TABLE, 2))

    def test_tables_that_are_none(self) -> None:
        for text in (
            "",
            TABLE.replace("poly", "poles"),
            TABLE.replace("{1, 3, 0, 0,},", "{1, 3},"),
        ):
            with self.assertRaises(joe_kuo.TableError):
                joe_kuo.source(text, 3)
        with self.assertRaises(joe_kuo.TableError):
            joe_kuo.source(TABLE, 4)


if __name__ == "__main__":
    absltest.main()
