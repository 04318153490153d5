"""Random programs: each name of CUDA's and each effect is in the translation, or somebody is told."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Sequence

from absl.testing import absltest, parameterized

from torch_cuda_adapter import platforms
from torch_cuda_adapter.sources import testing
from torch_cuda_adapter.sources.rules import Called, Renamed, Rules
from torch_cuda_adapter.sources.translator import translate

SEED = 20261123
PROGRAMS = 400
PLATFORMS = {name: Rules(platforms.load(name)) for name in platforms.names()}
# Functions of CUDA's with rules about their arguments, and the numbers of arguments that are known.
CALLS = {
    name: sorted({*answer.templates, *range(3)})
    for rules in PLATFORMS.values()
    for name, _ in rules.names()
    if isinstance(answer := rules.identifier(name), Called)
}
FUNCTIONS = (
    *("cudaFree", "cudaSetDevice", "cudaDeviceSynchronize", "cudaNobodyKnows", "ncclGroupStart"),
    *("cublasCreate", "cuInit", "cudnnCreate", "lazyInitCUDA", "hasCUDA", "THCudaCheck"),
)
VALUES = (
    *("cudaSuccess", "cudaMemcpyDefault", "cudaErrorUnknown", "ncclSum", "CUDA_R_32F", "kCUDA"),
    *("cudaStreamDefault", "CU_NOBODY_KNOWS", "CUDA", "AutogradCUDA", "cudaEventDisableTiming"),
)
# What stands between tokens. The first are good within a directive as well.
BETWEEN = ("", " ", "\t", "\\\n", " \\\r\n ", "/* cudaFree(x++) */", ' /* ) " */ ')
BETWEEN_LINES = ("\n", "\r\n", "// cudaMalloc(p, n) \\\n ) \n", "\n\n")
LITERALS = (
    "0",
    "nullptr",
    '"cudaMalloc ( "',
    'R"(cudaFree(x++), ")"',
    "')'",
    "1'000",
    'R"x(\\\n)" )x"',
)


@dataclasses.dataclass(frozen=True)
class Word:
    """A token of a program; of CUDA's where it is one of its names, and with an effect if it is told by its name."""

    text: str
    cudas: bool = False
    effect: bool = False


@dataclasses.dataclass
class Program:
    """A program that grows, with names that each come once."""

    generator: random.Random
    number: int = 0
    used: set[str] = dataclasses.field(default_factory=set)

    def fresh(self, stem: str) -> Word:
        """An identifier that nothing else has, and that has an effect."""
        self.number += 1
        return Word(f"{stem}_{self.number}", effect=True)

    def api(self, names: Sequence[str]) -> Word:
        """One of CUDA's names that was not used yet, or a name of nobody's."""
        free = [name for name in names if name not in self.used]
        if not free:
            return Word("plain")
        name = self.generator.choice(free)
        self.used.add(name)
        return Word(name, cudas=True)

    def listed(self, count: int, depth: int) -> list[Word]:
        """Arguments with commas between them."""
        found: list[Word] = []
        for number in range(count):
            found += [Word(",")] * (number > 0) + self.expression(depth)
        return found

    def expression(self, depth: int) -> list[Word]:
        """An expression, with others in it."""
        kind = self.generator.randrange(16 if depth else 4)
        inner = depth - 1
        if kind < 2:
            return [Word(self.generator.choice(("a", "b", "p", *LITERALS)))]
        if kind == 2:
            return [self.api(VALUES)]
        if kind == 3:
            return [self.fresh("x"), Word("++")]
        if kind == 4:
            return [Word("("), self.fresh("y"), Word("="), *self.expression(inner), Word(")")]
        if kind == 5:
            return [Word("new"), self.fresh("T"), *self.bracketed(1, inner)]
        if kind == 6:
            body = [Word("return"), *self.expression(inner), Word(";")]
            return [
                Word("["),
                Word("&"),
                Word("]"),
                Word("{"),
                *body,
                Word("}"),
                Word("("),
                Word(")"),
            ]
        if kind == 7:
            types = self.generator.choice(
                ("int,float", "a,b", "unsigned int,3", "T*,a", "int,a<b>", "a")
            )
            angles = [Word(text) for text in re.findall(r"\w+|[^\w\s]", f"<{types}>")]
            return [self.fresh("f"), *angles, *self.bracketed(1, inner)]
        if kind == 8:
            middle = Word(self.generator.choice(("<", ">", "+", ",", "<<", "&&")))
            return [Word("("), *self.expression(inner), middle, *self.expression(inner), Word(")")]
        if kind == 9:
            return [Word("a"), Word("."), self.fresh("m"), *self.bracketed(1, inner)]
        if kind == 10:
            return [self.fresh("MACRO"), *self.bracketed(self.generator.randrange(3), inner)]
        if kind == 11:
            return [
                self.api(FUNCTIONS),
                *self.bracketed(self.generator.randrange(3), inner),
            ]
        if kind == 12:
            return [Word("a"), Word("["), *self.expression(inner), Word("]")]
        name = self.api(sorted(CALLS))
        counts = CALLS.get(name.text, [1])
        return [name, *self.bracketed(self.generator.choice(counts), inner)]

    def bracketed(self, count: int, depth: int) -> list[Word]:
        """Arguments in brackets."""
        return [Word("("), *self.listed(count, depth), Word(")")]

    def line(self) -> tuple[list[Word], bool]:
        """A statement or a directive, and whether it is one."""
        value = self.expression(3)
        kind = self.generator.randrange(8)
        if kind == 0:
            parameters = self.generator.choice(([], [Word("(a,b)")], [Word("(a,...)")]))
            self.number += 1
            name = Word(f"DEFINED_{self.number}")
            return [Word("#define "), name, *parameters, Word(" "), *value], True
        if kind == 1:
            return [Word("return "), *value, Word(";")], False
        if kind == 2:
            return [Word("auto "), Word("v"), Word("="), *value, Word(";")], False
        if kind == 3:
            launch = [Word("k"), Word("<<<"), *self.listed(2, 2), Word(">>>")]
            return [*launch, *self.bracketed(2, 2), Word(";")], False
        if kind == 4:
            return [
                Word("if "),
                Word("("),
                *value,
                Word(")"),
                *self.expression(2),
                Word(";"),
            ], False
        if kind == 5:
            return [Word("return "), Word("::"), *value, Word(";")], False
        return [*value, Word(";")], False


