"""Circles and full folders are found, and nothing else is taken for one."""

from __future__ import annotations

from pathlib import PurePath

from absl.testing import absltest, parameterized

from tools.lint import structure


def circles(texts: dict[str, str]) -> list[tuple[str, str]]:
    """The circles among files by their paths."""
    found = structure.circles({PurePath(name): text for name, text in texts.items()})
    return [(path.as_posix(), what) for path, what in found]


def include(*names: str) -> str:
    """A C++ file that includes these."""
    return "".join(f'#include "{name}"\n' for name in names)


class FoldersTest(absltest.TestCase):
    def folders(self, *names: str) -> list[str]:
        return [str(path) for path, _ in structure.full_folders(map(PurePath, names))]

    def test_twenty_five_files_are_few_enough(self) -> None:
        self.assertEmpty(self.folders(*(f"a/{i}.cpp" for i in range(25))))

    def test_one_more_is_too_many(self) -> None:
        self.assertEqual(self.folders(*(f"a/{i}.cpp" for i in range(26)), "b/1.cpp"), ["a"])

    def test_tests_and_folders_below_do_not_count(self) -> None:
        few = [f"a/{i}.cpp" for i in range(25)]
        tests = [f"a/{i}_test.{suffix}" for i in range(9) for suffix in ("cpp", "py")]
        self.assertEmpty(self.folders(*few, *tests, "a/conftest.py", "a/b/c.cpp"))


class ReadmesTest(absltest.TestCase):
    def test_each_folder_at_the_top_has_one(self) -> None:
        names = ("a/README.md", "a/b/c.py", "d/e/README.md", ".ci/run", "x.py")
        found = [path.as_posix() for path, _ in structure.undescribed_folders(map(PurePath, names))]
        self.assertEqual(found, ["d"])


class NamesTest(absltest.TestCase):
    FILES = ("a/b/c.h", "a/d/e.h", "a/d/f.cpp", "g.h")

    def names(self, comment: str) -> list[str]:
        texts = {PurePath("a/b/c.h"): f"int x; // {comment}\n"}
        return [what for _, what in structure.misplaced_names(texts, map(PurePath, self.FILES))]

    def test_a_name_counts_from_the_folder_or_one_above(self) -> None:
        self.assertEmpty(self.names("see c.h, b/c.h, d/e.h (a/d/f.cpp), and g.h."))

    def test_a_file_that_is_elsewhere_is_told(self) -> None:
        self.assertEqual(self.names("see e.h"), ["a comment names e.h; is it a/d/e.h?"])
        self.assertEqual(self.names("(old/f.cpp)"), ["a comment names old/f.cpp; is it a/d/f.cpp?"])

    def test_others_files_are_theirs(self) -> None:
        self.assertEmpty(self.names("cuda.h, crt/x.h, torch/csrc/e.h, <e.h>, //a/d:e.h"))


class IncludesTest(parameterized.TestCase):
    def test_a_line_is_no_circle(self) -> None:
        files = {"a/x.h": include("a/y.h"), "a/y.h": include("a/z.h", "vector"), "a/z.h": ""}
        self.assertEmpty(circles(files))

    def test_two_ways_to_one_file_are_no_circle(self) -> None:
        files = {"a/x.h": include("a/y.h", "a/z.h"), "a/y.h": include("a/z.h"), "a/z.h": ""}
        self.assertEmpty(circles(files))

    def test_a_circle_is_told_with_the_way_round(self) -> None:
        files = {
            "a/w.h": include("a/x.h"),
            "a/x.h": include("a/y.h"),
            "a/y.h": include("a/z.h"),
            "a/z.h": include("a/x.h"),
        }
        way = "a circle (includes): a/x.h -> a/y.h -> a/z.h -> a/x.h"
        self.assertEqual(circles(files), [("a/x.h", way)])

    def test_each_circle_is_told_once(self) -> None:
        files = {
            "a/p.h": include("a/q.h", "a/x.h"),
            "a/q.h": include("a/p.h"),
            "a/x.h": include("a/y.h"),
            "a/y.h": include("a/x.h"),
        }
        self.assertEqual([path for path, _ in circles(files)], ["a/p.h", "a/x.h"])

    def test_a_file_that_includes_itself(self) -> None:
        self.assertLen(circles({"a/x.h": include("a/x.h")}), 1)

    def test_a_path_beside_the_file_counts(self) -> None:
        self.assertLen(circles({"a/x.h": include("y.h"), "a/y.h": include("x.h")}), 1)

    def test_other_ways_to_write_it(self) -> None:
        self.assertLen(circles({"a/x.h": '#  include "a/y.h"', "a/y.h": include("a/x.h")}), 1)

    def test_what_is_in_a_comment_is_not_included(self) -> None:
        self.assertEmpty(circles({"a/x.h": '// #include "a/y.h"\n', "a/y.h": include("a/x.h")}))

    def test_folders_that_include_each_other(self) -> None:
        files = {
            "a/x.h": "",
            "a/x.cpp": include("b/y.h"),
            "b/y.h": include("a/x.h"),
        }
        way = "a circle (folders whose files include each other): a -> b -> a"
        self.assertEqual(circles(files), [("a", way)])

    def test_a_test_may_use_what_is_above(self) -> None:
        files = {"a/x.h": "", "a/x_test.cpp": include("b/y.h"), "b/y.h": include("a/x.h")}
        self.assertEmpty(circles(files))


class ImportsTest(parameterized.TestCase):
    @parameterized.parameters(
        "import a.y",
        "from a import y",
        "from a.y import f",
        "def f():\n    from a import y",
        "def f():\n    import a.y",
        "if TYPE_CHECKING:\n    from a.y import T",
    )
    def test_every_kind_of_import_counts(self, text: str) -> None:
        files = {"a/x.py": text, "a/y.py": "import a.x"}
        self.assertEqual(
            circles(files), [("a/x.py", "a circle (imports): a/x.py -> a/y.py -> a/x.py")]
        )

    @parameterized.parameters("from . import y", "from .y import f", "from ..a import y")
    def test_relative_imports_count(self, text: str) -> None:
        package = {"top/__init__.py": "", "top/a/__init__.py": ""}
        files = {"top/a/x.py": text, "top/a/y.py": "from top.a import x"}
        self.assertLen(circles(package | files), 1)

    def test_a_package_is_known_by_its_name_below_other_folders(self) -> None:
        files = {
            "python/p/__init__.py": "",
            "python/p/x.py": "from p import y",
            "python/p/y.py": "from p.x import f",
        }
        self.assertLen(circles(files), 1)

    def test_a_package_may_import_its_modules(self) -> None:
        files = {"p/__init__.py": "from p import x\nfrom p.x import f", "p/x.py": ""}
        self.assertEmpty(circles(files))

    def test_a_module_may_not_import_what_its_package_defines(self) -> None:
        files = {"p/__init__.py": "from p import x\ndef f(): ...", "p/x.py": "from p import f"}
        self.assertLen(circles(files), 1)

    def test_a_module_may_import_its_neighbours(self) -> None:
        files = {"p/__init__.py": "from p import x", "p/x.py": "from p import y", "p/y.py": ""}
        self.assertEmpty(circles(files))

    def test_others_modules_and_broken_files_are_left_alone(self) -> None:
        self.assertEmpty(circles({"a/x.py": "import os, a.nothing", "a/y.py": "import ("}))


if __name__ == "__main__":
    absltest.main()
