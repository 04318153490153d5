"""`BuildExtension`: upstream's setuptools command, which also builds the extensions of devices.

What upstream's does stays upstream's: the ABI check, the check of the CUDA version, the flags that
every torch extension needs, and extensions that no device described.
"""

from __future__ import annotations

import contextlib
import pathlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import setuptools  # type: ignore[import-untyped]
import torch.utils.cpp_extension as upstream

from torch_cuda.utils.cpp_extension import run
from torch_cuda.utils.cpp_extension.commands import (
    CompileRequest,
    compile_commands,
    device_compiler,
    preprocessor_flags,
)
from torch_cuda.utils.cpp_extension.description import DeviceDescription
from torch_cuda.utils.cpp_extension.extension import device_link_of, device_of


class BuildExtension(upstream.BuildExtension):
    """The ``build_ext`` command for extensions of torch, those of described devices included.

    Takes the same options as upstream's (``use_ninja``, ``no_python_abi_suffix``), and the environment
    variable ``MAX_JOBS`` limits the compilers that run at a time.
    """

    # Whether the compilers' commands are shown.
    verbose_compilers = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # With `build_ext --parallel` extensions are built in threads, with one compiler object.
        self._install_lock = threading.Lock()
        self._current = threading.local()

    def build_extensions(self) -> None:
        """Checks the toolkits of all devices, then builds (``setuptools.command.build_ext``).

        Raises:
          OSError: a compiler that is needed is missing.
          RuntimeError: the toolkit does not fit this torch, or a compiler failed.
        """
        checked: list[DeviceDescription] = []
        for extension in self.extensions:
            device = device_of(extension)
            if device is None or any(device is other for other in checked):
                continue
            if device_link_of(extension) is not None and not self.use_ninja:
                raise RuntimeError(
                    f"extension {extension.name}: found no ninja; needed to link device code "
                    "(dlink). To fix it: python -m pip install ninja"
                )
            if device.translate is not None or any(map(device.owns, extension.sources)):
                device_compiler(device)
                if device.check is not None:
                    device.check()
                checked.append(device)
        # Before upstream looks at the sources: where one is CUDA's, it wants a CUDA toolkit.
        with self._translations():
            super().build_extensions()

    def build_extension(self, ext: setuptools.Extension) -> None:
        """Builds one extension (``setuptools.command.build_ext``)."""
        if device_of(ext) is None:
            super().build_extension(ext)
            return
        with self._install_lock:
            self._install()
        self._current.extension = ext
        try:
            super().build_extension(ext)
        finally:
            self._current.extension = None

    def _folder(self, ext: setuptools.Extension) -> pathlib.Path:
        """Where objects go: two extensions may compile one source with different flags."""
        temporary: str = self.build_temp
        return pathlib.Path(temporary).absolute() / str(ext.name)

    @contextlib.contextmanager
    def _translations(self) -> Iterator[None]:
        """Puts translated sources in the place of those of the extensions, for a while."""
        original = [(extension, extension.sources) for extension in self.extensions]
        try:
            for extension, _ in original:
                extension.sources = self._translated(extension)
            yield
        finally:
            for extension, sources in original:
                extension.sources = sources

    def _translated(self, ext: setuptools.Extension) -> list[str]:
        device = device_of(ext)
        if device is None or device.translate is None:
            return list(ext.sources)
        folder = self._folder(ext) / "translated"
        folder.mkdir(parents=True, exist_ok=True)
        sources = [pathlib.Path(source).absolute() for source in ext.sources]
        translated = [str(path) for path in device.translate(sources, folder)]
        if len(translated) != len(sources):
            raise RuntimeError(
                f"extension {ext.name}: found {len(translated)} files from the translator of "
                f"device {device.name} for {len(sources)} sources; needed one for each"
            )
        return translated

    def _install(self) -> None:
        """Puts our compile step before the one that upstream has put on the compiler object."""
        original = self.compiler.compile
        if getattr(original, "compiles_devices", False):
            return

        def compile_(sources: Sequence[str], *args: Any, **options: Any) -> list[str]:
            extension = getattr(self._current, "extension", None)
            if extension is None:
                return list(original(sources, *args, **options))
            return self._compile(extension, sources, *args, **options)

        compile_.compiles_devices = True  # type: ignore[attr-defined]
        self.compiler.compile = compile_

    def _compile(
        self,
        extension: setuptools.Extension,
        sources: Sequence[str],
        *,
        macros: Sequence[Any] | None = None,
        include_dirs: Sequence[str] | None = None,
        debug: bool = False,
        **_: Any,
    ) -> list[str]:
        """Compiles one extension; called by setuptools in the place of its own compile step."""
        device = device_of(extension)
        assert device is not None
        request = CompileRequest(
            extension=extension,
            device=device,
            sources=sources,
            folder=self._folder(extension),
            preprocessor=preprocessor_flags(
                [*self.compiler.macros, *(macros or ())],
                [*(include_dirs or ()), *self.compiler.include_dirs],
            ),
            host_flags=self.compiler.compiler_so[1:],
            debug=bool(debug),
        )
        commands = compile_commands(request)
        runner: Callable[..., None] = run.with_ninja if self.use_ninja else run.in_turn
        runner(
            commands,
            request.folder,
            f"Error compiling objects for extension {extension.name}",
            verbose=self.verbose_compilers,
        )
        return [str(command.output) for command in commands]
