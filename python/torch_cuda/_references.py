"""Makes classes again on real bases, and finds who still holds the ones they replace.

A CPU torch derives `torch.cuda.Stream` and its like from dummy classes. A class cannot get a base
of another memory layout, so each is made again, from the very same functions. Whoever took a
reference to the old class is then found and given the new one.
"""

from __future__ import annotations

import collections
import functools
import gc
import types
from collections.abc import Iterator, Mapping
from typing import Any

from torch_cuda._plan import Plan

# Entries of a class namespace that `type` makes afresh.
_MADE_BY_TYPE = frozenset({"__dict__", "__weakref__"})


class Replacement:
    """An object and what takes its place.

    Not a tuple, list or dict: those hold references that the search below would find.

    Attributes:
      old: the object to replace; kept alive, so that its id stays its own.
      new: what takes its place.
    """

    __slots__ = ("new", "old")

    def __init__(self, old: object, new: Any) -> None:
        self.old = old
        self.new: Any = new


class Replacements:
    """Objects to replace, found by identity."""

    def __init__(self) -> None:
        self._by_id: dict[int, Replacement] = {}

    def add(self, old: object, new: object) -> None:
        """Adds an object and what takes its place; a no-op where both are the same."""
        if old is not new:
            self._by_id[id(old)] = Replacement(old, new)

    def get(self, value: object) -> Replacement | None:
        """The replacement of `value`, or None where it stays."""
        return self._by_id.get(id(value))

    def __iter__(self) -> Iterator[Replacement]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)


def remake(old: type, bases: tuple[type, ...]) -> type:
    """Makes a class again with other bases.

    The functions are shared with the old class. Those that use `super()` or `__class__` keep
    referring to the old one until the cell of their closure is replaced, which `plan_references`
    does.

    Args:
      old: the class.
      bases: the bases of the new one.

    Returns:
      A class of the same name, module and contents.
    """
    slots = vars(old).get("__slots__", ())
    skipped = _MADE_BY_TYPE.union((slots,) if isinstance(slots, str) else slots)
    namespace = {name: value for name, value in vars(old).items() if name not in skipped}
    namespace["__qualname__"] = old.__qualname__
    return types.new_class(old.__name__, bases, {"metaclass": type(old)}, _filled_with(namespace))


def _filled_with(namespace: Mapping[str, Any]) -> Any:
    return lambda target: target.update(namespace)


def remake_subclasses(base: type, replacements: Replacements) -> None:
    """Makes every class derived from `base` again, bases before the classes derived from them.

    Args:
      base: a class that is in `replacements`.
      replacements: gets one entry more for each class made.
    """
    for derived in type.__subclasses__(base):
        bases = tuple(
            base_ if (found := replacements.get(base_)) is None else found.new
            for base_ in derived.__bases__
        )
        # A class with two of our bases comes up twice; the second time it has both.
        replacements.add(derived, remake(derived, bases))
        remake_subclasses(derived, replacements)


def plan_references(replacements: Replacements, plan: Plan) -> None:
    """Plans the replacement wherever an object is held in a place that can be assigned to.

    These are namespaces of modules, classes and instances, dicts (keys as well as values: tables go
    by classes), lists, sets, closures, static methods, `functools.partial` objects, and tuples that
    are default arguments or annotations of functions, or held by one of these places.

    One pass over the objects that the garbage collector knows; a second one only where the first
    found a class or a tuple that holds an object.

    Args:
      replacements: what to replace. Its own containers are not touched.
      plan: gets the assignments.
    """
    gc.unfreeze()  # what a program has frozen is not among the referrers
    in_classes: list[Any] = []
    tuples = Replacements()
    for holder in gc.get_referrers(*(replacement.old for replacement in replacements)):
        if type(holder) is tuple:
            if not _is_of_class(holder):
                tuples.add(holder, _replaced(holder, replacements))
        elif (isinstance(holder, dict) and _is_class_namespace(holder)) or isinstance(
            holder, staticmethod | classmethod
        ):
            in_classes.append(holder)
        else:
            _plan_holder(holder, replacements, plan)
    if not in_classes and not tuples:
        return
    owners: dict[int, type] = {}
    for holder in gc.get_referrers(*in_classes, *(replacement.old for replacement in tuples)):
        if isinstance(holder, type):
            owners[id(holder)] = holder
        elif isinstance(holder, dict) and _is_class_namespace(holder):
            # A static method or a tuple was found; its class is one step further.
            for owner in gc.get_referrers(holder):
                if isinstance(owner, type):
                    owners[id(owner)] = owner
        elif holder is not in_classes:
            _plan_holder(holder, tuples, plan)
            if isinstance(holder, types.FunctionType):
                # Annotations are a tuple until somebody asks for them, a dict from then on.
                _plan_dict(holder.__annotations__, replacements, plan)
    for owner in owners.values():
        if replacements.get(owner) is None:
            _plan_class(owner, replacements, tuples, plan)


