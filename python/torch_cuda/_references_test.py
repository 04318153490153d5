"""Classes are made again on other bases, and everybody who held the old one gets the new one."""

from __future__ import annotations

import collections
import functools
import gc
import sys
import types
import weakref
from typing import Any, Optional, get_args

import torch  # noqa: F401
from absl.testing import absltest

from torch_cuda._plan import Plan
from torch_cuda._references import Replacements, plan_references, remake, remake_subclasses


def dummy() -> type:
    return type("Base", (), {})


def real() -> type:
    return type("Base", (), {"__slots__": ("handle",), "answer": lambda self: "real"})


class Case:
    """Classes derived from a dummy, as torch.cuda has them."""

    def __init__(self) -> None:
        base = dummy()

        class Stream(base):  # type: ignore[valid-type, misc]
            """What it is."""

            def answer(self) -> str:
                return f"stream, {super().answer()}"

            @property
            def own_class(self) -> type:
                return __class__  # type: ignore[name-defined, no-any-return]

        class External(Stream):
            def answer(self) -> str:
                return f"external {super().answer()}"

        self.base, self.real, self.stream, self.external = base, real(), Stream, External


class RemakeTest(absltest.TestCase):
    def test_new_class_looks_like_the_old_one(self) -> None:
        case = Case()
        new = remake(case.stream, (case.real,))
        self.assertEqual(new.__bases__, (case.real,))
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            self.assertEqual(getattr(new, name), getattr(case.stream, name))

    def test_functions_are_shared(self) -> None:
        case = Case()
        new = remake(case.stream, (case.real,))
        self.assertIs(vars(new)["answer"], vars(case.stream)["answer"])

    def test_instances_have_a_namespace_of_their_own(self) -> None:
        case = Case()
        stream = remake(case.stream, (case.real,))()
        stream.note = "kept"
        self.assertEqual(vars(stream), {"note": "kept"})

    def test_metaclass_is_that_of_the_new_base(self) -> None:
        meta = type("Meta", (type,), {})
        new = remake(Case().stream, (meta("Base", (), {}),))
        self.assertIs(type(new), meta)

    def test_slots_are_made_afresh(self) -> None:
        class Slotted:
            __slots__ = ("handle",)

        new: Any = remake(Slotted, (object,))()
        new.handle = 1
        self.assertEqual(new.handle, 1)


