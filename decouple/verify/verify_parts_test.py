"""What is reported where packages or the document do not cover a tree."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from decouple import testing
from decouple.errors import DecoupleError
from decouple.model import Inventory, Unit
from decouple.rules.load import load
from decouple.verify import ownership, sites

_ANSWER = """<?xml version="1.1" encoding="UTF-8" standalone="no"?>
<query version="2">
  <rule class="cc_library" name="//c10_cuda:c10_cuda">
    <list name="srcs"><label value="@pytorch//:c10/cuda/Stream.cpp"/></list>
  </rule>
  <rule class="cc_library" name="//framework:fast">
    <list name="srcs">
      <label value="@pytorch//:torch/csrc/fast.cpp"/>
      <label value="//framework:own.cpp"/>
    </list>
  </rule>
</query>
"""
_PLANNED = {"c10/cuda/Stream.cpp": "c10_cuda", "torch/csrc/fast.cpp": "framework"}


def _inventory(*units: str) -> Inventory:
    return Inventory(
        "2.6.0", "cuda", "tree", 1, (), tuple(Unit(path, ()) for path in units), {}, {}
    )


class OwnershipTest(absltest.TestCase):
    def _problems(self, answer: str, *units: str) -> list[str]:
        owned = ownership.owners(answer, "answer")
        return ownership.problems(_inventory(*units), owned, _PLANNED, frozenset())

    def test_units_with_one_package_each_are_no_problem(self) -> None:
        self.assertEmpty(self._problems(_ANSWER, *_PLANNED))

    def test_a_unit_without_a_package_is_named_with_where_it_belongs(self) -> None:
        answer = _ANSWER.replace("c10/cuda/Stream.cpp", "c10/cuda/Other.h")
        (problem,) = self._problems(answer, *_PLANNED)
        self.assertIn("c10/cuda/Stream.cpp: no package compiles it", problem)
        self.assertIn("//c10_cuda", problem)

    def test_a_unit_with_two_packages_is_named_with_both(self) -> None:
        answer = _ANSWER.replace("//framework:own.cpp", "@pytorch//:c10/cuda/Stream.cpp")
        (problem,) = self._problems(answer, *_PLANNED)
        self.assertIn("several packages compile it: //c10_cuda, //framework", problem)

    def test_a_unit_in_another_package_than_the_plan_says_is_named(self) -> None:
        answer = _ANSWER.replace("//framework:fast", "//distributed:fast")
        (problem,) = self._problems(answer, *_PLANNED)
        self.assertIn("//distributed compiles it, and the plan says //framework", problem)

    def test_a_file_that_upstream_does_not_build_for_the_device_is_named(self) -> None:
        (problem,) = self._problems(_ANSWER, "c10/cuda/Stream.cpp")
        self.assertIn("torch/csrc/fast.cpp: //framework compiles it", problem)

    def test_labels_of_bazel_modules_are_understood(self) -> None:
        answer = _ANSWER.replace("@pytorch//", "@@_main~extension~pytorch//")
        self.assertEmpty(self._problems(answer, *_PLANNED))

    def test_what_is_no_answer_is_refused(self) -> None:
        with self.assertRaisesRegex(DecoupleError, "answer:1: is not the XML of bazel query"):
            ownership.owners("nothing", "answer")
        with self.assertRaisesRegex(DecoupleError, "answer:1: .* it is <page>, not <query>"):
            ownership.owners("<page/>", "answer")

    def test_a_folder_without_bazelw_is_refused(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        with self.assertRaisesRegex(DecoupleError, "has no bazelw"):
            ownership.query(folder, ["c10_cuda"])


class SitesTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.create_tempdir().full_path)
        self.tree = testing.make_tree(folder / "tree")

    def _problems(self, document: str) -> list[str]:
        rows = sites.listed(document, self.tree)
        return sites.problems(sites.guards(self.tree, load("cuda"), rows), rows, self.tree)

    def test_a_document_with_all_guards_is_no_problem(self) -> None:
        self.assertEmpty(self._problems("| file | guards |\n|---|---|\n| `engine.cpp` | 1, 5 |\n"))

    def test_a_guard_without_a_row_is_named(self) -> None:
        (problem,) = self._problems("| `engine.cpp` | 1 |\n")
        self.assertEqual(
            problem,
            "torch/csrc/engine.cpp: the guards at 5 have no row in docs/coverage/intra-file.md",
        )

    def test_a_row_of_a_line_without_a_guard_is_named(self) -> None:
        (problem,) = self._problems("| `engine.cpp` | 1, 5, 7 |\n")
        self.assertIn("lists 7, where no guard is", problem)

    def test_a_row_of_a_file_that_is_gone_is_named(self) -> None:
        (problem,) = self._problems("| `engine.cpp` | 1, 5 |\n| `old.cpp` | 3 |\n")
        self.assertIn(
            "old.cpp: is listed in docs/coverage/intra-file.md and not in the tree", problem
        )


if __name__ == "__main__":
    absltest.main()
