"""Which libraries are refused, and what the message says."""

from __future__ import annotations

import contextlib
import io
import pathlib
import subprocess

from absl.testing import absltest

from tools.cc import closed_link

_COMPILER = "gcc-13"


class ClosedLinkTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.lower = self._library("lower", "namespace lower { int answer(int) { return 42; } }")

    def _library(self, name: str, text: str) -> pathlib.Path:
        """Compiles a library, and links it with nothing."""
        source = self.folder / f"{name}.cpp"
        source.write_text(text, encoding="utf-8")
        library = self.folder / f"lib{name}.so"
        command = [_COMPILER, "-shared", "-fPIC", "-o", str(library), str(source)]
        subprocess.run(command, check=True)
        return library

    def _check(self, library: pathlib.Path) -> tuple[int, str]:
        """Runs the tool; returns its exit status and its message."""
        arguments = ["--library", str(library), "--with", str(self.lower), "--compiler", _COMPILER]
        arguments += ["--advice", "Do this.", "--stamp", str(self.folder / "stamp")]
        with contextlib.redirect_stderr(io.StringIO()) as message:
            status = closed_link.main(arguments)
        self.assertEqual((self.folder / "stamp").exists(), status == 0)
        return status, message.getvalue()

    def test_what_other_libraries_define_is_there(self) -> None:
        library = self._library(
            "closed",
            """
            #include <cmath>
            #include <string>
            namespace lower { int answer(int); }
            extern "C" void* PyModule_Create2(void*, int);
            extern "C" int maybe() __attribute__((weak));
            thread_local int kept;
            std::string text(double x) {
              PyModule_Create2(nullptr, ++kept);
              return std::to_string(std::tgamma(x) + lower::answer(maybe ? maybe() : 0));
            }
            """,
        )
        self.assertEqual(self._check(library), (0, ""))

    def test_an_archive_among_the_libraries_has_no_say(self) -> None:
        # As libcudadevrt.a, which the real rules link beside the runtime.
        member = self.folder / "member.o"
        subprocess.run(
            [_COMPILER, "-c", "-fPIC", "-x", "c", "-o", str(member), "-"],
            input="int absent(void) { return 1; }",
            text=True,
            check=True,
        )
        archive = self.folder / "libstatic.a"
        subprocess.run(["ar", "rc", str(archive), str(member)], check=True)
        library = self._library("user", 'extern "C" int absent(); int user() { return absent(); }')
        self.assertEqual(closed_link.unresolved(library, [archive]), ["absent"])

    def test_what_nobody_defines_is_named_as_in_the_sources(self) -> None:
        library = self._library(
            "open", "namespace sdp { bool can(int); }\nbool ask() { return sdp::can(1); }"
        )
        status, message = self._check(library)
        self.assertEqual(status, 1)
        self.assertEqual(
            message.splitlines(),
            [
                "libopen.so would not load: it refers to what no library that it is loaded with defines:",
                "  sdp::can(int)",
                "Do this.",
            ],
        )

    def test_a_long_list_is_cut(self) -> None:
        names = [f"missing_{number:02}" for number in range(30)]
        text = "".join(f'extern "C" int {name}();\n' for name in names)
        text += "int all() { return " + " + ".join(f"{name}()" for name in names) + "; }"
        _, message = self._check(self._library("long", text))
        self.assertLen(message.splitlines(), 13)
        self.assertIn("and 20 more", message)


if __name__ == "__main__":
    absltest.main()
