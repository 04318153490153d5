"""The page docs/coverage/cudasim.md, from what is there and what is tested."""

from __future__ import annotations

import itertools
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from cudasim.coverage.inventory import SCHEDULER, Instruction

# Types of PTX (PTX ISA 5.2); everything else in a key is another modifier.
_TYPES = frozenset(f"{kind}{bits}" for kind in "bus" for bits in (8, 16, 32, 64)) | frozenset(
    [
        "f16",
        "f16x2",
        "bf16",
        "bf16x2",
        "tf32",
        "f32",
        "f32x2",
        "f64",
        "pred",
        "u16x2",
        "s16x2",
        "u8x4",
        "s8x4",
        "e4m3",
        "e5m2",
        "e4m3x2",
        "e5m2x2",
        "e2m1",
        "e2m3",
        "e3m2",
        "e2m1x2",
        "e2m3x2",
        "e3m2x2",
        "ue8m0",
        "ue8m0x2",
        "ue4m3",
    ]
)

_HEAD = """\
# What the simulated GPU covers

`./bazelw run //cudasim/coverage:update` writes this page from what the build has and what tests record. A test fails if
the page is out of date. The functions of CUDA's libraries have a page of their own, [runtime.md](runtime.md).

- The page lists the instructions that have a row
  ([family.h](../../cudasim/engine/instructions/family.h)), with their types. Modifiers are in alphabetical order.
- The test of an instruction is the test that compared the instruction's results with an independent expectation. Tests
  record this when they run (`cudasim/engine/testing/coverage_record.h`).
- Sums, products, quotients, roots and their roundings are compared with MPFR. What NVIDIA's ptxas folds for constant
  operands is compared with what the tests expect (`//cudasim/engine/testing/folding:ptxas_test`).
- PyTorch's own tests ([docs/cudasim.md](../cudasim.md)) do not count.

| | there | with a test |
|---|---|---|
"""


def _split(key: str) -> tuple[str, tuple[str, ...]]:
    """The part of a key before its types, and the types."""
    words = key.split(".")
    first = next((i for i, word in enumerate(words) if word in _TYPES), len(words))
    return ".".join(words[:first]), tuple(words[first:])


def _choice(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else "{" + ", ".join(words) + "}"


def type_list(types: Iterable[tuple[str, ...]]) -> str:
    """Types of an instruction in short: "{f32, f64}.{s32, u32}" for all pairs of them.

    Args:
        types: the types of each form, in the order of the key.
    """
    lists = list(dict.fromkeys(types))
    texts = []
    for length in sorted({len(form) for form in lists}):
        forms = [form for form in lists if len(form) == length]
        columns = [list(dict.fromkeys(column)) for column in zip(*forms, strict=True)]
        if length > 0 and set(itertools.product(*columns)) == set(forms):
            texts.append(".".join(_choice(column) for column in columns))
        elif length == 2:
            # Not all pairs: what each first type goes with.
            for first in columns[0]:
                seconds = [form[1] for form in forms if form[0] == first]
                texts.append(f"{first}.{_choice(seconds)}")
        else:
            texts += [".".join(form) for form in forms]
    return ", ".join(text for text in texts if text)


def _forms(family: Iterable[Instruction]) -> list[str]:
    """The instructions of a family: "add.{s16, u16}"."""
    groups: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for instruction in family:
        stem, types = _split(instruction.key)
        groups[stem].append(types)
    return [
        f"`{stem}`" + (f" ({listed})" if (listed := type_list(forms)) else "")
        for stem, forms in sorted(groups.items())
    ]


def render(instructions: Sequence[Instruction], sources: Mapping[str, str]) -> str:
    """The whole page.

    Args:
        instructions: all of them, grouped by family.
        sources: the source file of each family, relative to the root of the workspace.
    """
    text = [_HEAD]
    tested = sum(bool(instruction.tests) for instruction in instructions)
    text.append(f"| PTX instructions, by all modifiers | {len(instructions)} | {tested} |\n")
    text.append("\n## Instructions\n")
    for family, members in itertools.groupby(instructions, key=lambda each: each.family):
        place = (
            "executed by the scheduler"
            if family == SCHEDULER
            else f"[{family}.cpp](../../{sources[family]})"
        )
        everything = list(members)
        names = textwrap.fill(
            "; ".join(_forms(everything)), 120, break_on_hyphens=False, break_long_words=False
        )
        text.append(f"\n### {family}\n\n{place}\n\n{names}\n")
        untested = ", ".join(f"`{each.key}`" for each in everything if not each.tests)
        if untested:
            text.append(f"\nWithout a test: {untested}\n")
    return "".join(text)