def _plan_holder(holder: object, replacements: Replacements, plan: Plan) -> None:
    """Plans the replacements in an object that holds one, unless it is part of a class."""
    if isinstance(holder, dict):
        _plan_dict(holder, replacements, plan)
    elif isinstance(holder, list | collections.deque):
        for index, value in enumerate(holder):
            if (found := replacements.get(value)) is not None:
                plan.set_position(holder, index, found.new)
    elif isinstance(holder, set):
        for value in list(holder):
            if (found := replacements.get(value)) is not None:
                plan.set_member(holder, value, found.new)
    elif isinstance(holder, types.CellType):
        if (found := replacements.get(holder.cell_contents)) is not None:
            plan.set_cell(holder, found.new)
    elif isinstance(holder, types.FunctionType):
        if (found := replacements.get(holder.__defaults__)) is not None:
            plan.set_defaults(holder, found.new)
    elif isinstance(holder, functools.partial):
        function, arguments = replacements.get(holder.func), replacements.get(holder.args)
        plan.set_partial(
            holder,
            holder.func if function is None else function.new,
            holder.args if arguments is None else arguments.new,
        )
    elif not isinstance(holder, _NO_INSTANCES):
        _plan_instance(holder, replacements, plan)


def _replaced(holder: tuple[Any, ...], replacements: Replacements) -> tuple[Any, ...]:
    return tuple(
        value if (found := replacements.get(value)) is None else found.new for value in holder
    )


def _is_of_class(holder: tuple[Any, ...]) -> bool:
    """Whether a tuple is the bases of a class, or its order of them."""
    for value in holder:
        if isinstance(value, type) and (
            value.__mro__ is holder
            or any(derived.__bases__ is holder for derived in type.__subclasses__(value))
        ):
            return True
    return False


# Holders without a namespace of their own that would be ours to write to.
_NO_INSTANCES = (
    type,
    tuple,
    frozenset,
    types.FrameType,
    types.GeneratorType,
    types.GetSetDescriptorType,
    types.MethodType,
    Replacement,
)


def _is_class_namespace(namespace: dict[Any, Any]) -> bool:
    # Module namespaces have __name__, those of instances rarely have either.
    return "__module__" in namespace and "__name__" not in namespace


def _plan_dict(holder: dict[Any, Any], replacements: Replacements, plan: Plan) -> None:
    if any(replacements.get(key) is not None for key in list(holder)):
        pairs = [_replaced(pair, replacements) for pair in holder.items()]
        plan.set_items(holder, dict(pairs))
        return
    for key, value in list(holder.items()):
        if (found := replacements.get(value)) is not None:
            plan.set_item(holder, key, found.new)


def _plan_instance(holder: object, replacements: Replacements, plan: Plan) -> None:
    namespace = getattr(holder, "__dict__", None)
    if isinstance(namespace, dict):
        _plan_dict(namespace, replacements, plan)


def _plan_class(owner: type, replacements: Replacements, tuples: Replacements, plan: Plan) -> None:
    """Plans the attributes of a class.

    Writing to its namespace itself would get past the interpreter's cache of class attributes.
    """
    for name, value in list(vars(owner).items()):
        found = replacements.get(value) or tuples.get(value)
        if found is not None:
            plan.set_attribute(owner, name, found.new)
        elif isinstance(value, staticmethod | classmethod):
            found = replacements.get(value.__func__)
            if found is not None:
                wrap: Any = type(value)
                plan.set_attribute(owner, name, wrap(found.new))
