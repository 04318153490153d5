"""Which Bazel package compiles each of upstream's units, read from `bazel query`."""

from __future__ import annotations

import pathlib
import subprocess
import xml.etree.ElementTree
from collections.abc import Iterable, Mapping, Sequence

from decouple.errors import DecoupleError
from decouple.model import Inventory

REPOSITORY = "pytorch"
"""The external repository with upstream's sources."""


def query(workspace: pathlib.Path, layers: Iterable[str]) -> str:
    """Runs `./bazelw query` for all rules of some layers.

    Args:
        workspace: the repository whose packages own the code.
        layers: those that own units.

    Returns:
        The XML that Bazel writes.

    Raises:
        DecoupleError: there is no Bazel workspace, or the query fails.
    """
    program = workspace / "bazelw"
    if not program.is_file():
        raise DecoupleError(
            f"{workspace} has no bazelw; name this repository with --workspace, or give --query FILE."
        )
    folders = " ".join(f"//{layer}/..." for layer in sorted(filter(None, layers)))
    question = f"kind(rule, set({folders}))"
    command = [str(program), "query", question, "--output=xml", "--noxml:default_values"]
    done = subprocess.run(command, cwd=workspace, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise DecoupleError(f"bazel query failed: {last}; run it by hand: {' '.join(command)}")
    return done.stdout


def owners(answer: str, name: str) -> dict[str, tuple[str, ...]]:
    """The packages that compile each of upstream's files.

    Args:
        answer: the XML of a query.
        name: where it comes from, for messages.

    Returns:
        Path in upstream's tree to packages such as "aten_cuda/core".

    Raises:
        DecoupleError: the answer is not XML of Bazel's.
    """
    try:
        root = xml.etree.ElementTree.fromstring(answer)
    except xml.etree.ElementTree.ParseError as error:
        raise DecoupleError(
            f"is not the XML of bazel query --output=xml: {str(error).partition(':')[0]}.",
            path=name,
            line=error.position[0],
        ) from None
    if root.tag != "query":
        raise DecoupleError(
            f"is not the XML of bazel query --output=xml: it is <{root.tag}>, not <query>.",
            path=name,
            line=1,
        )
    found: dict[str, set[str]] = {}
    for rule in root.iter("rule"):
        label = rule.get("name", "")
        if not label.startswith("//"):
            continue
        package = label[2:].partition(":")[0]
        for attribute in rule.findall("list[@name='srcs']/label"):
            repository, _, path = attribute.get("value", "").partition("//:")
            if repository.lstrip("@").split("~")[-1].split("+")[-1] == REPOSITORY:
                found.setdefault(path, set()).add(package)
    return {path: tuple(sorted(packages)) for path, packages in found.items()}


def problems(
    inventory: Inventory,
    owned: Mapping[str, Sequence[str]],
    planned: Mapping[str, str],
    listed: frozenset[str],
) -> list[str]:
    """What is not owned by exactly one package, and what is owned without being CUDA's; a line each.

    Args:
        inventory: what was found in the tree.
        owned: the packages that compile each file.
        planned: the package that the plan gives each unit.
        listed: files that a CUDA list of build_variables.bzl names, compiled by upstream's CMake or not.
    """
    found = []
    units = {unit.path for unit in inventory.units}
    for path in sorted(units):
        packages = owned.get(path, ())
        if not packages:
            where = planned.get(path)
            found.append(
                f"{path}: no package compiles it; "
                + (f"by the plan it belongs to //{where}" if where else "the plan has none for it")
            )
        elif len(packages) > 1:
            names = ", ".join(f"//{package}" for package in packages)
            found.append(f"{path}: several packages compile it: {names}")
        elif packages[0] != planned.get(path):
            found.append(
                f"{path}: //{packages[0]} compiles it, and the plan says //{planned.get(path, '?')}"
            )
    for path in sorted(owned.keys() - units - listed):
        if path.endswith((".cu", ".cpp", ".cc", ".c")):
            found.append(
                f"{path}: //{owned[path][0]} compiles it, and upstream does not build it for CUDA"
            )
    return found
