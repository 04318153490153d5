"""The table of targets and NVIDIA's newest assembler say the same.

An instruction of each row, and of a list of others (clusters, hints, what is not executed here), is given to ptxas for
each target, and for the oldest PTX that the target has. ptxas reads all of them as one kernel and names the lines that
it refuses.
"""

from __future__ import annotations

import collections
import os
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent import futures
from typing import ClassVar

from absl import flags
from absl.testing import absltest

SAMPLES = flags.DEFINE_string("samples", None, "The program target_samples.", required=True)
PTXAS = flags.DEFINE_string("ptxas", None, "ptxas of the newest CUDA.", required=True)
SEED = flags.DEFINE_integer("seed", 1, "Of the samples.")
COUNT = flags.DEFINE_integer(
    "count", 16, "Instructions of each row, of which one that ptxas takes is used."
)

_OLDER = (50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89)
_IN_FAMILIES = (100, 103, 107, 110, 120, 121)
TARGETS = [
    *map(str, _OLDER),
    "90",
    "90a",
    *(f"{number}{letter}" for number in _IN_FAMILIES for letter in ("", "a", "f")),
]

# Together they have all that there is.
MOST = ["50", "90a", "100a", "121a"]

OTHERS = pathlib.Path(__file__).with_name("others.ptx")

# What differs, with the reason.
DIFFERENCES = {
    r"^cp\.async\.ca\.shared\.global .*, !?%pred": "With a predicate it needs PTX 7.5; no word of the table tells a "
    "predicate from the bytes that may stand there.",
    r"^cvt\.\S*\.ftz(\.sat)?\.f32\.f64 %b64": "ptxas refuses it late, and says nothing where it has refused others.",
    r"^cvt\S*\.e[45]m[32]x2": "sm_89 has 8-bit floats since PTX 8.1, sm_90 since 7.8; the table has one version.",
    r"^mov\.pred %pred_0, %is_explicit_cluster": "No mov of a predicate takes a special register here.",
}
# Rows that no target of ptxas has, and why they are there.
NOT_TAKEN: dict[str, str] = {}

_NEWEST = "9.5"
_OLDEST = (6, 0)

# ptxas generates no code for what it refuses.
_LAST = "no_instruction"

Version = tuple[int, int]


def version_in(text: str) -> Version:
    """Reads "8.4"."""
    major, minor = text.split(".")
    return int(major), int(minor)


def run(*arguments: str, instructions: Sequence[str] = ()) -> str:
    """What target_samples writes."""
    command = [SAMPLES.value, *arguments]
    text = "".join(f"{line}\n" for line in instructions)
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


