"""For which GPUs nvcc compiles: ``TORCH_CUDA_ARCH_LIST``, the visible GPUs, or what the plugin has."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Sequence

import torch

from torch_cuda import _build
from torch_cuda.utils.cpp_extension import nvcc

VARIABLE = "TORCH_CUDA_ARCH_LIST"

# The names that PyTorch documents for the variable; longer ones first, as they contain others.
_FAMILIES = {
    "Kepler+Tesla": "3.7",
    "Kepler": "3.5+PTX",
    "Maxwell+Tegra": "5.3",
    "Maxwell": "5.0;5.2+PTX",
    "Pascal": "6.0;6.1+PTX",
    "Volta+Tegra": "7.2",
    "Volta": "7.0+PTX",
    "Turing": "7.5+PTX",
    "Ampere+Tegra": "8.7",
    "Ampere": "8.0;8.6+PTX",
    "Ada": "8.9+PTX",
    "Hopper": "9.0+PTX",
    "Blackwell": "10.0+PTX",
}
_ENTRY = re.compile(r"(?P<major>\d{1,2})\.(?P<minor>\d)(?P<variant>[af]?)(?P<ptx>\+PTX)?")
_BUILT_FOR = re.compile(r"(?P<kind>sm|compute)_(?P<number>\d+[af]?)")


def architecture_flags(user_flags: Sequence[str] | None = None) -> list[str]:
    """The ``-gencode`` flags for an extension.

    Args:
      user_flags: the user's flags for nvcc; if they choose architectures, nothing is added.

    Returns:
      Flags for what ``TORCH_CUDA_ARCH_LIST`` names; if it is not set, for the visible GPUs with PTX
      for newer ones; if there is none, for what torch_cuda itself was built for.

    Raises:
      ValueError: the variable names an unknown architecture.
    """
    if any("arch" in flag and "TORCH_EXTENSION_NAME" not in flag for flag in user_flags or ()):
        return []
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        return flags_for(expand(named))
    visible = _of_visible_gpus()
    if visible:
        _say(f"the visible GPUs ({';'.join(visible)})")
        return flags_for(visible)
    built = _build.build_info().cuda_archs
    _say(f"no GPU is visible, so what torch_cuda was built for ({' '.join(built)})")
    return flags_of_build(built)


def expand(value: str) -> list[str]:
    """Splits a value of ``TORCH_CUDA_ARCH_LIST``.

    Args:
      value: architectures between semicolons or blanks, such as "8.0 9.0+PTX" or "Ampere;Hopper".

    Returns:
      The architectures, such as "8.0" and "9.0+PTX".
    """
    for family, architectures in _FAMILIES.items():
        value = value.replace(family, architectures)
    return [entry for entry in value.replace(" ", ";").split(";") if entry]


def flags_for(architectures: Iterable[str]) -> list[str]:
    """The flags for architectures as `expand` gives them.

    Args:
      architectures: "8.0" for machine code, "8.0+PTX" for machine code and PTX.

    Returns:
      Sorted flags for nvcc, without repetition.

    Raises:
      ValueError: one of them is not of this form.
    """
    flags = set()
    for architecture in architectures:
        match = _ENTRY.fullmatch(architecture)
        if match is None:
            raise ValueError(
                f"Unknown CUDA arch ({architecture}) or GPU not supported: needed architectures "
                f'such as "8.0" or "8.0+PTX", separated by blanks or semicolons, in {VARIABLE}'
            )
        number = f"{match['major']}{match['minor']}{match['variant']}"
        flags.add(_flag(number, "sm"))
        if match["ptx"]:
            flags.add(_flag(number, "compute"))
    return sorted(flags)


def flags_of_build(architectures: Iterable[str]) -> list[str]:
    """The flags for the architectures of a build of torch_cuda.

    Args:
      architectures: such as "sm_80" (machine code) and "compute_80" (PTX).

    Returns:
      Sorted flags for nvcc.
    """
    matches = filter(None, map(_BUILT_FOR.fullmatch, architectures))
    return sorted({_flag(match["number"], match["kind"]) for match in matches})


def _flag(number: str, kind: str) -> str:
    return f"-gencode=arch=compute_{number},code={kind}_{number}"


def _of_visible_gpus() -> list[str]:
    count = torch.cuda.device_count()
    capabilities = {torch.cuda.get_device_capability(index) for index in range(count)}
    if not capabilities:
        return []
    newest = nvcc.newest_capability()
    if newest is not None:
        # An older nvcc compiles PTX for the newest that it knows; the driver does the rest.
        capabilities = {min(capability, newest) for capability in capabilities}
    names = [f"{major}.{minor}" for major, minor in sorted(capabilities)]
    return [*names[:-1], f"{names[-1]}+PTX"]


def _say(choice: str) -> None:
    warnings.warn(
        f"{VARIABLE} is not set; compiling for {choice}. To choose: set {VARIABLE}, such as "
        f'{VARIABLE}="8.0+PTX"',
        stacklevel=2,
    )
