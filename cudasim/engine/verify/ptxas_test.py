"""The verifier and NVIDIA's own assembler take and refuse the same instructions.

Instructions come from the rows (row_samples): what fits them, and what does not. ptxas reads all of them as one
kernel and names the lines that it refuses.
"""

from __future__ import annotations

import pathlib
import re
import subprocess

from absl import flags
from absl.testing import absltest

SAMPLES = flags.DEFINE_string("samples", None, "The program row_samples.", required=True)
PTXAS = flags.DEFINE_string("ptxas", None, "ptxas of the newest CUDA.", required=True)
SEED = flags.DEFINE_integer("seed", 1, "Of the samples.")
COUNT = flags.DEFINE_integer("count", 2, "Fitting instructions of each row.")

# What follows is no second description of instructions: the verifier follows the rows, and these are the places where
# ptxas does not what PTX's manual says, or where the language of rows (instructions/family.h) has no word for it.

# ptxas takes a number where a video instruction or createpolicy writes, a predicate where a pair of bf16 or of a matrix belongs, and for
# a cache policy, which is asked for by a modifier, any 64 bits, as for the mbarrier of a bulk copy. It takes one value for the offsets in a texture and for all that a
# surface gets, a whole number for a depth, and wider registers for what a surface gets in its own format or combines.
PTXAS_IS_LENIENT = re.compile(
    r"^vsh[lr]\.\S+ 5,|^createpolicy\.\S+ 5,|^setp?\.\S*bf16x2.*%pred_1|^movmatrix.*%pred_1|^mma\.sp\..*(%pred_1|\}, %b32_1, \{)|^atom\.\S*b64 .*, %f64_1$"
    r"|^(tex|tld4)\..*[\]}](, (%\w+|0f3FC00000))?, %[bu]32_1(, (%\w+|0f3FC00000))?$|^sust\.\S*\.v[24]\..*\], %b32_1$"
    r"|^(sust\.p|sured)\..*\], %b64_1$|^cvt\.\S*\.bf16x2 .*%pred_1$|^cp\.async\.bulk\..*, %b64_1$"
)
# It wants no constant for the predicate of bf16's setp, no cvt with .ftz to a register that is wider than f32, of a
# cache policy a fraction that is no more than 1, of a fragment of a matrix and of metadata not only constants, no
# global variable as an mbarrier, and at least one thread to arrive at one. mma with a kind is of sm_120a, which lacks
# much that sm_107a has.
NOT_CHECKED = re.compile(
    r"^setp\.\S*bf16.*, 1$|^cvt\.\S*\.ftz(\.sat)?\.f32\.f64 %b64|^createpolicy\..*, 0f3FC00000$"
    r"|^(w?mma|[sm]\w*matrix)\..* \{-?\w+(, -?\w+)*\}|^(mma\.sp\..*\}, -?\d+, \d$|movmatrix\..*, -?\d+$)"
    r"|^mbarrier\..*(\[in_global|, (0|-1)$)|^mma\..*\.kind::"
)

# Lines that ptxas is asked at once.
CHUNK = 4000


class Answer:
    """What ptxas says of a body.

    Attributes:
        errors: by line of the body from 0 on, its words.
        syntax: the line at which it gave up reading, or None.
        crashed: whether it ended without an answer, which some of what it refuses does to it.
    """

    def __init__(self, output: str, status: int, before: int) -> None:
        self.errors: dict[int, list[str]] = {}
        self.syntax: int | None = None
        for line, kind, words in re.findall(r"line (\d+); (error|fatal)\s*: (.*)", output):
            at = int(line) - before - 1
            self.errors.setdefault(at, []).append(words)
            if kind == "fatal":
                self.syntax = at
        self.crashed = status != 0 and "aborted due to errors" not in output


def ask(folder: pathlib.Path, head: str, lines: list[str]) -> Answer:
    """Gives ptxas a body.

    Args:
        folder: to write to.
        head: what is in front of the lines.
        lines: instructions, one in a line.

    Returns:
        What it refused.
    """
    text = folder / "body.ptx"
    text.write_text(head + "".join(f"{line};\n" for line in lines) + "ret;\n}\n", encoding="utf-8")
    command = [PTXAS.value, "-arch=sm_107a", "-O0", str(text), "-o", str(folder / "body.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Answer(done.stdout + done.stderr, done.returncode, head.count("\n"))


def refused_by_ptxas(folder: pathlib.Path, head: str, lines: list[str]) -> set[int]:
    """Which of the lines ptxas refuses, be it by crashing.

    Args:
        folder: to write to.
        head: what is in front of the lines.
        lines: instructions, one in a line.

    Returns:
        Their numbers, from 0 on.
    """
    answer = ask(folder, head, lines)
    if answer.crashed and answer.syntax is None:
        if len(lines) == 1:
            return {0}
        half = len(lines) // 2
        later = refused_by_ptxas(folder, head, lines[half:])
        return refused_by_ptxas(folder, head, lines[:half]) | {half + at for at in later}
    refused = set(answer.errors)
    if answer.syntax is not None:
        # It reads no further: the rest is asked again.
        begin = answer.syntax + 1
        if begin < len(lines):
            refused |= {begin + at for at in refused_by_ptxas(folder, head, lines[begin:])}
    return refused


class PtxasTest(absltest.TestCase):
    def test_the_same_is_taken_and_refused(self) -> None:
        command = [SAMPLES.value, str(SEED.value), str(COUNT.value)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        head, body = output.split("\f\n")
        samples = [line.split("\t", 1) for line in body.splitlines()]
        self.assertGreater(len(samples), 10_000)
        taken = [text for verdict, text in samples if verdict == "taken"]
        refused = [text for verdict, text in samples if verdict == "refused"]
        folder = pathlib.Path(self.create_tempdir().full_path)

        differences = []
        answer = ask(folder, head, taken)
        for at, words in sorted(answer.errors.items()):
            if not NOT_CHECKED.search(taken[at]):
                differences.append(f"taken here: {taken[at]}   ptxas: {words[0]}")

        for begin in range(0, len(refused), CHUNK):
            part = refused[begin : begin + CHUNK]
            also = refused_by_ptxas(folder, head, part)
            for at, text in enumerate(part):
                if at not in also and not PTXAS_IS_LENIENT.search(text):
                    differences.append(f"refused here: {text}")
        self.assertEmpty(differences, f"{len(differences)} differences:\n" + "\n".join(differences))


if __name__ == "__main__":
    absltest.main()
