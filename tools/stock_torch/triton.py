"""Triton for a torch of PyPI: which version, and what it needs beside it."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import re
import shutil
import sysconfig
from collections.abc import Sequence

from tools.stock_torch import environments

NAME = "triton"


def requirements(python: pathlib.Path, packages: Sequence[str]) -> list[str]:
    """Packages as pip takes them, Triton in the version that torch asks for.

    Args:
        python: of the environment with torch.
        packages: to install; "triton" without a version is torch's.

    Raises:
        PreparationError: Triton is among them, and this torch asks for none, or it could not compile here.
    """
    if NAME in packages:
        check_c_compiler()
    return [asked_by_torch(python) if package == NAME else package for package in packages]


def asked_by_torch(python: pathlib.Path) -> str:
    """The Triton that a torch asks for, such as "triton~=3.9.0".

    Args:
        python: of the environment with torch.

    Raises:
        PreparationError: it asks for none.
    """
    site = environments.site_packages(python)
    for found in importlib.metadata.distributions(name="torch", path=[str(site)]):
        for line in found.requires or ():
            requirement = line.partition(";")[0].replace(" ", "")
            if re.split(r"[^\w.-]", requirement)[0] == NAME:
                return requirement
    raise environments.PreparationError(
        f"the torch in {site} asks for no Triton; needed a version: {NAME}==VERSION"
    )


def check_c_compiler() -> None:
    """Makes sure that Triton can compile what launches its kernels.

    Raises:
        PreparationError: there is no C compiler, or the header of this Python is missing.
    """
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or shutil.which(compiler) is None:
        found = f"CC={compiler}, which is no program" if compiler else "neither gcc nor clang"
        raise environments.PreparationError(
            f"found {found}; needed a C compiler, with which Triton compiles what launches its "
            "kernels: apt-get install gcc libc6-dev, or set CC"
        )
    scheme = sysconfig.get_default_scheme().replace("posix_local", "posix_prefix")
    header = pathlib.Path(sysconfig.get_paths(scheme)["include"]) / "Python.h"
    if not header.is_file():
        raise environments.PreparationError(
            f"found no {header}; needed the headers of this Python, for what Triton compiles: "
            "apt-get install python3-dev, or take a Python that has them"
        )
