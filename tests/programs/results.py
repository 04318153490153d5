"""What became of programs, and how that compares with what is expected of them."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Collection, Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Known:
    """A program that is known to fail.

    Attributes:
        because: the reason.
        message: part of what it fails with.
        operator: the one that it lacks, such as `aten::bucketize.Tensor`, where it passes in a build that has that.
    """

    because: str
    message: str
    operator: str = ""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a program.

    Attributes:
        reasons: what failed, a sentence each; empty: it passed.
        packages: names and versions of what it uses.
        errors: the largest errors, by type and by what was compared.
        exceptions: sentences on what it is held to where that is not the usual.
        operators: those that it called, where they were asked for.
        seconds: how long it took.
    """

    reasons: tuple[str, ...]
    packages: tuple[str, ...] = ()
    errors: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=dict)
    exceptions: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    seconds: float = 0.0


def read(text: str) -> Outcome:
    """Reads what program.py wrote.

    Args:
        text: JSON.
    """
    fields: dict[str, Any] = json.loads(text)
    return Outcome(
        tuple(fields["reasons"]),
        tuple(fields.get("packages", ())),
        fields.get("errors", {}),
        tuple(fields.get("exceptions", ())),
        tuple(fields.get("operators", ())),
        fields["seconds"],
    )


def read_known(text: str, built: Collection[str] = ()) -> dict[str, Known]:
    """Reads the list of programs that are known to fail.

    Args:
        text: TOML with a table for each, that has `operator`, or `because` and `message`.
        built: the operators of this build; who lacks one of them only is not known to fail.

    Raises:
        ValueError: an entry has neither.
    """
    found = {}
    for name, entry in tomllib.loads(text).items():
        operator = entry.get("operator", "")
        if operator:
            reason = f"`{operator}` is not in the profile"
            known = Known(reason, f"Could not run '{operator}'", operator)
        else:
            known = Known(entry.get("because", ""), entry.get("message", ""))
        if not known.because or not known.message:
            raise ValueError(
                f"{name}: {entry} needs `operator`, one that the build lacks, or `because`, the reason, "
                "and `message`, a part of what it fails with"
            )
        if operator not in built:
            found[name] = known
    return found


def surprise(outcome: Outcome, known: Known | None) -> str:
    """What is not as expected: one sentence, or nothing.

    Args:
        outcome: of a program.
        known: its entry in the list.
    """
    if not outcome.reasons:
        return "passes, though it is listed: take it out of the list" if known else ""
    said = "; ".join(outcome.reasons)
    if known is None:
        return f"fails: {said}"
    if known.message not in said:
        return f"fails otherwise than listed: {said}"
    return ""


def worst(errors: Mapping[str, float]) -> str:
    """The largest of some errors, to the next power of ten: it differs from run to run.

    Args:
        errors: by what was compared.
    """
    largest = max(errors.values(), default=0.0)
    if largest == 0:
        return "equal"
    if largest == float("inf"):
        return "differs"
    exponent = next(power for power in range(-40, 40) if largest < 10.0**power)
    return f"< 1e{exponent}"


def calls(outcomes: Mapping[str, Outcome]) -> str:
    """The operators that programs call: a sorted line each, with the programs.

    Args:
        outcomes: by the programs' names.
    """
    callers: dict[str, list[str]] = {}
    for name, outcome in outcomes.items():
        for operator in outcome.operators:
            callers.setdefault(operator, []).append(name)
    return "".join(f"{operator}: {' '.join(callers[operator])}\n" for operator in sorted(callers))
