"""What is said about two versions of a tree."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from decouple import scan, testing
from decouple.diff.compare import Difference, checklist, compare
from decouple.gaps import Gaps
from decouple.plan.owners import Owners
from decouple.rules.load import load

RULES = load("cuda")


class CompareTest(absltest.TestCase):
    def _compare(self, changes: dict[str, str | bytes | None]) -> Difference:
        folder = pathlib.Path(self.create_tempdir().full_path)
        old = testing.make_tree(folder / "old")
        new = testing.make_tree(folder / "new", {"version.txt": "2.7.0a0\n", **changes})
        return compare(scan.scan(old, RULES, jobs=1), scan.scan(new, RULES, jobs=1))

    def test_trees_that_do_not_differ_have_nothing_to_do(self) -> None:
        text = checklist(self._compare({}))
        self.assertIn("From PyTorch 2.6.0 to 2.7.0", text)
        self.assertIn("Nothing to do", text)

    def test_a_new_unit_is_named_with_its_package(self) -> None:
        difference = self._compare(
            {
                "c10/cuda/CMakeLists.txt": "add_library(c10_cuda Stream.cpp Event.cpp)\n",
                "c10/cuda/Event.cpp": "int event;\n",
            }
        )
        self.assertEqual(difference.units.added, ("c10/cuda/Event.cpp",))
        entry = "- [ ] `c10/cuda/Event.cpp`: compile it in "
        self.assertIn(entry + "the package that it belongs to", checklist(difference))
        owners = Owners({}, lambda path, lists: "c10_cuda" if "c10_cuda" in lists else "")
        self.assertIn(entry + "`//c10_cuda`", checklist(difference, owners))
        self.assertIn(entry + "no package yet", checklist(difference, Owners({})))

    def test_what_could_not_be_read_is_said_first(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        old = testing.make_tree(folder / "old")
        new = testing.make_tree(folder / "new", {"torch/a.py": "print 'cuda'\n"}, Gaps())
        text = checklist(compare(scan.scan(old, RULES, jobs=1), scan.scan(new, RULES, jobs=1)))
        self.assertIn("## What could not be read of 2.6.0 (1)", text)
        self.assertIn("torch/a.py:1: is not Python", text)

    def test_a_unit_that_moved_is_not_new(self) -> None:
        difference = self._compare(
            {
                "build_variables.bzl": 'core = ["torch/csrc/engine.cpp"]\n'
                'things_cuda = ["torch/csrc/cuda/fast.cpp"]\n',
                "torch/csrc/fast.cpp": None,
                "torch/csrc/cuda/fast.cpp": "int fast() { return 2; }\n",
            }
        )
        self.assertEqual(
            difference.units.moved, (("torch/csrc/fast.cpp", "torch/csrc/cuda/fast.cpp"),)
        )
        self.assertEmpty(difference.units.added)

    def test_guards_are_new_gone_or_moved(self) -> None:
        source = testing.MINIMAL["torch/csrc/engine.cpp"]
        shifted = self._compare({"torch/csrc/engine.cpp": "// one more\n" + source})
        (change,) = shifted.guards
        self.assertEqual((change.added, change.dropped), ((), ()))
        self.assertIn("lines moved (1 to 2", checklist(shifted))
        more = self._compare(
            {"torch/csrc/engine.cpp": source + "#if defined(USE_CUDA)\nint more;\n#endif\n"}
        )
        self.assertIn("`torch/csrc/engine.cpp:11`: new", checklist(more))
        gone = self._compare({"torch/csrc/engine.cpp": "int run() {\n  return 0;\n}\n"})
        self.assertIn("is gone; take its row out", checklist(gone))


if __name__ == "__main__":
    absltest.main()
