"""The verifier and NVIDIA's newest assembler take and refuse the same modules, of thousands that are drawn.

A module has a few forms of PTX in a context; half of them have another word or sign than what was drawn. Differences
that stay are in differences.py, each with its reason.
"""

from __future__ import annotations

import collections
import pathlib
import re
import subprocess

from absl import flags
from absl.testing import absltest

from cudasim.engine.verify.ptxas import declarations, drawing, ptxas, statements
from cudasim.engine.verify.ptxas.differences import DIFFERENCES

PTXAS = flags.DEFINE_string("ptxas", None, "ptxas of the newest CUDA.", required=True)
VERIFY = flags.DEFINE_string("verify_files", None, "The program verify_files.", required=True)
SEED = flags.DEFINE_integer("seed", 0, "Of the first module; the others have the next ones.")
COUNT = flags.DEFINE_integer("count", 3000, "Modules.")


def drawn(seed: int) -> tuple[str, str]:
    """A module.

    Args:
        seed: of its choices.

    Returns:
        What was drawn, and the module with it.
    """
    draw = drawing.Draw(seed, odd=draw_odd(seed))
    in_body = draw.random.random() < 0.7
    forms = statements.STATEMENTS if in_body else declarations.DECLARATIONS
    count = draw.random.choice([1, 1, 1, 2, 4]) if in_body else 1
    texts = [draw.random.choice(forms)(draw) for _ in range(count)]
    if seed % 4 == 3:
        texts[-1] = drawing.changed(draw, texts[-1])
    text = "\n".join(texts)
    return text, drawing.kernel(text) if in_body else drawing.module(text)


def draw_odd(seed: int) -> float:
    """How often a module has what does not belong there: every other one nowhere."""
    return 0.0 if seed % 4 in (0, 3) else 0.08


# What the verifier says of an instruction that is executed never.
LACKS = "the simulated device does not have"


def refusals(folder: pathlib.Path, modules: list[str]) -> list[str]:
    """What the verifier says of each module; empty where it takes it.

    Args:
        folder: to write to.
        modules: their texts.

    Returns:
        A message for each; one with LACKS where it is taken, and what the device lacks is named when it is executed.
    """
    files = []
    for number, text in enumerate(modules):
        files.append(folder / f"{number}.ptx")
        files[-1].write_text(text, encoding="utf-8")
    done = subprocess.run(
        [VERIFY.value, *map(str, files)], capture_output=True, text=True, check=False
    )
    said: dict[int, str] = {}
    for number, words in re.findall(r"/(\d+)\.ptx:\d+:\d+: (.*)", done.stdout):
        if LACKS in said.get(int(number), LACKS):
            said[int(number)] = words
    if done.returncode not in (0, 1):
        raise RuntimeError(f"verify_files: status {done.returncode}, {done.stderr}")
    return [said.get(number, "") for number in range(len(modules))]


class ModulesTest(absltest.TestCase):
    def test_the_same_modules_are_taken(self) -> None:
        pairs = [drawn(seed) for seed in range(SEED.value, SEED.value + COUNT.value)]
        modules = [module for _, module in pairs]
        folder = self.create_tempdir().full_path
        theirs = ptxas.Ptxas(PTXAS.value, folder, ["-arch=sm_90", "-O0"]).refusals(modules)
        ours = refusals(pathlib.Path(folder), modules)
        listed: collections.Counter[int] = collections.Counter()
        differences = []
        for (text, _), there, here in zip(pairs, theirs, ours, strict=True):
            if (not there) == (not here):
                continue
            taken_by, says = ("ptxas", here) if here else ("here", there)
            rows = [i for i, row in enumerate(DIFFERENCES) if row.covers(taken_by, says, text)]
            listed.update(rows[:1])
            if not rows:
                differences.append(f"taken by {taken_by}: {text}\n    {says}")
        self.assertEmpty(differences, f"{len(differences)} differences:\n" + "\n".join(differences))
        taken = sum(not there for there in theirs)
        self.assertBetween(
            taken, COUNT.value // 4, COUNT.value * 3 // 4, "some modules are no valid ones"
        )
        self.assertLess(listed.total(), COUNT.value // 50, f"listed differences: {listed}")


if __name__ == "__main__":
    absltest.main()
