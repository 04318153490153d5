"""Builds C++ extensions for a platform from CUDA sources, with torch_cuda's `NewDeviceCppExtension`.

Nobody is patched: `cuda_extension` returns what takes the place of `CUDAExtension`, and whoever wants
it there puts it there. torch_cuda and torch are imported when it is called, and not before.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.platforms import Platform
from torch_cuda_adapter.sources import cache, files
from torch_cuda_adapter.sources.flags import translate_flags, translate_libraries
from torch_cuda_adapter.sources.rules import Rules

if TYPE_CHECKING:
    from torch_cuda.utils.cpp_extension import BuildExtension, NewDeviceCppExtension

CUDA_SUFFIXES = (".cu", ".cuh")
_SHOWN = 20


class TranslationWarning(UserWarning):
    """Something of a source or a flag could not be translated; the text says what and where."""


def translator(
    rules: Rules, include_folders: Sequence[str | os.PathLike[str]] = ()
) -> Callable[[Sequence[pathlib.Path], pathlib.Path], list[pathlib.Path]]:
    """The `translate` of a device's description (docs/cpp-extensions.md) for a platform.

    Args:
        rules: of the platform.
        include_folders: folders with headers of one's own, which are translated as well.

    Returns:
        A function of the sources and a folder, which writes the translations into that folder and
        returns them in the order of the sources. What could not be translated becomes a
        `TranslationWarning`; the compiler has the last word.
    """

    def translate(sources: Sequence[pathlib.Path], folder: pathlib.Path) -> list[pathlib.Path]:
        translated = files.translate_files(
            sources,
            rules,
            out=folder,
            include_folders=include_folders,
            cache=cache.Cache(cache.folder()),
        )
        files.write(translated)
        _warn(
            f"translating for {rules.platform.name}",
            [str(finding) for file in translated for finding in file.findings if finding.is_open],
        )
        targets = {file.source: file.target for file in translated}
        return [targets[files.absolute(source)] for source in sources]

    return translate


def describe(
    platform: Platform, include_folders: Sequence[str | os.PathLike[str]] = (), **changes: Any
) -> NewDeviceCppExtension:
    """Describes a platform as a device for which C++ extensions are built.

    Args:
        platform: its table `toolkit` says where the compiler, headers and libraries are.
        include_folders: folders with headers of one's own, which are translated as well.
        **changes: attributes of the description that are to be others.

    Raises:
        AdapterError: torch_cuda is not installed, or the platform's file is wrong.
    """
    rules = Rules(platform)
    translated = (rules.suffixes.get(old, old) for old in CUDA_SUFFIXES)
    suffixes = [*CUDA_SUFFIXES, *(new for new in translated if not new.endswith(".cpp"))]
    toolkit = platform.table("toolkit")
    attributes: dict[str, Any] = {
        "name": platform.table("device")["type"],
        "compiler": lambda: filled([toolkit.get("compiler", "c++")], platform),
        "suffixes": tuple(dict.fromkeys(suffixes)),
        "compile_flags": toolkit.get("compile_flags", ()),
        "include_paths": lambda: header_folders(platform),
        "library_paths": lambda: library_folders(platform),
        "libraries": translate_libraries(["cudart", "c10_cuda", "torch_cuda"], platform),
        "translate": translator(rules, include_folders),
        "compiler_hint": f"install {platform.summary}, and set {toolkit['home_variables'][0]}"
        if toolkit.get("home_variables")
        else "",
    }
    return _new_device()(**{**attributes, **changes})


def cuda_extension(platform: Platform, **changes: Any) -> Callable[..., Any]:
    """What takes the place of `CUDAExtension` on a platform.

    Args:
        platform: the platform.
        **changes: attributes of the device's description that are to be others.

    Returns:
        A function of `CUDAExtension`'s arguments, which returns an extension for setuptools that
        torch_cuda's `BuildExtension` builds: sources, nvcc's flags, macros and libraries are
        translated, headers of one's own in `include_dirs` as well.
    """
    rules = Rules(platform)

    def extension(name: str, sources: Sequence[str], **options: Any) -> Any:
        device = describe(platform, options.get("include_dirs") or (), **changes)
        given = options.pop("extra_compile_args", None) or {}
        flags = dict(given) if isinstance(given, Mapping) else {"cxx": given, "nvcc": given}
        flags[device.key] = device_flags(flags.pop("nvcc", ()), rules)
        if options.get("libraries"):
            options["libraries"] = translate_libraries(options["libraries"], platform)
        return device(name, list(sources), extra_compile_args=flags, **options)

    return extension


def device_flags(flags: Sequence[str], rules: Rules) -> list[str]:
    """nvcc's flags for the platform's compiler; what could not be translated is a `TranslationWarning`.

    Args:
        flags: nvcc's.
        rules: of the platform.
    """
    translated = translate_flags(list(flags), rules)
    _warn(f"flags for {rules.platform.name}", [f"{flag}: {why}" for flag, why in translated.doubts])
    return list(translated.flags)


def link_flags(flags: Sequence[str], platform: Platform) -> list[str]:
    """A linker's flags with the platform's libraries in the place of CUDA's (`-lnvjpeg`); all others as they are.

    Args:
        flags: what a program links with.
        platform: the platform.
    """
    answer: list[str] = []
    for flag in flags:
        named = flag.startswith("-l") and not flag.startswith("-l:")
        libraries = translate_libraries([flag[2:]], platform) if named else []
        answer += [f"-l{library}" for library in libraries] if named else [flag]
    return answer


def library_folders(platform: Platform) -> list[str]:
    """Where the platform's libraries are."""
    return filled(platform.table("toolkit").get("library_paths", ()), platform)


