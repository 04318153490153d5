"""A plan is carried out as a whole or not at all."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from absl.testing import absltest

from torch_cuda._plan import Plan


class Owner:
    value: Any = "old"


def closure(value: str) -> Callable[[], str]:
    return lambda: value


def cell_of(function: Callable[[], str]) -> types.CellType:
    assert isinstance(function, types.FunctionType) and function.__closure__
    return function.__closure__[0]


class PlanTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.mapping: dict[str, Any] = {"there": "old"}
        self.list = ["old"]
        self.function = closure("old")
        self.owner: Any = type("Owner", (Owner,), {"value": "old"})
        self.plan = Plan()
        self.plan.set_item(self.mapping, "there", "new")
        self.plan.set_item(self.mapping, "added", "new")
        self.plan.set_position(self.list, 0, "new")
        self.plan.set_cell(cell_of(self.function), "new")
        self.plan.set_attribute(self.owner, "value", "new")
        self.plan.set_attribute(self.owner, "added", "new")
        self.table: dict[str, int] = {"first": 1, "old": 2, "last": 3}
        self.members = {"old", "kept"}
        self.partial = functools.partial(str.split, "old", sep="kept")

        def with_defaults(value: str = "old") -> str:
            return value

        self.with_defaults: Any = with_defaults
        self.plan.set_items(self.table, {"first": 1, "new": 2, "last": 3})
        self.plan.set_member(self.members, "old", "new")
        self.plan.set_partial(self.partial, str.rsplit, ("new",))
        self.plan.set_defaults(self.with_defaults, ("new",))

    def state(self) -> tuple[object, ...]:
        return (
            self.mapping,
            self.list,
            self.function(),
            self.owner.value,
            getattr(self.owner, "added", "none"),
            list(self.table),
            self.members,
            (self.partial.func, self.partial.args, self.partial.keywords),
            self.with_defaults(),
        )

    OLD = (
        {"there": "old"},
        ["old"],
        "old",
        "old",
        "none",
        ["first", "old", "last"],
        {"old", "kept"},
        (str.split, ("old",), {"sep": "kept"}),
        "old",
    )
    NEW = (
        {"there": "new", "added": "new"},
        ["new"],
        "new",
        "new",
        "new",
        ["first", "new", "last"],
        {"new", "kept"},
        (str.rsplit, ("new",), {"sep": "kept"}),
        "new",
    )

    def test_building_a_plan_changes_nothing(self) -> None:
        self.assertEqual(self.state(), self.OLD)

    def test_applying_makes_every_assignment(self) -> None:
        self.plan.apply()
        self.assertEqual(self.state(), self.NEW)

    def test_last_step_sees_every_assignment(self) -> None:
        seen: list[tuple[object, ...]] = []
        self.plan.apply(lambda: seen.append(self.state()))
        self.assertEqual(seen, [self.NEW])

    def test_failure_of_the_last_step_takes_everything_back(self) -> None:
        def fail() -> None:
            raise ValueError("last step")

        with self.assertRaisesRegex(ValueError, "last step"):
            self.plan.apply(fail)
        self.assertEqual(self.state(), self.OLD)

    def test_failure_halfway_takes_back_what_was_done(self) -> None:
        self.plan.set_item(types.MappingProxyType({}), "x", 1)  # type: ignore[arg-type]
        with self.assertRaises((TypeError, AttributeError)):
            self.plan.apply()
        self.assertEqual(self.state(), self.OLD)


if __name__ == "__main__":
    absltest.main()
