"""`NewDeviceCppExtension`: what building C++ extensions for a device takes, as data.

A device is described once. From the description come setuptools extensions and `load`, which
compile the device's sources with the device's compiler, all others with the host's, and link both
into one library. Nothing here knows CUDA; `cuda.py` describes it.
"""

from __future__ import annotations

import dataclasses
import pathlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import setuptools  # type: ignore[import-untyped]
import torch.utils.cpp_extension as upstream

Strings: TypeAlias = Sequence[str] | Callable[[], Sequence[str]]
"""Strings, or a function that finds them. It is called when an extension is described or built, so
that a toolkit that is not installed is an error only for those who need it."""

Translate: TypeAlias = Callable[[Sequence[pathlib.Path], pathlib.Path], Sequence[pathlib.Path]]
"""A source translator, as hipify is one. Gets the extension's sources and a folder of its own to
write to; returns for each source, in the same order, the file to compile in its place."""

HOST_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".C")
"""What the host's compiler takes."""

HOST_KEY = "cxx"
"""The key of the host compiler's flags in a dict of `extra_compile_args`."""

DEPENDENCY_FILE = "{depfile}"
"""Stands in `dependency_flags` for the file to which the compiler writes what it has read."""

_DEVICE_ATTRIBUTE = "_torch_device"
_DEVICE_LINK_ATTRIBUTE = "_torch_device_link"


def strings(value: Strings) -> list[str]:
    """The strings, found now if a function finds them."""
    return list(value() if callable(value) else value)


def without_repetition(values: Sequence[str]) -> list[str]:
    """The values in their order, each at its first place only."""
    return list(dict.fromkeys(values))


@dataclasses.dataclass(frozen=True, kw_only=True)
class NewDeviceCppExtension:
    """Describes a device for which C++ extensions are built, and builds them.

    Calling it is the same as calling `extension`.

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
      flags_key: the key of the device compiler's flags in a dict of `extra_compile_args`; the
        device's name if empty.
      dependency_flags: make the compiler write the headers it has read to `{depfile}`, in make's
        syntax; empty where it cannot. Without it a changed header does not rebuild its users.
      device_link_flags: make the compiler link the device code of objects (`-dlink` for nvcc);
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
        """The key of the device compiler's flags in a dict of `extra_compile_args`."""
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

    def extension(
        self,
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
          name: of the module, with its package if it is in one.
          sources: device and host sources, in any order.
          dlink: link the device code before the host links, for code that is compiled to be
            relocatable. Needs ninja.
          dlink_libraries: libraries with relocatable device code; turns `dlink` on.
          extra_compile_args: flags for both compilers, or a dict: "cxx" to the host's flags, the
            device's `key` to the device's.
          **options: as for `setuptools.Extension` (`include_dirs`, `libraries`, `define_macros`,
            `extra_link_args`, `py_limited_api` and so on); they come before those of the device.

        Returns:
          The extension, for `ext_modules` of `setuptools.setup`.

        Raises:
          OSError: the device's toolkit is not found; the text is the description's.
          TypeError: one string as the sources.
          ValueError: `dlink` for a device that has no such step.
        """
        if isinstance(sources, str):
            raise TypeError(
                f"extension {name}: found sources={sources!r}; needed a list, [{sources!r}]"
            )
        library_paths = strings(self.library_paths)

        def joined(option: str, ours: Sequence[Any]) -> list[Any]:
            return [*(options.pop(option, None) or ()), *ours]

        result = upstream.CppExtension(
            name,
            list(sources),
            include_dirs=joined("include_dirs", strings(self.include_paths)),
            library_dirs=joined("library_dirs", library_paths),
            libraries=joined("libraries", strings(self.libraries)),
            extra_link_args=joined("extra_link_args", strings(self.link_flags)),
            define_macros=joined("define_macros", self.macros),
            extra_compile_args=self._compile_args(name, extra_compile_args),
            **options,
        )
        result.include_dirs = without_repetition(result.include_dirs)
        result.library_dirs = without_repetition(result.library_dirs)
        setattr(result, _DEVICE_ATTRIBUTE, self)
        if dlink or dlink_libraries:
            setattr(
                result,
                _DEVICE_LINK_ATTRIBUTE,
                self._device_link(name, library_paths, dlink_libraries),
            )
        return result

    __call__ = extension

    def load(self, name: str, sources: str | Sequence[str], **options: Any) -> Any:
        """Builds an extension in a cache folder and loads it; see `loading.load`."""
        from torch_cuda.utils.cpp_extension import loading

        return loading.load(self, name, sources, **options)

    def load_inline(
        self,
        name: str,
        cpp_sources: str | Sequence[str],
        device_sources: str | Sequence[str] = (),
        **options: Any,
    ) -> Any:
        """As `load`, with the sources as text; see `loading.load_inline`."""
        from torch_cuda.utils.cpp_extension import loading

        return loading.load_inline(self, name, cpp_sources, device_sources, **options)

    def _compile_args(
        self, name: str, given: Sequence[str] | Mapping[str, Sequence[str]]
    ) -> list[str] | dict[str, list[str]]:
        if not isinstance(given, Mapping):
            return list(given or ())
        known = (HOST_KEY, self.key, f"{self.key}_dlink")
        for unknown in sorted(set(given) - set(known)):
            warnings.warn(
                f"extension {name}: extra_compile_args[{unknown!r}] is for no compiler of device "
                f"{self.name} and is not used; the keys are {', '.join(known)}",
                stacklevel=4,
            )
        # Both are there, so that BuildExtension adds torch's own flags to both.
        return {HOST_KEY: [], self.key: [], **{key: list(flags) for key, flags in given.items()}}

    def _device_link(
        self, name: str, library_paths: Sequence[str], libraries: Sequence[str]
    ) -> list[str]:
        if self.device_link_flags is None:
            raise ValueError(
                f"extension {name}: found dlink, but device {self.name} has no step that links "
                "device code; needed a device that is described with device_link_flags"
            )
        return [
            *strings(self.device_link_flags),
            *(f"-L{path}" for path in library_paths),
            *(f"-l{library}" for library in libraries),
        ]


def device_of(extension: setuptools.Extension) -> NewDeviceCppExtension | None:
    """The device that described an extension; None for any other extension."""
    return getattr(extension, _DEVICE_ATTRIBUTE, None)


def device_link_of(extension: setuptools.Extension) -> list[str] | None:
    """The flags of the step that links an extension's device code; None where there is none."""
    return getattr(extension, _DEVICE_LINK_ATTRIBUTE, None)
