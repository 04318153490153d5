"""A completed library exports what the real one does, and says so where it has nothing to offer."""

from __future__ import annotations

import ctypes
import pathlib
import subprocess
import sys

from absl.testing import absltest

from runtime.dropin import stubs

REAL = """
int fooCreate(void) { return 0; }
int fooRun(int x) { return x; }
const char* fooGetErrorString(int status) { return status ? "" : "fine"; }
"""
OURS = "int fooCreate(void) { return 0; } int helper(void) { return 1; }"


class StubsTest(absltest.TestCase):
    library: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folder = pathlib.Path(absltest.TEST_TMPDIR.value)
        for name, code in (("real", REAL), ("ours", OURS)):
            (folder / f"{name}.c").write_text(code, encoding="utf-8")
        cls.compile(folder, "-shared", "real.c", "-o", "real.so")
        cls.compile(folder, "-c", "ours.c", "-o", "ours.o")
        status = stubs.main(
            [
                f"--real={folder}/real.so",
                "--soname=libfoo.so.1",
                "--status=7",
                "--status_name=FOO_NOT_SUPPORTED",
                f"--source={folder}/stubs.c",
                f"--version_script={folder}/exports.map",
                f"{folder}/ours.o",
            ]
        )
        assert status == 0
        script = "-Wl,--version-script=exports.map"
        cls.compile(folder, "-shared", "ours.o", "stubs.c", script, "-o", "libfoo.so.1")
        cls.library = folder / "libfoo.so.1"

    @staticmethod
    def compile(folder: pathlib.Path, *arguments: str) -> None:
        subprocess.run(["cc", "-fPIC", "-Wall", "-Werror", *arguments], cwd=folder, check=True)

    def in_a_process(self, code: str) -> subprocess.CompletedProcess[str]:
        program = f"import ctypes; foo = ctypes.CDLL({str(self.library)!r})\n{code}"
        return subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )

    def test_what_is_there_works(self) -> None:
        self.assertEqual(ctypes.CDLL(str(self.library)).fooCreate(), 0)

    def test_what_is_missing_answers_and_names_itself_once(self) -> None:
        done = self.in_a_process("print(foo.fooRun(3), foo.fooRun(4))")
        self.assertEqual(done.stdout.split(), ["7", "7"])
        self.assertEqual(done.stderr.count("fooRun is not supported"), 1)

    def test_functions_that_return_texts_do(self) -> None:
        code = "foo.fooGetErrorString.restype = ctypes.c_char_p; print(foo.fooGetErrorString(7))"
        self.assertIn("FOO_NOT_SUPPORTED", self.in_a_process(code).stdout)

    def test_exactly_the_real_library_s_names_are_exported(self) -> None:
        self.assertEqual(
            stubs.symbols(self.library, "--dynamic"), {"fooCreate", "fooRun", "fooGetErrorString"}
        )

    def test_they_have_a_version_named_like_the_library(self) -> None:
        done = subprocess.run(
            ["nm", "-D", str(self.library)], capture_output=True, text=True, check=True
        )
        self.assertIn("fooRun@@libfoo.so.1", done.stdout)

    def test_they_have_none_where_the_real_ones_have_none(self) -> None:
        folder = self.library.parent
        script = stubs.version_script("", ["fooCreate"])
        (folder / "unversioned.map").write_text(script, encoding="utf-8")
        option = "-Wl,--version-script=unversioned.map"
        self.compile(folder, "-shared", "ours.o", option, "-o", "unversioned.so")
        done = subprocess.run(
            ["nm", "-D", "--defined-only", str(folder / "unversioned.so")],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(done.stdout.split()[1:], ["T", "fooCreate"])

    def test_a_file_that_is_no_library_is_named(self) -> None:
        path = pathlib.Path(self.create_tempfile(content="text").full_path)
        with self.assertRaisesRegex(stubs.StubError, path.name):
            stubs.symbols(path, "--dynamic")


if __name__ == "__main__":
    absltest.main()
