"""Tests of cmake and of the modules it is made of."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from decouple.errors import DecoupleError
from decouple.gaps import Gap, Gaps
from decouple.lists import cmake
from decouple.testing import make_tree

_FILES = {f"lib/{name}": "" for name in ("a.cpp", "b.cpp", "a_test.cpp", "k/a.cu", "k/deep/b.cu")}


class CMakeTest(absltest.TestCase):
    def setUp(self) -> None:
        self.root = pathlib.Path(self.create_tempdir().full_path)

    def _run(self, text: str, **definitions: str) -> cmake.Configuration:
        tree = make_tree(self.root, {**_FILES, "lib/CMakeLists.txt": text})
        lists = {"units": ["lib/a.cpp", "lib/k/a.cu"]}
        return cmake.configure(tree, ["lib/CMakeLists.txt"], definitions, lists)

    def _sources(self, text: str, **definitions: str) -> tuple[str, ...]:
        found = self._run(text + "\nadd_library(lib ${S})\n", **definitions).targets["lib"]
        return tuple(path.removeprefix("lib/") for path in found)

    def _read(self, text: str) -> tuple[tuple[str, ...], tuple[Gap, ...]]:
        """The sources that can be found, and what cannot be read."""
        gaps = Gaps()
        text += "\nadd_library(lib ${S})\n"
        tree = make_tree(self.root, {**_FILES, "lib/CMakeLists.txt": text}, gaps)
        found = cmake.configure(tree, ["lib/CMakeLists.txt"], {}, {"units": ["lib/a.cpp"]})
        sources = found.targets.get("lib", ())
        return tuple(path.removeprefix("lib/") for path in sources), gaps.all()

    def test_a_command_is_lost_and_not_the_file(self) -> None:
        for broken in (
            "list(APPEND S k/a.cu",
            'list(APPEND S "k/a.cu)',
            "nowhere(S k/a.cu)",
            "list(APPEND S ${k)",
            "junk",
            "endif()",
            "append_filelist(none S)",
            'message(FATAL_ERROR "stop")',
            "list(FILTER T INCLUDE REGEX [)",
            "if(A B)\nset(S k/a.cu)\nendif()",
            "break()",
            "math(EXPR S 1/0)",
            "foreach(x RANGE 1 2 0)\nendforeach()",
            "include(CMakeLists.txt)\nset(S a.cpp)",
            "add_subdirectory(gone)",
            "#[[ set(S k/a.cu)",
            "set(S k/a.cu [[)",
        ):
            with self.subTest(broken):
                found, gaps = self._read(f"set(S a.cpp)\n{broken}\nlist(APPEND S b.cpp)\n")
                self.assertEqual(found, ("a.cpp", "b.cpp"))
                self.assertEqual(
                    {(gap.path, gap.line) for gap in gaps}, {("lib/CMakeLists.txt", 2)}
                )

    def test_what_is_made_of_what_is_lost_is_named(self) -> None:
        _, (gap,) = self._read("set(T ${nowhere)\nset(S a.cpp ${T})\n")
        self.assertEqual(gap.affects, ("T", "lib"))

    def test_a_block_that_is_not_closed_ends_where_its_indentation_does(self) -> None:
        text = "if(1)\n  if(0)\n    set(S a.cpp)\nendif()\nlist(APPEND S b.cpp)\n"
        found, (gap,) = self._read(text)
        self.assertEqual(found, ("b.cpp",))
        self.assertEqual((gap.line, gap.affects), (2, ("S", "lib")))

    def test_no_file_takes_the_memory_or_does_not_end(self) -> None:
        for text in (
            "while(1)\nset(a b)\nendwhile()\n",
            "foreach(i RANGE 10000000000)\nendforeach()\n",
            'set(x a)\nforeach(i RANGE 100)\nset(x "${x}${x}")\nendforeach()\n',
            "string(REPEAT aaaa 10000000000 x)\n",
            "function(f)\nf()\nendfunction()\nf()\n",
            "macro(f)\nf()\nendmacro()\nf()\n",
            "math(EXPR x 1<<10000000000)\n",
            "if(" + "(" * 5000 + "A" + ")" * 5000 + ")\nendif()\n",
            "if(1)\n" * 3000 + "endif()\n" * 3000,
            f'string(REGEX MATCH "(a+)+$" x "{"a" * 60}b")\n',
        ):
            with self.subTest(text[:40]):
                found, gaps = self._read(f"{text}set(S a.cpp)\n")
                self.assertEqual(found, ("a.cpp",))
                self.assertNotEmpty(gaps)

    def test_numbers_are_those_of_64_bits(self) -> None:
        for expression, value in (
            ("7 / -2", -3),
            ("-7 % 3", -1),
            ("1 << 62", 1 << 62),
            ("9223372036854775807 + 1", -(1 << 63)),
        ):
            text = f'math(EXPR N "{expression}")\nif(N EQUAL {value})\nset(S a.cpp)\nendif()'
            with self.subTest(expression):
                self.assertEqual(self._sources(text), ("a.cpp",))

    def test_lists_are_set_and_changed(self) -> None:
        cases = {
            "set(S a.cpp b.cpp)": ("a.cpp", "b.cpp"),
            "set(S a.cpp)\nlist(APPEND S b.cpp)": ("a.cpp", "b.cpp"),
            "set(S a.cpp b.cpp)\nlist(REMOVE_ITEM S a.cpp)": ("b.cpp",),
            'set(S a.cpp a_test.cpp)\nlist(FILTER S EXCLUDE REGEX "_test\\\\.cpp$")': ("a.cpp",),
            'set(S "a.cpp;b.cpp")': ("a.cpp", "b.cpp"),
            "set(D ${CMAKE_CURRENT_SOURCE_DIR}/../lib)\nset(S ${D}/a.cpp)": ("a.cpp",),
            "set(N a)\nset(V_a b.cpp)\nset(S ${V_${N}})": ("b.cpp",),
            "set(S a.cpp) # b.cpp\n#[[ set(S b.cpp) ]]": ("a.cpp",),
            "set(S [==[a.cpp]==])": ("a.cpp",),
            "set(S a.cpp)\nset(S b.cpp CACHE STRING x)": ("a.cpp",),
        }
        for text, expected in cases.items():
            with self.subTest(text):
                self.assertEqual(self._sources(text), expected)

    def test_globs_stay_in_a_folder_unless_they_are_recursive(self) -> None:
        self.assertEqual(self._sources('file(GLOB S "k/*.cu")'), ("k/a.cu",))
        self.assertEqual(self._sources('file(GLOB_RECURSE S "k/*.cu")'), ("k/a.cu", "k/deep/b.cu"))
        self.assertEqual(
            self._sources('file(GLOB S "[ab].cpp" "*/a.cu")'), ("a.cpp", "b.cpp", "k/a.cu")
        )

    def test_conditions_are_those_of_cmake(self) -> None:
        true = (
            "USE_CUDA",
            "NOT USE_ROCM",
            "USE_ROCM OR USE_CUDA AND ON",
            "(USE_CUDA AND NOT USE_ROCM)",
            "VERSION VERSION_GREATER_EQUAL 12.0",
            '"${VERSION}" STREQUAL "12.4"',
            'VERSION MATCHES "^12"',
            "DEFINED VERSION AND NOT DEFINED NONE",
            "cpp IN_LIST KINDS",
            "${COUNT} EQUAL 3",
            "EXISTS ${CMAKE_CURRENT_LIST_DIR}/a.cpp",
            "NOT EXISTS ${NONE}",
            "(NOT EXISTS ${NONE}) AND (NOT DEFINED ENV{NONE})",
        )
        given = {
            "USE_CUDA": "ON",
            "USE_ROCM": "OFF",
            "VERSION": "12.4",
            "KINDS": "cu;cpp",
            "COUNT": "3",
        }
        for condition in true:
            with self.subTest(condition):
                text = f"if({condition})\nset(S a.cpp)\nelse()\nset(S b.cpp)\nendif()"
                self.assertEqual(self._sources(text, **given), ("a.cpp",))
                text = f"if(NOT ({condition}))\nset(S a.cpp)\nelseif(1)\nset(S b.cpp)\nendif()"
                self.assertEqual(self._sources(text, **given), ("b.cpp",))

    def test_functions_have_a_scope_and_macros_do_not(self) -> None:
        text = (
            "function(inside out)\nset(S b.cpp)\nset(${out} ${ARGN} PARENT_SCOPE)\nendfunction()\n"
            "macro(here name)\nlist(APPEND S ${name}.cpp)\nendmacro()\n"
            "inside(T a_test.cpp)\nset(S ${T})\nhere(a)\n"
        )
        self.assertEqual(self._sources(text), ("a.cpp", "a_test.cpp"))

    def test_loops_run(self) -> None:
        text = (
            "foreach(x IN LISTS NAMES ITEMS b)\nif(x STREQUAL c)\ncontinue()\nendif()\n"
            "list(APPEND S ${x}.cpp)\nendforeach()\n"
        )
        self.assertEqual(self._sources(text, NAMES="a;c"), ("a.cpp", "b.cpp"))

    def test_lists_know_what_named_a_file(self) -> None:
        text = (
            'append_filelist("units" ALL)\nfile(GLOB base_cpp "*.cpp")\nset(MINE b.cpp)\n'
            "add_library(lib ${ALL} ${base_cpp} ${MINE})\n"
        )
        found = self._run(text)
        self.assertEqual(found.lists["lib/a.cpp"], ("base_cpp", "units"))
        self.assertEqual(found.lists["lib/b.cpp"], ("MINE", "base_cpp"))
        self.assertIn("lib/k/a.cu", found.targets["lib"])

    def test_subdirectories_and_includes_of_the_tree_are_followed(self) -> None:
        tree = make_tree(
            self.root,
            {
                **_FILES,
                "lib/CMakeLists.txt": "include(defs.cmake)\nadd_subdirectory(k)\nadd_subdirectory(../third_party/gone)\n",
                "lib/defs.cmake": "set(NAME kernels)\n",
                "lib/k/CMakeLists.txt": "add_library(${NAME} a.cu)\n",
            },
        )
        found = cmake.configure(tree, ["lib/CMakeLists.txt"], {}, {})
        self.assertEqual(found.targets, {"kernels": ("lib/k/a.cu",)})

    def test_broken_files_are_named_with_their_line(self) -> None:
        cases = {
            "\nif(A)\n": r"^lib/CMakeLists\.txt:2: if\(\) has no endif\(\)",
            "endif()\n": r"^lib/CMakeLists\.txt:1: endif\(\) closes or continues nothing",
            "foreach(x)\nendif()\n": r"^lib/CMakeLists\.txt:2: endif\(\) stands where endforeach",
            "set(a\n": r"^lib/CMakeLists\.txt:1: this command's parenthesis",
            'set(a "b)\n': r"^lib/CMakeLists\.txt:1: a quote or bracket",
            "\nsources\n": r"^lib/CMakeLists\.txt:2: 'sources' is no CMake command",
            "if(A STREQUAL)\nelseif(A B)\nendif()\n": r"^lib/CMakeLists\.txt:\d: the condition",
            'append_filelist("none" S)\n': r"build_variables\.bzl has no list none",
            'message(FATAL_ERROR "stop")\n': r"^lib/CMakeLists\.txt:1: CMake stops here: stop",
            "function(f)\nf()\nendfunction()\nf()\n": r"f\(\) calls itself without end",
        }
        for text, message in cases.items():
            with self.subTest(text), self.assertRaisesRegex(DecoupleError, message):
                self._run(text)

    def test_a_folder_that_is_added_has_to_be_there(self) -> None:
        with self.assertRaisesRegex(DecoupleError, r"^lib/CMakeLists\.txt:1: it adds lib/gone, wh"):
            self._run("add_subdirectory(gone)\n")
        self.assertEmpty(self._run("add_subdirectory(../third_party/gone)\n").targets)

    def test_targets_keep_the_order_of_their_link(self) -> None:
        """What is named twice is linked where it was first; generated files have their places too."""
        text = (
            "set(S b.cpp k/a.cu)\nadd_library(lib ${S} a.cpp b.cpp ${CMAKE_BINARY_DIR}/made.cpp)\n"
        )
        text += "target_sources(lib PRIVATE k/deep/b.cu)\n"
        self.assertEqual(
            self._run(text).order["lib"],
            ("lib/b.cpp", "lib/k/a.cu", "lib/a.cpp", "made.cpp", "lib/k/deep/b.cu"),
        )


if __name__ == "__main__":
    absltest.main()
