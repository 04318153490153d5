"""What a journal changed is put back: attributes, items, and what was inherited."""

from __future__ import annotations

import os

from absl.testing import absltest

from torch_cuda_adapter.runtime.journal import Journal


class Base:
    value = 1


class Derived(Base):
    pass


class JournalTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.journal = Journal()

    def test_attributes(self) -> None:
        self.journal.set_attribute(Derived, "value", 2)
        self.journal.set_attribute(Derived, "value", 3)
        self.journal.set_attribute(Base, "other", 4)
        self.assertEqual((Base.value, Derived.value), (1, 3))
        self.journal.restore()
        self.assertEqual(Derived.value, 1)
        self.assertNotIn("value", vars(Derived))
        self.assertFalse(hasattr(Base, "other"))

    def test_attributes_of_functions(self) -> None:
        def function(value: int = 1) -> int:
            return value

        self.journal.set_attribute(function, "__defaults__", (2,))
        self.assertEqual(function(), 2)
        self.journal.restore()
        self.assertEqual(function(), 1)

    def test_items(self) -> None:
        items = {"a": 1}
        self.journal.set_item(items, "a", 2)
        self.journal.set_item(items, "b", 3)
        self.journal.set_item(os.environ, "JOURNAL_TEST", "x")
        self.journal.restore()
        self.assertEqual(items, {"a": 1})
        self.assertNotIn("JOURNAL_TEST", os.environ)

    def test_the_last_comes_first_and_each_once(self) -> None:
        order: list[int] = []
        self.journal.on_restore(lambda: order.append(1))
        self.journal.on_restore(lambda: order.append(2))
        self.journal.restore()
        self.journal.restore()
        self.assertEqual(order, [2, 1])

    def test_one_that_fails_stops_no_other(self) -> None:
        self.journal.set_attribute(Derived, "value", 2)
        self.journal.on_restore(lambda: {"a": 1}["none"])
        with self.assertRaises(KeyError):
            self.journal.restore()
        self.assertEqual(Derived.value, 1)


if __name__ == "__main__":
    absltest.main()