def header_folders(platform: Platform) -> list[str]:
    """Where the platform's headers are."""
    return filled(platform.table("toolkit").get("include_paths", ()), platform)


def toolkit_folder(platform: Platform) -> str:
    """Where the platform's toolkit is, or would be."""
    return _home(platform)


def filled(texts: Sequence[str], platform: Platform) -> list[str]:
    """Paths of a platform's file with their places filled in: {home}, the toolkit, and {module}, the backend.

    Raises:
        AdapterError: {module} is named, and the backend is not installed.
    """
    places = {"home": _home, "module": _module}
    paths = []
    for text in texts:
        for name, find in places.items():
            if f"{{{name}}}" in text:
                text = text.replace(f"{{{name}}}", find(platform))
        paths.append(text)
    return paths


def build_extension() -> type[BuildExtension]:
    """The `build_ext` command of setuptools that builds the extensions.

    Raises:
        AdapterError: torch_cuda is not installed.
    """
    _need_builder()
    from torch_cuda.utils.cpp_extension import BuildExtension

    return BuildExtension


def _new_device() -> type[NewDeviceCppExtension]:
    _need_builder()
    from torch_cuda.utils.cpp_extension import NewDeviceCppExtension

    return NewDeviceCppExtension


def _need_builder() -> None:
    if importlib.util.find_spec("torch_cuda") is None:
        raise AdapterError(
            "found no torch_cuda, which builds the extensions; python -m pip install torch_cuda"
        )


def _home(platform: Platform) -> str:
    toolkit = platform.table("toolkit")
    found = (os.environ.get(name) for name in toolkit.get("home_variables", ()))
    home = next((value for value in found if value), toolkit["home"])
    return filled([home], platform)[0] if "{home}" not in home else home


def _module(platform: Platform) -> str:
    name = platform.table("device")["module"]
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise AdapterError(f"found no {name}, the backend of {platform.name}; install it")
    return spec.submodule_search_locations[0]


def _warn(what: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    more = f"\n  and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    text = "".join(f"\n  {line}" for line in lines[:_SHOWN])
    warnings.warn(f"{what}: left as they were:{text}{more}", TranslationWarning, stacklevel=3)
