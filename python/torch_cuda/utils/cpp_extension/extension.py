"""The setuptools extensions of a device: what a setup.py lists and `BuildExtension` builds."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import setuptools  # type: ignore[import-untyped]
import torch.utils.cpp_extension as upstream

from torch_cuda.utils.cpp_extension.description import (
    HOST_KEY,
    DeviceDescription,
    strings,
    without_repetition,
)

_DEVICE_ATTRIBUTE = "_torch_device"
_DEVICE_LINK_ATTRIBUTE = "_torch_device_link"


def describe_extension(
    device: DeviceDescription,
    name: str,
    sources: Sequence[str],
    *,
    dlink: bool = False,
    dlink_libraries: Sequence[str] = (),
    extra_compile_args: Sequence[str] | Mapping[str, Sequence[str]] = (),
    **options: Any,
) -> setuptools.Extension:
    """Describes an extension module for setuptools; `BuildExtension` builds it.

    Args:
      device: compiles the sources that it owns.
      name: of the module, with its package if it is in one.
      sources: device and host sources, in any order.
      dlink: link the device code before the host links, for code that is compiled to be
        relocatable. Needs ninja.
      dlink_libraries: libraries with relocatable device code; turns ``dlink`` on.
      extra_compile_args: flags for both compilers, or a dict: "cxx" to the host's flags, the
        device's ``key`` to the device's.
      **options: as for ``setuptools.Extension`` (``include_dirs``, ``libraries``, ``define_macros``,
        ``extra_link_args``, ``py_limited_api`` and so on); they come before those of the device.

    Returns:
      The extension, for ``ext_modules`` of ``setuptools.setup``.

    Raises:
      OSError: the device's toolkit is not found; the text is the description's.
      TypeError: one string as the sources.
      ValueError: ``dlink`` for a device that has no such step.
    """
    if isinstance(sources, str):
        raise TypeError(
            f"extension {name}: found sources={sources!r}; needed a list, [{sources!r}]"
        )
    library_paths = strings(device.library_paths)

    def joined(option: str, ours: Sequence[Any]) -> list[Any]:
        return [*(options.pop(option, None) or ()), *ours]

    result = upstream.CppExtension(
        name,
        list(sources),
        include_dirs=joined("include_dirs", strings(device.include_paths)),
        library_dirs=joined("library_dirs", library_paths),
        libraries=joined("libraries", strings(device.libraries)),
        extra_link_args=joined("extra_link_args", strings(device.link_flags)),
        define_macros=joined("define_macros", device.macros),
        extra_compile_args=_compile_args(device, name, extra_compile_args),
        **options,
    )
    result.include_dirs = without_repetition(result.include_dirs)
    result.library_dirs = without_repetition(result.library_dirs)
    setattr(result, _DEVICE_ATTRIBUTE, device)
    if dlink or dlink_libraries:
        flags = _device_link(device, name, library_paths, dlink_libraries)
        setattr(result, _DEVICE_LINK_ATTRIBUTE, flags)
    return result


def device_of(extension: setuptools.Extension) -> DeviceDescription | None:
    """The device that described an extension; None for any other extension."""
    return getattr(extension, _DEVICE_ATTRIBUTE, None)


def device_link_of(extension: setuptools.Extension) -> list[str] | None:
    """The flags of the step that links an extension's device code; None where there is none."""
    return getattr(extension, _DEVICE_LINK_ATTRIBUTE, None)


def _compile_args(
    device: DeviceDescription, name: str, given: Sequence[str] | Mapping[str, Sequence[str]]
) -> list[str] | dict[str, list[str]]:
    if not isinstance(given, Mapping):
        return list(given or ())
    known = (HOST_KEY, device.key, f"{device.key}_dlink")
    for unknown in sorted(set(given) - set(known)):
        warnings.warn(
            f"extension {name}: extra_compile_args[{unknown!r}] is for no compiler of device "
            f"{device.name} and is not used; the keys are {', '.join(known)}",
            stacklevel=3,
        )
    # Both are there, so that BuildExtension adds torch's own flags to both.
    return {HOST_KEY: [], device.key: [], **{key: list(flags) for key, flags in given.items()}}


def _device_link(
    device: DeviceDescription, name: str, library_paths: Sequence[str], libraries: Sequence[str]
) -> list[str]:
    if device.device_link_flags is None:
        raise ValueError(
            f"extension {name}: found dlink, but device {device.name} has no step that links "
            "device code; needed a device that is described with device_link_flags"
        )
    return [
        *strings(device.device_link_flags),
        *(f"-L{path}" for path in library_paths),
        *(f"-l{library}" for library in libraries),
    ]
