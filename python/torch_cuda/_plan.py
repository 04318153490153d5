"""A list of assignments that is carried out as a whole or not at all."""

from __future__ import annotations

import types
from collections.abc import Callable, MutableMapping, MutableSequence
from typing import Any

_MISSING = object()


class Plan:
    """Assignments to namespaces, attributes, lists and closures, to be made later.

    Building a plan changes nothing. `apply` makes the assignments in the order in which they were
    added, and takes them all back if one of them, or the last step, raises.
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
