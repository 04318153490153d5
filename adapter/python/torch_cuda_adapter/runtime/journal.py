"""What was changed, so that all of it can be put back."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

_ABSENT = object()


class Journal:
    """Changes things, and remembers what they were.

    It is not torch_cuda's `Plan`, which assigns all or nothing, once, and is not undone later: neither wheel needs the
    other, and what is changed here depends on modules that are imported long after the first change.
    """

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """`setattr`, for modules, classes and other objects.

        Args:
            owner: whose attribute; what it only inherits is inherited again afterwards.
            name: of the attribute.
            value: the other value.
        """
        before = vars(owner).get(name, _ABSENT) if hasattr(owner, "__dict__") else _ABSENT
        if before is _ABSENT and not isinstance(owner, type) and hasattr(owner, name):
            before = getattr(owner, name)
        setattr(owner, name, value)
        if before is _ABSENT:
            self._undo.append(lambda: delattr(owner, name))
        else:
            self._undo.append(lambda: setattr(owner, name, before))

    def set_item(self, mapping: MutableMapping[Any, Any], key: Any, value: Any) -> None:
        """`mapping[key] = value`."""
        before = mapping.get(key, _ABSENT)
        mapping[key] = value
        if before is _ABSENT:
            self._undo.append(lambda: mapping.pop(key, None))
        else:
            self._undo.append(lambda: mapping.__setitem__(key, before))

    def on_restore(self, action: Callable[[], object]) -> None:
        """Calls a function when everything is put back."""
        self._undo.append(action)

    def restore(self) -> None:
        """Puts everything back, the last change first; what fails is raised when the others are done."""
        failed: list[Exception] = []
        while self._undo:
            try:
                self._undo.pop()()
            except Exception as error:  # noqa: BLE001, raised below
                failed.append(error)
        if failed:
            raise failed[0]
