"""Which symbols the libraries without code offer, and what a link against them needs."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess

from absl.testing import absltest

from tools.cc.manylinux import stub_libraries

_DUMP = """\
   Num:    Value          Size Type    Bind   Vis      Ndx Name
     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND memcpy@GLIBC_2.14 (2)
     2: 00000000000a1000    32 FUNC    GLOBAL DEFAULT   15 memcpy@@GLIBC_2.14
     3: 00000000000a2000    32 FUNC    GLOBAL DEFAULT   15 memcpy@GLIBC_2.2.5
     4: 0000000000095000   122 FUNC    GLOBAL DEFAULT   15 dlopen@@GLIBC_2.34
     5: 0000000000095000   122 FUNC    GLOBAL DEFAULT   15 dlopen@GLIBC_2.2.5
     6: 0000000000095200    10 FUNC    GLOBAL DEFAULT   15 __isoc23_strtol@@GLIBC_2.38
     7: 00000000001d4000     8 OBJECT  WEAK   DEFAULT   30 environ@@GLIBC_2.2.5
     8: 0000000000000010     8 TLS     GLOBAL DEFAULT   20 _ZSt15__once_callable@@GLIBCXX_3.4.11
     9: 0000000000096000     9 FUNC    GLOBAL DEFAULT   15 __libc_dlopen_mode@@GLIBC_PRIVATE
    10: 0000000000000000     0 OBJECT  GLOBAL DEFAULT  ABS GLIBC_2.2.5
"""


class PromisedTest(absltest.TestCase):
    def test_of_each_name_the_newest_version_below_the_ceiling(self) -> None:
        found = {
            symbol.name: (symbol.version, symbol.kind, symbol.size)
            for symbol in stub_libraries.promised(_DUMP.splitlines())
        }
        self.assertEqual(
            found,
            {
                "memcpy": ("GLIBC_2.14", "function", 32),
                "dlopen": ("GLIBC_2.2.5", "function", 122),
                "environ": ("GLIBC_2.2.5", "object", 8),
                "_ZSt15__once_callable": ("GLIBCXX_3.4.11", "tls_object", 8),
            },
        )

    def test_functions_are_where_older_systems_have_them(self) -> None:
        parts = stub_libraries.split_moved(stub_libraries.promised(_DUMP.splitlines()))
        self.assertEqual([symbol.name for symbol in parts["libdl.so.2"]], ["dlopen"])
        self.assertNotIn("dlopen", [symbol.name for symbol in parts["libc.so.6"]])


class LinkTest(absltest.TestCase):
    def link(self, source: str) -> subprocess.CompletedProcess[str]:
        folder = pathlib.Path(os.environ["STUB_LIBRARIES"]).absolute()
        place = pathlib.Path(self.create_tempdir().full_path)
        (place / "a.cpp").write_text(source)
        command = ["g++", "-shared", "-fPIC", "-Wl,--no-undefined", f"-L{folder}", "a.cpp"]
        done = subprocess.run(
            [*command, "-o", "a.so"], cwd=place, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            read = ["readelf", "--wide", "--dyn-syms", "a.so"]
            done = subprocess.run(read, cwd=place, capture_output=True, text=True, check=True)
        return done

    def test_older_versions_are_taken(self) -> None:
        done = self.link(
            "#include <dlfcn.h>\n#include <cmath>\n"
            "double f(double x) { dlopen(nullptr, 0); return std::pow(x, x); }\n"
        )
        self.assertIn("dlopen@GLIBC_2.2.5", done.stdout)
        self.assertIn("pow@GLIBC_2.2.5", done.stdout)

    def test_what_is_newer_is_replaced(self) -> None:
        done = self.link(
            "#include <cstdlib>\nlong f(const char* t) { return atol(t) + strtol(t, 0, 7); }"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("strtol@GLIBC_2.2.5", done.stdout)
        for version in re.findall(r"@(GLIBC_\S+)", done.stdout):
            parsed = stub_libraries.parse_version(version)
            assert parsed is not None
            self.assertLessEqual(parsed[1], (2, 28), version)

    def test_what_is_newer_and_has_no_replacement_fails_by_its_name(self) -> None:
        done = self.link("#include <stdlib.h>\nunsigned f() { return arc4random(); }\n")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("arc4random", done.stderr)


if __name__ == "__main__":
    absltest.main()
