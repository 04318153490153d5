"""Each rule finds its fault, and nothing in a clean file."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

from absl.testing import absltest, parameterized

from tools.lint import rules

# Put together here, so that this file does not break the rule itself.
HOME = "/" + "root/"
MACHINE = rules.Machine(hosts=re.compile(r"mirror\.example"), folders=("/data/clone",))


def faults(name: str, content: str | bytes) -> list[str]:
    """The names of the rules that a file breaks."""
    data = content.encode() if isinstance(content, str) else content
    source = rules.SourceFile(PurePath(name), data)
    return [fault.rule for fault in rules.check([source], MACHINE, [])]


class RulesTest(parameterized.TestCase):
    @parameterized.parameters(
        ("a.py", '"""Says what."""\n'),
        ("__init__.py", ""),
        ("a.cpp", "// Says what.\n"),
        ("a.h", "#pragma once\n\n// Says what.\n"),
        ("BUILD.bazel", '"""Says what."""\n'),
        ("MODULE.bazel", "module()\n"),
        ("a.sh", "#!/bin/sh\n# Says what.\n"),
        ("a.json", "{}\n"),
        ("a.patch", " context \n"),
        ("long.txt", "line\n" * 501),
        ("a.md", "cd /home/me/clone\n"),
        ("Dockerfile", "RUN mkdir $ROOT" + HOME + "x\n"),
    )
    def test_clean(self, name: str, content: str) -> None:
        self.assertEmpty(faults(name, content))

    @parameterized.parameters(
        ("binary", "a.txt", b"\0"),
        ("binary", "a.txt", b"\xff\xfe"),
        ("head", "a.py", "import os\n"),
        ("head", "__init__.py", "import os\n"),
        ("head", "a.cu", "int x;\n"),
        ("head", "a.h", "#pragma once\nint x;\n"),
        ("head", "BUILD", "package()\n"),
        ("head", "x.BUILD", "package()\n"),
        ("head", "a.sh", "#!/bin/sh\nset -e\n"),
        ("hosts", "a.md", "from https://mirror.example/x\n"),
        ("lines", "a.py", '"""Says what."""\n' + "x = 1\n" * 500),
        ("machine-paths", "a.md", f"cd {HOME}x\n"),
        ("machine-paths", "a.md", f'open("{HOME}x")\n'),
        ("machine-paths", "a.md", "cd " + "/home" + "/melissa/clone\n"),
        ("machine-paths", "a.md", "cd /data/clone\n"),
        ("size", "a.txt", "x" * (512 * 1024) + "\n"),
        ("whitespace", "a.md", "blank \n"),
        ("whitespace", "a.md", "return\r\n"),
        ("whitespace", "a.md", "no newline"),
        ("whitespace", "a.md", "two\n\n"),
    )
    def test_broken(self, rule: str, name: str, content: str | bytes) -> None:
        self.assertEqual(faults(name, content), [rule])

    def test_rules_of_several_files(self) -> None:
        def faults(*files: tuple[str, str]) -> list[str]:
            described = ("a/README.md", "# a\n")
            sources = [
                rules.SourceFile(PurePath(name), text.encode())
                for name, text in (*files, described)
            ]
            return [str(fault) for fault in rules.check(sources, rules.Machine(), [])]

        head = "// Says what.\n"
        circle = [("a/x.h", head + '#include "a/y.h"\n'), ("a/y.h", head + '#include "a/x.h"\n')]
        way = "a/x.h: [circle] a circle (includes): a/x.h -> a/y.h -> a/x.h"
        self.assertEqual(faults(*circle), [way])
        (full,) = faults(*((f"a/{number}.txt", "") for number in range(26)))
        self.assertStartsWith(full, "a: [full-folder] 27 files besides tests")
        (undescribed,) = faults(("b/1.txt", ""))
        self.assertStartsWith(undescribed, "b: [readme] no README.md")

    def test_a_mirror_s_name_is_not_repeated_in_the_message(self) -> None:
        source = rules.SourceFile(PurePath("a.md"), b"https://mirror.example\n")
        (fault,) = rules.check([source], MACHINE, [])
        self.assertNotIn("mirror.example", str(fault))
        self.assertIn("a.md: [hosts] line 1", str(fault))


class ExceptionsTest(absltest.TestCase):
    BINARY = rules.SourceFile(PurePath("a.bin"), b"\0")
    ALLOWED = rules.Allowed("a.bin", "binary", "has to be")

    def load(self, text: str) -> list[rules.Allowed]:
        """Reads a file of exceptions with this text."""
        return rules.load_exceptions(Path(self.create_tempfile(content=text).full_path))

    def test_an_exception_takes_off_one_rule_of_one_file(self) -> None:
        machine = rules.Machine()
        self.assertEmpty(rules.check([self.BINARY], machine, [self.ALLOWED]))
        other = rules.SourceFile(PurePath("b.bin"), b"\0")
        self.assertLen(rules.check([self.BINARY, other], machine, [self.ALLOWED]), 1)

    def test_an_exception_that_nothing_needs_is_a_fault(self) -> None:
        (fault,) = rules.check([], rules.Machine(), [self.ALLOWED])
        self.assertIn("remove it", str(fault))

    def test_it_is_read_from_toml(self) -> None:
        text = '[[exception]]\npath = "a.bin"\nrule = "binary"\nreason = "has to be"\n'
        self.assertEqual(self.load(text), [self.ALLOWED])

    def test_it_needs_a_reason(self) -> None:
        with self.assertRaisesRegex(ValueError, "path, rule and reason"):
            self.load('[[exception]]\npath = "a"\nrule = "binary"\nreason = " "\n')

    def test_it_needs_a_rule_that_there_is(self) -> None:
        with self.assertRaisesRegex(ValueError, "no rule 'colour'; there are binary"):
            self.load('[[exception]]\npath = "a"\nrule = "colour"\nreason = "why"\n')


if __name__ == "__main__":
    absltest.main()
