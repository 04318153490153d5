"""A mutant's functions answer as they should, but for the one that is chosen; what the tests notice is found out."""

from __future__ import annotations

import os
import pathlib
import subprocess

from absl.testing import absltest

from runtime.coverage.mutants import answers, hooks, measure, objects

HERE = pathlib.Path(__file__).resolve().parent

LIBRARY = """
#include <string.h>
int fooAdd(int a, int b, double c, int* sum) { *sum = a + b + (int)c; return 0; }
int fooMany(int a, int b, int c, int d, int e, int f, int g, int* sum) {
  int first;
  fooAdd(a, b, 0.5, &first);
  *sum = first + c + d + e + f + g;
  return 0;
}
int fooHint(void) { return 0; }
int fooBare(void) { return 0; }
"""
# Looks at all that fooAdd and fooMany answer, at the status of fooHint, and at nothing of fooBare.
TEST = """
int fooAdd(int, int, double, int*);
int fooMany(int, int, int, int, int, int, int, int*);
int fooHint(void);
int fooBare(void);
int main(void) {
  int sum = 0, many = 0;
  if (fooAdd(1, 2, 4.5, &sum) != 0 || sum != 7) return 1;
  if (fooMany(1, 2, 3, 4, 5, 6, 7, &many) != 0 || many != 28) return 1;
  fooBare();
  return fooHint();
}
"""


class MutantsTest(absltest.TestCase):
    program: measure.Program

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folder = pathlib.Path(absltest.TEST_TMPDIR.value, "mutants")
        folder.mkdir()
        for name, code in (("library.c", LIBRARY), ("test.c", TEST)):
            (folder / name).write_text(code, encoding="utf-8")
            subprocess.run(["gcc-13", "-fPIC", "-c", name], cwd=folder, check=True)
        names = "".join(f"    {name};\n" for name in ("fooAdd", "fooMany", "fooHint", "fooBare"))
        (folder / "exports.map").write_text(f"libfoo {{\n  global:\n{names}}};\n")
        status = hooks.main(
            [
                f"--exports={folder}/exports.map",
                f"--source={folder}/hooks.S",
                "--object",
                f"{folder}/test.o",
                f"{folder}/hooked.o",
            ]
        )
        assert status == 0
        ours = [str(HERE / "dispatch.S"), str(HERE / "hooks.cpp")]
        command = ["g++-13", "-std=c++17", f"-I{HERE.parents[2]}", *ours, "hooks.S", "hooked.o"]
        subprocess.run([*command, "library.o", "-o", "test"], cwd=folder, check=True)
        cls.program = measure.Program("//foo:test", folder / "test")

    def test_without_a_mutant_all_is_as_it_was(self) -> None:
        self.assertTrue(self.program.run())

    def test_what_the_test_itself_calls_is_recorded(self) -> None:
        functions = ["fooAdd", "fooBare", "fooHint", "fooMany"]
        self.assertEqual(measure.calls(self.program), {name: [""] for name in functions})

    def test_what_is_noticed_is_what_the_test_looks_at(self) -> None:
        found = measure.measure([self.program], [], jobs=2)
        both = [answers.ERROR, answers.NOTHING]
        expected = {"fooAdd": both, "fooBare": [], "fooHint": [answers.ERROR], "fooMany": both}
        self.assertEqual(
            {name: sorted(tests["//foo:test"]) for name, tests in found.items()}, expected
        )

    def test_a_test_that_fails_by_itself_is_an_error(self) -> None:
        false = measure.Program("//foo:false", pathlib.Path("/bin/false"))
        with self.assertRaisesRegex(measure.MeasureError, "//foo:false fails"):
            measure.calls(false)


class ObjectsTest(absltest.TestCase):
    def test_calls_are_found_in_object_code(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        source = folder / "calls.c"
        source.write_text(
            "int fooCreate(void); int own(void) { return 1; }\n"
            "int main(void) { return fooCreate() + own(); } // fooRun()\n",
            encoding="utf-8",
        )
        made = folder / "calls.o"
        subprocess.run(["gcc-13", "-c", source, "-o", made], check=True)
        self.assertEqual(objects.called([made]), {"fooCreate"})


class FileTest(absltest.TestCase):
    def test_a_function_is_a_line(self) -> None:
        found = {"fooB": {"//a:b": ["nothing", "error"]}, "fooA": {}}
        self.assertEqual(
            answers.render(found), '{\n"fooA": {},\n"fooB": {"//a:b": ["error", "nothing"]}\n}\n'
        )
        self.assertEqual(answers.noticing(found, "fooB", answers.NOTHING), ["//a:b"])
        self.assertEqual(answers.noticing(found, "fooC", answers.NOTHING), [])


if __name__ == "__main__":
    os.environ.pop("COVERAGE_MUTANT", None)
    absltest.main()
