"""Tests that the operators that these sources name are PyTorch's.

What a version does not have is left out in silence when operators are registered, so that a misspelt name would be.
"""

from __future__ import annotations

import pathlib
import re
import sys
import unittest

# "aten::name.overload", "aten::beginning_*", or a registration of "aten::name", "overload".
_NAME = re.compile(r'(register_\w+\(\s*)?"(aten::\w+\*?)(?:\.(\w+))?"(?:,\s*"(\w*)"\s*,)?')
_SCHEMA = re.compile(r'"schema": "(aten::\w+)(?:\.(\w+))?\(')


def names_in(source: str) -> set[tuple[str, str | None]]:
    """Operators that a source names, and the overload where it names one."""
    return {
        (match[2], match[4] if match[1] and match[4] is not None else match[3])
        for match in _NAME.finditer(source)
    }


def operators_of(declarations: str) -> set[tuple[str, str]]:
    """Operators of a PyTorch, by its RegistrationDeclarations.h."""
    return {(name, overload) for name, overload in _SCHEMA.findall(declarations)}


class NamesTest(unittest.TestCase):
    """Sources and versions are arguments of the test: *.cpp and *.h."""

    def test_reads_names(self) -> None:
        self.assertEqual(
            names_in(
                'register_function(\n"aten::mm",\n "dtype", &g); register_checked("aten::mm", "", x);'
                '{"aten::abs.out", h}; refuse("aten::fill_", "message", 1); {"aten::linalg_lu*", 8}'
            ),
            {
                ("aten::mm", "dtype"),
                ("aten::abs", "out"),
                ("aten::fill_", None),
                ("aten::mm", ""),
                ("aten::linalg_lu*", None),
            },
        )
        self.assertEqual(
            operators_of('x; // {"schema": "aten::mm.out(Tensor'), {("aten::mm", "out")}
        )

    def test_each_name_is_an_operator_of_a_supported_version(self) -> None:
        files = [pathlib.Path(name) for name in _FILES]
        versions = [file for file in files if file.name == "RegistrationDeclarations.h"]
        self.assertGreater(len(versions), 1)
        known = set[tuple[str, str]]().union(
            *(operators_of(version.read_text()) for version in versions)
        )
        bare = {name for name, _ in known}
        self.assertGreater(len(known), 2000)
        for file in files:
            if file in versions:
                continue
            for name, overload in sorted(names_in(file.read_text()), key=str):
                with self.subTest(file=str(file), name=name, overload=overload):
                    if overload is None:
                        # Or the beginning of names.
                        begins = name.endswith(("_", "*")) and any(
                            one.startswith(name.removesuffix("*")) for one in bare
                        )
                        self.assertTrue(name in bare or begins)
                    else:
                        self.assertTrue((name, overload) in known)


if __name__ == "__main__":
    _FILES = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
