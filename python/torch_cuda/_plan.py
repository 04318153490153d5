"""A list of assignments that is carried out as a whole or not at all."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, MutableSet
from typing import Any

_MISSING = object()


class Plan:
    """Assignments to namespaces, attributes, containers and closures, to be made later.

    Building a plan changes nothing. `apply` makes the assignments in the order in which they were
    added, and takes them all back if one of them, or the last step, raises.

    It is not the adapter's `Journal`, which changes things one by one while a program runs and
    puts them back when it is asked to: neither wheel needs the other, and a plan is seen whole
    before anything changes.
    """

    def __init__(self) -> None:
        self._steps: list[tuple[Callable[[], None], Callable[[], None]]] = []

    def __len__(self) -> int:
        return len(self._steps)

    def set_item(self, mapping: MutableMapping[str, Any], key: str, value: Any) -> None:
        """Plans `mapping[key] = value`.

        Args:
          mapping: such as the namespace of a module.
          key: may be new.
          value: the new value.
        """
        old = mapping.get(key, _MISSING)

        def undo() -> None:
            if old is _MISSING:
                mapping.pop(key, None)
            else:
                mapping[key] = old

        self._steps.append((lambda: mapping.__setitem__(key, value), undo))

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """Plans `owner.name = value`.

        Args:
          owner: a class or an instance; its attribute is looked up without inheritance.
          name: may be new.
          value: the new value.
        """
        old = vars(owner).get(name, _MISSING)

        def undo() -> None:
            if old is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, old)

        self._steps.append((lambda: setattr(owner, name, value), undo))

    def set_position(self, sequence: MutableSequence[Any], index: int, value: Any) -> None:
        """Plans `sequence[index] = value`.

        Args:
          sequence: such as a list.
          index: of an element that is there.
          value: the new value.
        """
        old = sequence[index]
        self._steps.append(
            (
                lambda: sequence.__setitem__(index, value),
                lambda: sequence.__setitem__(index, old),
            )
        )

    def set_items(self, mapping: MutableMapping[Any, Any], items: Mapping[Any, Any]) -> None:
        """Plans that a mapping has these items and no others, in their order.

        Args:
          mapping: such as a table with classes as keys.
          items: all that it will have.
        """
        old = dict(mapping)

        def assign(contents: Mapping[Any, Any]) -> None:
            mapping.clear()
            mapping.update(contents)

        self._steps.append((lambda: assign(items), lambda: assign(old)))

    def set_member(self, members: MutableSet[Any], old: Any, new: Any) -> None:
        """Plans that a set has one member in place of another.

        Args:
          members: the set.
          old: a member of it.
          new: the other.
        """

        def exchange(gone: Any, come: Any) -> None:
            members.discard(gone)
            members.add(come)

        self._steps.append((lambda: exchange(old, new), lambda: exchange(new, old)))

    def set_defaults(self, function: types.FunctionType, values: tuple[Any, ...]) -> None:
        """Plans other default arguments of a function.

        Args:
          function: that has as many.
          values: the new ones.
        """
        old = function.__defaults__

        def assign(defaults: tuple[Any, ...] | None) -> None:
            function.__defaults__ = defaults

        self._steps.append((lambda: assign(values), lambda: assign(old)))

    def set_partial(
        self,
        partial: functools.partial[Any],
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
    ) -> None:
        """Plans another function, or other positional arguments, of a partial object.

        Args:
          partial: keeps its keywords.
          function: the new one.
          arguments: the new ones.
        """
        rest = (partial.keywords, vars(partial))
        old = (partial.func, partial.args, *rest)
        new = (function, arguments, *rest)
        set_state: Any = partial.__setstate__  # type: ignore[attr-defined]
        self._steps.append((lambda: set_state(new), lambda: set_state(old)))

    def set_cell(self, cell: types.CellType, value: Any) -> None:
        """Plans a new value for a variable of a closure.

        Args:
          cell: not empty.
          value: the new value.
        """
        old = cell.cell_contents

        def assign(contents: Any) -> None:
            cell.cell_contents = contents

        self._steps.append((lambda: assign(value), lambda: assign(old)))

    def apply(self, last: Callable[[], None] = lambda: None) -> None:
        """Makes all assignments, then takes the last step.

        Args:
          last: what cannot be taken back, so that it comes when nothing else can fail.

        Raises:
          Exception: what an assignment or `last` raised; by then every assignment has been undone.
        """
        done: list[Callable[[], None]] = []
        try:
            for step, undo in self._steps:
                step()
                done.append(undo)
            last()
        except BaseException:
            for undo in reversed(done):
                undo()
            raise