class Assembler:
    """ptxas, asked about many instructions at once."""

    def __init__(self, folder: pathlib.Path, declarations: str) -> None:
        """Takes a folder to write to, and what is in front of the instructions."""
        self._folder = folder
        self._declarations = declarations

    def ask(self, version: str, target: str, lines: list[str]) -> dict[int, list[str]]:
        """What it says of each line that it refuses.

        Args:
            version: of PTX.
            target: without "sm_".
            lines: instructions.

        Returns:
            Messages by the numbers of lines, from 0 on.
        """
        head = f".version {version}\n.target sm_{target}\n.address_size 64\n{self._declarations}"
        name = f"{version}_{target}_{len(lines)}"
        text = self._folder / f"{name}.ptx"
        body = "".join(f"{line};\n" for line in [*lines, _LAST])
        text.write_text(f"{head}{body}ret;\n}}\n", encoding="utf-8")
        # It assembles for no GPU that is older than this.
        arch = target if int(target.rstrip("af")) >= 75 else "75"
        command = [PTXAS.value, f"-arch=sm_{arch}", str(text), "-o", f"{text}.cubin"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        before = head.count("\n") + 1
        said: dict[int, list[str]] = collections.defaultdict(list)
        stopped = None
        for line, kind, words in re.findall(r"line (\d+); (error|fatal)\s*: (.*)", done.stderr):
            said[int(line) - before].append(words)
            if kind == "fatal":
                stopped = int(line) - before
        if stopped is None and "aborted due to errors" not in done.stderr:
            # Some of what it refuses ends it without an answer.
            if len(lines) == 1:
                return {0: ["ended without an answer"]}
            half = len(lines) // 2
            later = self.ask(version, target, lines[half:])
            return self.ask(version, target, lines[:half]) | {
                half + at: words for at, words in later.items() if at >= 0
            }
        if stopped is not None and 0 <= stopped + 1 < len(lines):
            # It reads no further: the rest is asked again.
            later = self.ask(version, target, lines[stopped + 1 :])
            # What it says of the declarations is of no line here.
            said |= {stopped + 1 + at: words for at, words in later.items() if at >= 0}
        said.pop(len(lines), None)
        return said

    def least_version(self, target: str, candidates: list[str]) -> str:
        """The first version that has a target."""
        return next(
            version
            for version in candidates
            if not any(
                "does not support" in word
                for words in self.ask(version, target, ["ret"]).values()
                for word in words
            )
        )


class PtxasTest(absltest.TestCase):
    ptxas: ClassVar[Assembler]
    samples: ClassVar[list[tuple[str, str, str]]]
    missing: ClassVar[list[str]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        others = [
            line
            for line in OTHERS.read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("//")
        ]
        declarations, body = run("draw", str(SEED.value), str(COUNT.value)).split("\f\n")
        drawn = [line.split("\t") for line in body.splitlines()]
        drawn += [[text, text] for text in others]
        folder = pathlib.Path(tempfile.mkdtemp(dir=absltest.TEST_TMPDIR.value))
        cls.ptxas = Assembler(folder, declarations)
        # What ptxas refuses for other reasons than the target is not looked at: verify/ptxas_test.py does.
        refused = set(range(len(drawn)))
        for target in MOST:
            refused &= set(cls.ptxas.ask(_NEWEST, target, [text for _, text in drawn]))
        chosen = {row: text for at, (row, text) in enumerate(drawn) if at not in refused}
        cls.missing = [text for row, text in dict(drawn).items() if row not in chosen]
        lines = list(chosen.values())
        verdicts = run(
            "judge", *[f"sm_{target}" for target in TARGETS], instructions=lines
        ).splitlines()
        cls.samples = []
        for verdict, text in zip(verdicts, lines, strict=True):
            taken, version = verdict.split("\t")
            cls.samples.append((taken, version, text))

    @staticmethod
    def known(text: str, patterns: dict[str, str]) -> bool:
        """Whether an instruction is one of those that are listed."""
        return any(re.search(pattern, text) for pattern in patterns)

    def test_nearly_all_rows_are_asked(self) -> None:
        self.assertGreater(len(self.samples), 6000)
        self.assertEmpty([text for text in self.missing if not self.known(text, NOT_TAKEN)])

    def test_each_target_takes_the_same(self) -> None:
        lines = [text for _, _, text in self.samples]
        with futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            answers = dict(
                zip(
                    TARGETS,
                    pool.map(lambda target: self.ptxas.ask(_NEWEST, target, lines), TARGETS),
                    strict=True,
                )
            )
        found = collections.defaultdict(list)
        for at, (taken, _, text) in enumerate(self.samples):
            here = set(taken.split())
            for target in TARGETS:
                words = answers[target].get(at)
                if (words is None) != (f"sm_{target}" in here) and not self.known(
                    text, DIFFERENCES
                ):
                    found[text, words[0] if words else "takes it"].append(target)
        self.assertEmpty(
            found,
            f"{len(found)} differences:\n"
            + "\n".join(
                f"{text}  ptxas for {' '.join(targets)}: {words}"
                for (text, words), targets in found.items()
            ),
        )

    def test_each_needs_the_same_version(self) -> None:
        by_target = collections.defaultdict(list)
        for taken, version, text in self.samples:
            if taken and not self.known(text, DIFFERENCES):
                by_target[taken.split()[0].removeprefix("sm_")].append((text, version_in(version)))
        candidates = ["6.0", "6.1", "6.3", "7.0", "7.1", "7.4", "7.8", "8.0", "8.6", "8.7", "8.8"]
        candidates += ["9.0", "9.4"]
        found = []
        for target, samples in by_target.items():
            least = self.ptxas.least_version(target, candidates)
            answers = self.ptxas.ask(least, target, [text for text, _ in samples])
            for at, (text, first) in enumerate(samples):
                needed = max(_OLDEST, version_in(least))
                for words in answers.get(at, []):
                    for number in re.findall(r"PTX ISA \.?version (\d+\.\d+)", words):
                        needed = max(needed, version_in(number))
                if needed != first:
                    found.append(f"{text} for sm_{target}: ptxas {needed}, here {first}")
        self.assertEmpty(found, f"{len(found)} differences:\n" + "\n".join(found))


if __name__ == "__main__":
    absltest.main()
