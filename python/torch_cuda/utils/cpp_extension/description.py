"""`DeviceDescription`: what building C++ extensions for a device takes, as data.

Nothing here builds anything, and nothing here knows CUDA; ``cuda.py`` describes it.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Sequence
from typing import TypeAlias

Strings: TypeAlias = Sequence[str] | Callable[[], Sequence[str]]
"""Strings, or a function that finds them. It is called when an extension is described or built, so
that a toolkit that is not installed is an error only for those who need it."""

Translate: TypeAlias = Callable[[Sequence[pathlib.Path], pathlib.Path], Sequence[pathlib.Path]]
"""A source translator, as hipify is one. Gets the extension's sources and a folder of its own to
write to; returns for each source, in the same order, the file to compile in its place."""

HOST_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".C")
"""What the host's compiler takes."""

HOST_KEY = "cxx"
"""The key of the host compiler's flags in a dict of ``extra_compile_args``."""

DEPENDENCY_FILE = "{depfile}"
"""Stands in `dependency_flags` for the file to which the compiler writes what it has read."""


def strings(value: Strings) -> list[str]:
    """The strings, found now if a function finds them."""
    return list(value() if callable(value) else value)


def without_repetition(values: Sequence[str]) -> list[str]:
    """The values in their order, each at its first place only."""
    return list(dict.fromkeys(values))


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeviceDescription:
    """Describes a device for which C++ extensions are built.

    Attributes:
      name: of the device, such as "cuda": a Python identifier, used in messages and file names.
      compiler: the command of the device's compiler, the program first.
      suffixes: a source whose name ends in one of them is the device's, such as ".cu"; may have
        more than one dot (".dev.cpp").
      compile_flags: flags for every device source; or a function that gets the user's flags for
        the device compiler and returns the flags to put before them.
      host_flags: flags for the host sources of the device's extensions.
      include_paths: folders of headers, for device and host sources.
      library_paths: folders of libraries to link.
      libraries: names of libraries to link, beside torch's own.
      link_flags: flags for the linker.
      macros: macros for device and host sources; None as the value means just defined.
      flags_key: the key of the device compiler's flags in a dict of ``extra_compile_args``; the
        device's name if empty.
      dependency_flags: make the compiler write the headers it has read to ``{depfile}``, in make's
        syntax; empty where it cannot. Without it a changed header does not rebuild its users.
      device_link_flags: make the compiler link the device code of objects (``-dlink`` for nvcc);
        None where the device has no such step.
      translate: changes sources before they are compiled; None for no change.
      check: called before anything is compiled; raises where the toolkit does not fit.
      compiler_hint: what to type where the compiler is missing, for the error message.
      inline_includes: headers that `load_inline` includes in device sources.
    """

    name: str
    compiler: Strings
    suffixes: tuple[str, ...]
    compile_flags: Sequence[str] | Callable[[Sequence[str]], Sequence[str]] = ()
    host_flags: Strings = ()
    include_paths: Strings = ()
    library_paths: Strings = ()
    libraries: Strings = ()
    link_flags: Strings = ()
    macros: Sequence[tuple[str, str | None]] = ()
    flags_key: str = ""
    dependency_flags: Strings = ("-MMD", "-MF", DEPENDENCY_FILE)
    device_link_flags: Strings | None = None
    translate: Translate | None = None
    check: Callable[[], None] | None = None
    compiler_hint: str = ""
    inline_includes: Sequence[str] = ("torch/types.h",)

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(
                f"found {self.name!r} as the name of a device; needed a Python identifier such as "
                "'npu'"
            )
        if isinstance(self.compiler, str) or (not callable(self.compiler) and not self.compiler):
            raise ValueError(
                f"device {self.name}: found compiler {self.compiler!r}; needed the command as a "
                "list, the program first, such as ['clang++', '--target=npu']"
            )
        if isinstance(self.suffixes, str) or not self.suffixes:
            raise ValueError(
                f"device {self.name}: found suffixes {self.suffixes!r}; needed a tuple of at least "
                "one, such as ('.npu',)"
            )
        for suffix in self.suffixes:
            if not suffix.startswith(".") or suffix in HOST_SUFFIXES:
                raise ValueError(
                    f"device {self.name}: found the suffix {suffix!r}; needed one that starts "
                    "with a dot and is not the host compiler's, such as '.npu' or '.npu.cpp'"
                )
        if self.key == HOST_KEY:
            raise ValueError(
                f"device {self.name}: found the flags key {HOST_KEY!r}, which is the host "
                "compiler's; needed another flags_key"
            )

    @property
    def key(self) -> str:
        """The key of the device compiler's flags in a dict of ``extra_compile_args``."""
        return self.flags_key or self.name

    def owns(self, source: str) -> bool:
        """Whether a source is compiled by the device's compiler."""
        return source.endswith(self.suffixes)

    def flags(self, user_flags: Sequence[str]) -> list[str]:
        """All flags for a device source.

        Args:
          user_flags: the user's.

        Returns:
          The device's, then the user's, which have the last word.
        """
        own = self.compile_flags(user_flags) if callable(self.compile_flags) else self.compile_flags
        return [*own, *user_flags]
