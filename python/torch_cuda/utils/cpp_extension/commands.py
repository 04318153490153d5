"""What is run to turn an extension's sources into objects: one command for each source."""

from __future__ import annotations

import dataclasses
import pathlib
import shlex
import shutil
from collections.abc import Mapping, Sequence

import setuptools  # type: ignore[import-untyped]
import torch.utils.cpp_extension as upstream

from torch_cuda.utils.cpp_extension.description import (
    DEPENDENCY_FILE,
    HOST_KEY,
    HOST_SUFFIXES,
    DeviceDescription,
    strings,
)
from torch_cuda.utils.cpp_extension.extension import device_link_of


@dataclasses.dataclass(frozen=True)
class Command:
    """A command that writes one file.

    Attributes:
      arguments: the program and its arguments.
      inputs: the files it reads, other than those that the dependency file names.
      output: the file it writes.
      depfile: where it writes what else it has read, in make's syntax; None if it does not.
      label: a few words to show while it runs.
    """

    arguments: Sequence[str]
    inputs: Sequence[pathlib.Path]
    output: pathlib.Path
    depfile: pathlib.Path | None
    label: str


@dataclasses.dataclass(frozen=True)
class CompileRequest:
    """One extension's sources and how the build command wants them compiled.

    Attributes:
      extension: it names the modules and the user's flags.
      device: that described it.
      sources: what to compile.
      folder: for objects; its own for each extension.
      preprocessor: flags -D, -U and -I for all sources.
      host_flags: flags that Python wants for host sources.
      debug: whether debug information is asked for.
    """

    extension: setuptools.Extension
    device: DeviceDescription
    sources: Sequence[str]
    folder: pathlib.Path
    preprocessor: Sequence[str]
    host_flags: Sequence[str]
    debug: bool


def preprocessor_flags(
    macros: Sequence[tuple[str] | tuple[str, str | None]], include_paths: Sequence[str]
) -> list[str]:
    """Turns what setuptools knows of macros and headers into flags.

    Args:
      macros: a name alone is to be undefined, a name with None to be defined, with a string to have
        it as value.
      include_paths: folders; made absolute, as the compiler runs elsewhere.

    Returns:
      The flags.
    """
    flags = []
    for name, *value in macros:
        if not value:
            flags.append(f"-U{name}")
        else:
            flags.append(f"-D{name}" if value[0] is None else f"-D{name}={value[0]}")
    return flags + [f"-I{pathlib.Path(path).absolute()}" for path in include_paths]


def device_compiler(device: DeviceDescription) -> list[str]:
    """The command of a device's compiler.

    Raises:
      FileNotFoundError: the program is not there.
      OSError: the toolkit is not there; the text is the description's.
    """
    command = strings(device.compiler)
    if not command or shutil.which(command[0]) is None:
        hint = device.compiler_hint or "install it, or name another one in the device's compiler"
        raise FileNotFoundError(
            f"found no compiler {command[0] if command else ''!r} for device {device.name}; needed "
            f"for sources that end in {' or '.join(device.suffixes)}. To fix it: {hint}"
        )
    return command


def compile_commands(request: CompileRequest) -> list[Command]:
    """The commands that compile an extension, and the one that links its device code, if any.

    Args:
      request: what to compile.

    Returns:
      The commands; the step that links device code is the last.

    Raises:
      OSError: the device's compiler is missing.
      ValueError: a source is neither the host's nor the device's.
    """
    device = request.device
    host_flags, device_flags, link_flags = _user_flags(request)
    objects = _Objects(request.folder)
    commands = []
    for source in request.sources:
        if device.owns(source):
            output = objects.name(source, device.name)
            commands.append(_device_command(request, source, output, device_flags))
        elif source.endswith(HOST_SUFFIXES):
            commands.append(_host_command(request, source, objects.name(source), host_flags))
        else:
            raise ValueError(
                f"extension {request.extension.name}: found the source {source!r}; needed sources "
                f"that end in {' '.join(device.suffixes)} (device {device.name}) or "
                f"{' '.join(HOST_SUFFIXES)} (host)"
            )
    device_link = device_link_of(request.extension)
    if device_link is not None:
        inputs = [command.output for command in commands]
        commands.append(
            Command(
                [
                    *device_compiler(device),
                    *map(str, inputs),
                    "-o",
                    str(output := objects.name("dlink", device.name)),
                    *device.flags([*device_link, *link_flags]),
                ],
                inputs,
                output,
                None,
                f"link device code of {request.extension.name}",
            )
        )
    return commands


class _Objects:
    """Names objects so that no two sources of an extension share one."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._taken: set[str] = set()

    def name(self, source: str, kind: str = "") -> pathlib.Path:
        base = pathlib.Path(source).stem + (f".{kind}" if kind else "")
        name, count = base, 1
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return self._folder / f"{name}.o"


def _user_flags(request: CompileRequest) -> tuple[list[str], list[str], list[str]]:
    """The user's flags for the host compiler, the device compiler, and its link step."""
    given = request.extension.extra_compile_args or []
    if not isinstance(given, Mapping):
        return list(given), list(given), []
    key = request.device.key
    return (
        list(given.get(HOST_KEY, [])),
        list(given.get(key, [])),
        list(given.get(f"{key}_dlink", [])),
    )


def _device_command(
    request: CompileRequest, source: str, output: pathlib.Path, flags: Sequence[str]
) -> Command:
    device = request.device
    depfile = output.with_name(f"{output.name}.d")
    dependency_flags = strings(device.dependency_flags)
    path = pathlib.Path(source).absolute()
    arguments = [
        *device_compiler(device),
        *(flag.replace(DEPENDENCY_FILE, str(depfile)) for flag in dependency_flags),
        *request.preprocessor,
        *(["-g"] if request.debug else []),
        *device.flags(flags),
        *("-c", str(path), "-o", str(output)),
    ]
    return Command(
        arguments, [path], output, depfile if dependency_flags else None, f"{device.name}: {source}"
    )


def _host_command(
    request: CompileRequest, source: str, output: pathlib.Path, flags: Sequence[str]
) -> Command:
    depfile = output.with_name(f"{output.name}.d")
    path = pathlib.Path(source).absolute()
    chosen = [*strings(request.device.host_flags), *flags]
    is_c = source.endswith(".c")
    if not is_c and not any(flag.startswith("-std=") for flag in chosen):
        # torch's headers need it.
        chosen.append("-std=c++17")
    arguments = [
        *shlex.split(upstream.get_cxx_compiler()),
        *("-MMD", "-MF", str(depfile)),
        *request.host_flags,
        *request.preprocessor,
        *(["-g"] if request.debug else []),
        *chosen,
        *("-c", str(path), "-o", str(output)),
    ]
    return Command(arguments, [path], output, depfile, f"host: {source}")
