"""Stripping generated conditionals leaves what the real preprocessor leaves.

The files are random, from a fixed seed: conditionals in each other, with #elif, #else, negation, arithmetic on macros
with values, comments, continuations and literals that look like directives.
"""

from __future__ import annotations

import random
import shutil
import subprocess

from absl.testing import absltest

from decouple.cpp import regions
from decouple.cpp.conditions import Macros
from decouple.materialize.cut import cut, put_back

_FILES = 120
_MACROS = Macros(frozenset({"USE_CUDA", "USE_CUDNN"}), frozenset({"AT_CUDNN_ENABLED"}))
_DEVICE = ("USE_CUDA", "USE_CUDNN")
_OTHER = ("A", "B", "C")
# Values of the other macros with which each file is preprocessed; the device's are undefined.
_SETTINGS = ((), ("-DA",), ("-DB=2", "-DC=1"), ("-DA=0", "-DC=2"))
_COMPILER = next(
    (found for name in ("g++", "c++", "g++-13", "clang++") if (found := shutil.which(name))), ""
)


class _Generator:
    """Writes one random file."""

    def __init__(self, seed: int, *, arithmetic: bool) -> None:
        self._random = random.Random(seed)
        self._arithmetic = arithmetic
        self._lines: list[str] = []

    def file(self) -> str:
        self._block(0)
        self._conditional(0)
        self._block(0)
        text = "\n".join(self._lines) + self._random.choice(["\n", "\n", ""])
        return text.replace("\n", "\r\n") if self._random.random() < 0.2 else text

    def _block(self, depth: int) -> None:
        for _ in range(self._random.randint(0, 3)):
            if depth < 5 and self._random.random() < 0.5:
                self._conditional(depth)
            elif self._random.random() < 0.1:
                name = self._random.choice(_OTHER)
                self._lines.append(f"#define {name} {self._random.randint(0, 2)}")
            else:
                tails = [
                    "",
                    " // #if USE_CUDA",
                    " /* #endif\n#else */",
                    ' "#endif"',
                    ' R"(\n#endif\n)"',
                ]
                self._lines.append(f"line{len(self._lines)};{self._random.choice(tails)}")

    def _conditional(self, depth: int) -> None:
        sign = self._random.choice(["#", "  #", "# ", "%:", "#/**/"])
        self._lines.append(sign + self._opening() + self._noise())
        self._block(depth + 1)
        for _ in range(self._random.choice([0, 0, 1, 2])):
            self._lines.append(f"{sign}elif {self._condition(0)}{self._noise()}")
            self._block(depth + 1)
        if self._random.random() < 0.5:
            self._lines.append(f"{sign}else{self._noise()}")
            self._block(depth + 1)
        self._lines.append(f"{sign}endif{self._noise()}")

    def _opening(self) -> str:
        if self._random.random() < 0.4:
            name = self._random.choice([*_DEVICE, "A", "B"])
            return f"{self._random.choice(['ifdef', 'ifndef'])} {name}"
        return f"if {self._condition(0)}"

    def _condition(self, depth: int) -> str:
        chance = self._random.random()
        if depth > 3 or chance < 0.4:
            return self._operand()
        left, right = self._condition(depth + 1), self._condition(depth + 1)
        if chance < 0.5:
            return f"({left})"
        if chance < 0.6:
            return f"!({left})"
        if self._arithmetic and chance < 0.75:
            operator = self._random.choice(["==", "!=", "<", "+", "|", "? 1 :"])
            return f"({left}) {operator} ({right})"
        operator = self._random.choice(["&&", "||", "and", "or", "&& \\\n"])
        return f"{left} {operator} {right}"

    def _operand(self) -> str:
        name = self._random.choice([*_DEVICE, *_OTHER])
        forms = [f"defined({name})", f"!defined {name}", name, f"!{name}", f"not {name}"]
        forms += ["AT_CUDNN_ENABLED()", "!AT_CUDNN_ENABLED()", "0", "1"]
        if self._arithmetic:
            value = self._random.randint(0, 2)
            forms += [f"{name} > {value}", f"({name} + 1) * 2 >= {value}", f"~{name} & 1"]
            forms += ["1'000 > A", "'a' == 97", "0x10u > 0", "__has_include(<none.h>)"]
        return self._random.choice(forms)

    def _noise(self) -> str:
        return self._random.choice(["", "", " // x", " /* y */", " /* a\n b */", " \\\n  "])


def _preprocessed(text: str, settings: tuple[str, ...]) -> list[str]:
    command = [_COMPILER, "-E", "-P", "-x", "c++", "-std=c++17", "-w", "-DAT_CUDNN_ENABLED()=0"]
    done = subprocess.run(
        [*command, *settings, "-"], input=text.encode(), capture_output=True, check=True
    )
    return done.stdout.decode().split()


class RandomConditionalsTest(absltest.TestCase):
    def setUp(self) -> None:
        self.assertNotEmpty(_COMPILER, "this test needs a C++ compiler")

    def test_stripped_files_are_what_the_preprocessor_leaves(self) -> None:
        for seed in range(_FILES):
            text = _Generator(seed, arithmetic=seed % 2 == 0).file()
            stripped = regions.strip_device(text, _MACROS, "x.cpp")
            settings = _SETTINGS[seed % len(_SETTINGS)]
            self.assertEqual(_preprocessed(text, settings), _preprocessed(stripped, settings), text)

    def test_no_condition_of_the_device_is_left_where_no_arithmetic_is(self) -> None:
        for seed in range(_FILES):
            text = _Generator(seed, arithmetic=False).file()
            stripped = regions.strip_device(text, _MACROS, "x.cpp")
            self.assertEmpty(regions.device_regions(stripped, _MACROS, "x.cpp"), text)

    def test_what_is_cut_out_can_be_put_back(self) -> None:
        for seed in range(_FILES):
            text = _Generator(seed, arithmetic=True).file()
            parts = cut(text, _MACROS, "x.cpp")
            if parts is not None:
                self.assertEqual(put_back(parts.rest, parts.pieces), text)


if __name__ == "__main__":
    absltest.main()