def written(generator: random.Random) -> tuple[str, list[tuple[int, Word]]]:
    """A program's text, and its words with their offsets."""
    program = Program(generator)
    text = ""
    words: list[tuple[int, Word]] = []
    for _ in range(generator.randint(1, 6)):
        line, directive = program.line()
        for number, word in enumerate(line):
            between = generator.choice(BETWEEN if directive else (*BETWEEN, *BETWEEN_LINES))
            if (directive and number < 4) or generator.random() < 0.7:
                between = "" if directive and number < 4 else " "
            if (
                re.search(r"\w$", text)
                and re.match(r"[\w\"']", word.text)
                and not between.strip(" \\\r\n")
            ):
                between = between + " " if between in ("", "\\\n") else between
            if re.search(r"[<>&+:=]$", text) and word.text[0] in "<>&+:=" and not between.strip():
                between = " "
            text += between
            words.append((len(text), word))
            text += word.text
        text += "\n"
    return text, words


class LosslessTest(parameterized.TestCase):
    @parameterized.parameters(*sorted(PLATFORMS))
    def test_random_programs(self, platform: str) -> None:
        rules = PLATFORMS[platform]
        generator = random.Random(SEED)
        seen = 0
        for _ in range(PROGRAMS):
            source, words = written(generator)
            translation = translate(source, rules)
            after = testing.words(translation.text)
            places = testing.reported(translation, source)
            message = f"\n{source}\n-----\n{translation.text}\n{translation.findings}"
            for offset, word in words:
                if word.effect:
                    self.assertEqual(after.count(word.text), 1, f"{word}{message}")
                if word.cudas and offset not in places:
                    seen += 1
                    self.assertNotIn(word.text, after, f"{word}{message}")
                    self.assertNotEmpty(targets(rules, word.text) & set(after), f"{word}{message}")
            self.assertEqual(translate(translation.text, rules).text, translation.text, message)
        self.assertGreater(seen, 100)


def targets(rules: Rules, name: str) -> set[str]:
    """Words of which one stands where a name was translated."""
    answer = rules.identifier(name)
    if isinstance(answer, Renamed):
        return {answer.target}
    if isinstance(answer, Called):
        return {
            word for text in answer.templates.values() for word in re.findall(r"\w{3,}|\(\(", text)
        }
    return set()


if __name__ == "__main__":
    absltest.main()
