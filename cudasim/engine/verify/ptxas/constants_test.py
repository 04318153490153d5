"""Constant expressions have the values that NVIDIA's assembler gives them.

Expressions are drawn, each as the initial value of a variable; ptxas writes the variable's bytes into its machine code,
and the simulated device has them in its memory.
"""

from __future__ import annotations

import random
import re
import subprocess

from absl import flags
from absl.testing import absltest

from cudasim.engine.verify.ptxas import ptxas

PTXAS = flags.DEFINE_string("ptxas", None, "ptxas of the newest CUDA.", required=True)
BYTES = flags.DEFINE_string("variable_bytes", None, "The program variable_bytes.", required=True)
SEED = flags.DEFINE_integer("seed", 1, "Of the expressions.")
COUNT = flags.DEFINE_integer("count", 4000, "Expressions.")

HEAD = ".version 8.4\n.target sm_80\n.address_size 64\n"
TYPES = [
    ".b8",
    ".u8",
    ".s8",
    ".b16",
    ".u16",
    ".s16",
    ".b32",
    ".u32",
    ".s32",
    ".b64",
    ".u64",
    ".s64",
    ".f32",
    ".f64",
]
INTEGERS = [
    "0", "1", "2", "3", "5", "7", "63", "64", "65", "255", "017", "0b101", "0x1F", "0XffU", "7U", "0U", "WARP_SZ",
    "2147483648", "4294967295", "9223372036854775807", "9223372036854775808", "18446744073709551615",
    "0x8000000000000000", "0xFFFFFFFFFFFFFFFFU",
]  # fmt: skip
REALS = [
    "0.0",
    "1.0",
    "0.1",
    "2.5",
    "1e10",
    "1E-5",
    ".5",
    "3.",
    "0d3FF8000000000000",
    "16777217.0",
    "1e39",
    "09.5",
]
SINGLES = ["0f3F800000", "0F7fc00001", "(0f80000000)"]
# No expression divides by what may be -1: the least number by it stops some assemblers.
DIVISORS = ["2", "3U", "7", "10", "0x10", "0", "(5U - 2)", "WARP_SZ"]

# What is refused here and has a value there: numbers of more than 64 bits lose their upper bits there, and in an
# expression 0f3F800000 is a double with these 32 bits. Nobody means that, and PTX's manual forbids the latter.
LARGE = ["20000000000000000000", "0x1FFFFFFFFFFFFFFFF", "04000000000000000000001"]
REFUSED_HERE = re.compile("|".join(LARGE) + r"|.*0[fF][0-9a-f]{8}.*")


class Drawing:
    """Draws expressions.

    Args:
        seed: of all choices.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def initial(self) -> tuple[str, str]:
        """Type and initial value of a variable."""
        choose = self._random.choice
        kind = self._random.random()
        if kind < 0.1:
            return choose(TYPES), choose([*INTEGERS, *REALS, *SINGLES])
        if kind < 0.12:
            return ".u64", choose(LARGE)
        if kind < 0.3:
            return choose([".f32", ".f64", ".b32", ".b64", ".b8", ".u64"]), self._real(3)
        return choose(
            [".u64", ".u64", ".s64", ".b64", ".u32", ".s16", ".u8", ".f64"]
        ), self._integer(4)

    def _integer(self, depth: int) -> str:
        choose = self._random.choice
        kind = 0.0 if depth == 0 else self._random.random()
        if kind < 0.2:
            return choose(INTEGERS)
        if kind < 0.35:
            return choose(["-", "~", "!", "+", "- ", "(.s64)", "(.u64)"]) + self._operand(depth)
        if kind < 0.5:
            # Without blanks "5%7" is two words, and refused.
            blank = choose([" ", " ", ""])
            return f"{self._operand(depth)}{blank}{choose('/%')}{blank}{choose(DIVISORS)}"
        if kind < 0.58:
            return (
                f"{self._operand(depth)} ? {self._integer(depth - 1)} : {self._integer(depth - 1)}"
            )
        if kind < 0.62:
            return f"{self._real(depth - 1)} {choose(['<', '>', '<=', '>=', '==', '!='])} {self._real(depth - 1)}"
        if kind < 0.64:  # of two types
            return f"{self._operand(depth)} {choose('+*<&')} {choose(REALS)}"
        operators = [
            "+",
            "-",
            "*",
            "<<",
            ">>",
            "<",
            ">",
            "<=",
            ">=",
            "==",
            "!=",
            "&",
            "^",
            "|",
            "&&",
            "||",
        ]
        return f"{self._operand(depth)} {choose(operators)} {self._operand(depth)}"

    def _operand(self, depth: int) -> str:
        text = self._integer(depth - 1)
        # Sometimes left to the precedence of operators; a sign before a sign is no operator of C's.
        return text if self._random.random() < 0.5 else f"({text})"

    def _real(self, depth: int) -> str:
        choose = self._random.choice
        kind = 0.0 if depth <= 0 else self._random.random()
        if kind < 0.3:
            return choose(REALS)
        if kind < 0.4:
            return choose(["-", "+", "- -"]) + self._real(depth - 1)
        if kind < 0.45:
            return choose(["!", "~", "-", "1 + "]) + choose([*REALS, *SINGLES])
        return f"({self._real(depth - 1)}) {choose('+-*/')} ({self._real(depth - 1)})"


class ConstantsTest(absltest.TestCase):
    def _of_ptxas(self, declarations: list[str]) -> list[str]:
        """The bytes of each variable as hexadecimal digits, or "refused"."""
        assembler = ptxas.Ptxas(
            PTXAS.value, self.create_tempdir().full_path, ["-arch=sm_80", "-O0"]
        )
        result = ["refused"] * len(declarations)
        left = dict(enumerate(declarations))
        while left:
            # Each error of a kind ends the run, so the rest is asked again.
            numbers = list(left)[:200]
            lines = [
                re.sub(r"\bv\b", f"v{number}", left[number], count=1) + "\n" for number in numbers
            ]
            errors, cubin = assembler.run(HEAD + "".join(lines))
            if errors:
                wrong = {numbers[line - 4] for line, _ in errors if 4 <= line < 4 + len(numbers)}
                self.assertTrue(wrong, errors)
            else:
                wrong = set(numbers)
                for name, value in ptxas.variables(cubin).items():
                    result[int(name[1:])] = value.hex()
            left = {number: text for number, text in left.items() if number not in wrong}
        return result

    def test_values_are_those_of_ptxas(self) -> None:
        drawing = Drawing(SEED.value)
        drawn = [drawing.initial() for _ in range(COUNT.value)]
        declarations = [f".visible .global {kind} v = {value};" for kind, value in drawn]
        done = subprocess.run(
            [BYTES.value], input="\n".join(declarations), capture_output=True, text=True, check=True
        )
        ours = done.stdout.splitlines()
        theirs = self._of_ptxas(declarations)
        self.assertLen(ours, len(theirs))
        differences = [
            f"{declaration} here {here}, ptxas {there}"
            for declaration, here, there, (_, value) in zip(
                declarations, ours, theirs, drawn, strict=True
            )
            if here != there
            and not (here == "refused" and REFUSED_HERE.fullmatch(value) and value not in SINGLES)
        ]
        self.assertEmpty(
            differences, f"{len(differences)} differences:\n" + "\n".join(differences[:50])
        )
        taken = sum(there != "refused" for there in theirs)
        self.assertBetween(
            taken, len(theirs) // 2, len(theirs) * 9 // 10, "some expressions are no valid ones"
        )


if __name__ == "__main__":
    absltest.main()
