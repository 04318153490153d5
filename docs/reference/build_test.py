"""What the generators warn about, and what they leave alone."""

from __future__ import annotations

import os
import pathlib
import sys
import textwrap

from absl.testing import absltest

from docs.reference import build

_HEADER = """\
/** @file
 * A header. */

/** Functions. */
typedef struct table {{
  /** Does it.
   * @param first one.
   * @param second another. */
  int (*does)(int first, int second);
  {member}
}} table;
"""

_MODULE = '''\
"""A module."""


def does(first: int, second: int) -> int:
    """Does it, as `helps` does.

    Args:
      first: one.
      second: another.
    """
    return helps(first) + second


def helps(first: int) -> int:
    """Helps."""
    return first


def _hidden() -> None:
    pass


{more}
'''


class BuildTest(absltest.TestCase):
    doxygen: pathlib.Path
    doxyfile: pathlib.Path

    def setUp(self) -> None:
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.site = self.folder / "site"
        self.site.mkdir()
        self.addCleanup(os.chdir, pathlib.Path.cwd())
        os.chdir(self.folder)

    def of_header(self, member: str) -> list[str]:
        """The warnings about a header with one more member."""
        header = pathlib.Path("include/table.h")
        header.parent.mkdir()
        header.write_text(_HEADER.format(member=member), encoding="utf-8")
        return build.build_c(self.doxygen, self.doxyfile, [header], self.site)

    def of_module(self, more: str) -> list[str]:
        """The warnings about a package with something more in it."""
        module = pathlib.Path("python/thing/__init__.py")
        module.parent.mkdir(parents=True)
        module.write_text(_MODULE.format(more=textwrap.dedent(more)), encoding="utf-8")
        return build.build_python([module], self.site)

    def test_a_header_that_tells_everything(self) -> None:
        self.assertEmpty(self.of_header("int last; /**< the last one */"))
        page = (self.site / "c" / "structtable.html").read_text(encoding="utf-8")
        self.assertIn("does()", page)
        self.assertIn("the last one", page)

    def test_a_function_without_a_word(self) -> None:
        (warning,) = self.of_header("int (*silent)(int first);")
        self.assertRegex(warning, r"^include/table.h:10: .*silent.* is not documented")

    def test_a_member_without_a_word(self) -> None:
        (warning,) = self.of_header("int silent;")
        self.assertRegex(warning, r"^include/table.h:10: .*silent.* is not documented")

    def test_a_parameter_that_was_forgotten(self) -> None:
        found = self.of_header(
            "/** Does.\n * @param first one. */\n  int (\n    *half)(int first, int second);"
        )
        self.assertRegex("\n".join(found), r"half.* is not documented:\n.*'second'")

    def test_a_parameter_that_is_not_there(self) -> None:
        found = self.of_header("/** Does.\n * @param other one. */\n  int (*half)(int first);")
        self.assertRegex("\n".join(found), "'other'.* is not found")

    def test_a_reference_of_a_header_to_nothing(self) -> None:
        (warning,) = self.of_header("/** As #nothing. */ int last;")
        self.assertRegex(warning, "'nothing' could not be resolved")

    def test_no_header(self) -> None:
        with self.assertRaises(FileNotFoundError):
            build.build_c(self.doxygen, self.doxyfile, [pathlib.Path("none.h")], self.site)

    def test_a_program_that_fails(self) -> None:
        header = pathlib.Path("a.h")
        header.touch()
        with self.assertRaisesRegex(build.GeneratorError, "Doxygen failed"):
            build.build_c(pathlib.Path("/bin/false"), self.doxyfile, [header], self.site)

    def test_a_module_that_tells_everything(self) -> None:
        self.assertEmpty(self.of_module(""))
        page = (self.site / "python" / "thing.html").read_text(encoding="utf-8")
        self.assertIn('href="#helps"', page)
        self.assertNotIn("_hidden", page)

    def test_a_python_function_without_a_word(self) -> None:
        (warning,) = self.of_module("def silent() -> None: ...")
        self.assertRegex(warning, r"^python/thing/__init__.py:\d+: thing.silent has no docstring")

    def test_a_class_and_a_method_without_a_word(self) -> None:
        found = self.of_module(
            """
            class Silent:
                def method(self) -> None: ...
                def _hidden(self) -> None: ...
            """
        )
        self.assertLen(found, 2)
        self.assertRegex(found[0], "thing.Silent has no docstring")
        self.assertRegex(found[1], "thing.Silent.method has no docstring")

    def test_an_inherited_docstring_is_one(self) -> None:
        found = self.of_module(
            '''
            class First:
                """One."""
                def method(self) -> None:
                    """Does it."""

            class Second(First):
                """Another."""
                def method(self) -> None: ...
            '''
        )
        self.assertEmpty(found)

    def test_a_reference_of_a_docstring_to_nothing(self) -> None:
        (warning,) = self.of_module('def more() -> None:\n    """As `nothing`, not ``nothing``."""')
        self.assertRegex(warning, '__init__.py:.*Cannot find link target for "nothing"')

    def test_a_python_parameter_that_is_not_there(self) -> None:
        found = self.of_module(
            '''
            def more(first: int) -> None:
                """Does.

                Args:
                  other: one.
                """
            '''
        )
        self.assertRegex("\n".join(found), '"other" does not exist')


if __name__ == "__main__":
    BuildTest.doxygen, BuildTest.doxyfile = (
        pathlib.Path(argument).resolve() for argument in sys.argv[1:3]
    )
    del sys.argv[1:3]
    absltest.main()
