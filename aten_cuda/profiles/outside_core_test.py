"""What core leaves out is what operators_outside_core.txt says: no operator falls out of core, or into it, unnoticed.

A line of the list is a dispatch key and a family of operators (with the in-place form, where there is another), or `*`
for all of the key. Tests of upstream that ask for such an operator do not count (upstream/tests/outside.py).
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from absl.testing import absltest

SRCDIR = Path(os.environ["TEST_SRCDIR"])
LIST = Path(os.environ["LIST"])


def registrations(variable: str) -> dict[str, list[str]]:
    """A registrations.json that an environment variable names."""
    data: dict[str, list[str]] = json.loads((SRCDIR / os.environ[variable]).read_text())
    return data


def families(names: Iterable[str]) -> set[str]:
    """Operators without namespace and overload; in-place forms only where there is no other."""
    found = {name.partition("::")[2].partition(".")[0] for name in names}
    return {name for name in found if not (name.endswith("_") and name[:-1] in found)}


def left_out(full: dict[str, list[str]], core: dict[str, list[str]]) -> list[str]:
    """The lines of the list.

    Args:
        full: what upstream registers, by dispatch key.
        core: what core does.
    """
    lines: list[str] = []
    for key, names in full.items():
        missing = set(names) - set(core[key])
        if core[key]:
            lines += [f"{key} {family}" for family in sorted(families(missing))]
        elif missing:
            lines.append(f"{key} *")
    return lines


class OutsideCoreTest(absltest.TestCase):
    def test_the_list_is_what_core_leaves_out(self) -> None:
        listed = (SRCDIR / LIST).read_text().splitlines()
        made = left_out(registrations("FULL_REGISTRATIONS"), registrations("CORE_REGISTRATIONS"))
        gone, came = sorted(set(made) - set(listed)), sorted(set(listed) - set(made))
        self.assertFalse(
            gone,
            f"upstream has {', '.join(gone)}, and core has it not; "
            f"name it in a profile of core, or in {LIST.name}",
        )
        self.assertFalse(
            came, f"core has {', '.join(came)}, or upstream has it not; take it out of {LIST.name}"
        )
        self.assertEqual(listed, made, "the order of the list")

    def test_an_operator_that_falls_out_is_a_line(self) -> None:
        full = {"CUDA": ["aten::cos", "aten::cos.out", "aten::cos_", "aten::tan"], "SparseCUDA": []}
        core = {"CUDA": ["aten::tan"], "SparseCUDA": []}
        self.assertEqual(left_out(full, core), ["CUDA cos"])
        self.assertEqual(
            left_out({"SparseCUDA": ["aten::mm"]}, {"SparseCUDA": []}), ["SparseCUDA *"]
        )


if __name__ == "__main__":
    absltest.main()