class ReplaceTest(absltest.TestCase):
    def swap(self, case: Case, plan: Plan | None = None) -> Replacements:
        plan = plan or Plan()
        replacements = Replacements()
        replacements.add(case.base, case.real)
        remake_subclasses(case.base, replacements)
        plan_references(replacements, plan)
        plan.apply()
        return replacements

    def test_super_reaches_the_new_base_through_two_levels(self) -> None:
        case = Case()
        external = case.external
        self.swap(case)
        self.assertIsNot(case.external, external)
        self.assertEqual(case.external().answer(), "external stream, real")
        self.assertTrue(issubclass(case.external, case.stream))
        self.assertIs(case.stream().own_class, case.stream)

    def test_namespaces_of_modules_are_updated(self) -> None:
        case = Case()
        module = types.ModuleType("holder")
        vars(module)["Stream"] = old = case.stream
        self.addCleanup(sys.modules.pop, "holder")
        sys.modules["holder"] = module
        self.swap(case)
        self.assertIs(vars(module)["Stream"], case.stream)
        self.assertIsNot(case.stream, old)

    def test_lists_and_dicts_are_updated(self) -> None:
        case = Case()
        held_list, held_dict = [1, case.stream], {"a": 1, "b": case.stream}
        self.swap(case)
        self.assertEqual(held_list, [1, case.stream])
        self.assertEqual(held_dict, {"a": 1, "b": case.stream})

    def test_keys_of_dicts_are_updated_in_their_order(self) -> None:
        case = Case()
        table: dict[Any, Any] = {int: 1, case.stream: case.external, str: 2}
        self.swap(case)
        self.assertEqual(list(table.items()), [(int, 1), (case.stream, case.external), (str, 2)])

    def test_sets_and_queues_are_updated(self) -> None:
        case = Case()
        members, queue = {int, case.stream}, collections.deque([case.stream, 1])
        self.swap(case)
        self.assertEqual(members, {int, case.stream})
        self.assertEqual(list(queue), [case.stream, 1])

    def test_default_arguments_are_updated(self) -> None:
        case = Case()

        def make(kind: type = case.stream, *, other: type = case.external) -> tuple[type, type]:
            return kind, other

        self.swap(case)
        self.assertEqual(make(), (case.stream, case.external))

    def test_annotations_are_updated(self) -> None:
        case = Case()
        namespace = {"Stream": case.stream, "Optional": Optional}
        # Without this module's annotations as text.
        source = "def take(a: Stream, b: Optional[Stream]): pass"
        exec(compile(source, "", "exec", dont_inherit=True), namespace)  # noqa: S102
        self.swap(case)
        take: Any = namespace["take"]
        self.assertIs(take.__annotations__["a"], case.stream)
        self.assertEqual(get_args(take.__annotations__["b"]), (case.stream, type(None)))

    def test_partial_objects_are_updated(self) -> None:
        case = Case()
        made = functools.partial(case.stream)
        given = functools.partial(issubclass, case.external)
        self.swap(case)
        self.assertIsInstance(made(), case.stream)
        self.assertIs(given.args[0], case.external)

    def test_tuples_in_namespaces_are_updated(self) -> None:
        case = Case()

        class Holder:
            kinds: tuple[type, ...] = (case.stream, int)

            def __init__(self, kind: type) -> None:
                self.kinds = (kind,)

        holder, table = Holder(case.external), {"kinds": (case.stream, 1)}
        self.swap(case)
        self.assertEqual(Holder.kinds, (case.stream, int))
        self.assertEqual(holder.kinds, (case.external,))
        self.assertEqual(table, {"kinds": (case.stream, 1)})

    def test_old_classes_are_gone(self) -> None:
        case = Case()
        old = [weakref.ref(kind) for kind in (case.base, case.stream, case.external)]
        table = {case.stream: {case.external}, "kinds": (case.base, case.stream)}
        self.swap(case)
        gc.collect()
        self.assertEqual([kind() for kind in old], [None] * 3)
        del table

    def test_attributes_of_classes_are_updated_past_the_attribute_cache(self) -> None:
        case = Case()

        class Interface:
            Stream = case.stream

        before = Interface.Stream
        self.swap(case)
        self.assertIs(Interface.Stream, case.stream)
        self.assertIsNot(Interface.Stream, before)

    def test_static_methods_are_updated(self) -> None:
        def stub() -> str:
            return "stub"

        class Interface:
            call = staticmethod(stub)

        replacements, plan = Replacements(), Plan()
        replacements.add(stub, lambda: "real")
        plan_references(replacements, plan)
        plan.apply()
        self.assertEqual(Interface.call(), "real")
        self.assertEqual(Interface().call(), "real")

    def test_attributes_of_instances_are_updated(self) -> None:
        class Holder:
            def __init__(self, stream: type) -> None:
                self.stream = stream

        case = Case()
        holder = Holder(case.stream)
        self.swap(case)
        self.assertIs(holder.stream, case.stream)

    def test_closures_are_updated(self) -> None:
        case = Case()

        def hold(stream: type) -> Any:
            return lambda: stream

        held = hold(case.stream)
        self.swap(case)
        self.assertIs(held(), case.stream)

    def test_planning_alone_changes_nothing(self) -> None:
        case = Case()
        old = case.stream
        replacements = Replacements()
        replacements.add(case.base, case.real)
        remake_subclasses(case.base, replacements)
        plan_references(replacements, Plan())
        self.assertIs(case.stream, old)
        self.assertIs(old().own_class, old)


if __name__ == "__main__":
    absltest.main()
