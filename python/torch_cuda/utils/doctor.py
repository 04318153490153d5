"""``python -m torch_cuda doctor``: what is installed, what was found, whether CUDA is active.

Unlike activation it does not stop at the first thing that is wrong, and it reads every file of the
wheel to compare its hash.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import dataclasses
import hashlib
import importlib
import os
import pathlib
import sys
import warnings
from collections.abc import Iterable, Iterator

from torch_cuda import _activation, _build, _checks, _libraries, _plugins, _runtime
from torch_cuda._errors import ActivationError, ActivationWarning

OK = "ok"
WRONG = "WRONG"
INFO = ""


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the report.

    Attributes:
      status: `OK`, `WRONG`, or `INFO` for what is neither.
      subject: what the line is about, a few words.
      text: what was found, possibly several lines.
    """

    status: str
    subject: str
    text: str


def examine() -> list[Row]:
    """Looks at everything that activation depends on.

    Imports torch, which activates the plugin if it can be activated. The warning of a failed
    activation is caught: its content is in the report.

    Returns:
      The report; torch_cuda is active exactly when the last row is `OK`.
    """
    try:
        build = _build.build_info()
    except ActivationError as error:
        return [Row(WRONG, "wheel", str(error)), _outcome()]
    rows = list(_versions(build))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ActivationWarning)
        try:
            torch = importlib.import_module("torch")
        except (ImportError, OSError, RuntimeError) as error:
            rows.append(Row(WRONG, "torch", f"cannot be imported: {error}"))
            return [*rows, _outcome()]
    rows.append(Row(INFO, "torch", f"{torch.__version__} in {torch.__path__[0]}"))
    rows += _check_rows(_checks.Installation(build, _build.package_folder(), torch))
    rows += _hashes(_build.package_folder())
    rows += _library_rows(build)
    rows += _device_rows()
    rows += _plugin_rows()
    return [*rows, _outcome()]


def _versions(build: _build.BuildInfo) -> Iterator[Row]:
    parts = [f"CUDA {build.cuda_version}", f"ops {build.ops}", ", ".join(build.cuda_archs)]
    parts += ["cuDNN"] if build.cudnn else []
    parts += [f"attention kernels: {build.attention}"] if build.attention != "none" else []
    yield Row(INFO, "torch_cuda", f"{build.version} in {_build.package_folder()}")
    yield Row(INFO, "built with", "; ".join(parts))
    yield Row(INFO, "built for", f"torch {build.torch_version}, Python {build.python_tag}")
    yield Row(INFO, "Python", f"{sys.version.split()[0]} ({sys.executable})")
    for name in (
        _activation.DISABLE_VARIABLE,
        "TORCH_DEVICE_BACKEND_AUTOLOAD",
        _libraries.PATH_VARIABLE,
        _runtime.SIM_VARIABLE,
        _runtime.DEVICES_VARIABLE,
        "CUDA_VISIBLE_DEVICES",
        "LD_LIBRARY_PATH",
    ):
        if name in os.environ:
            yield Row(INFO, "environment", f"{name}={os.environ[name]}")


def _check_rows(installation: _checks.Installation) -> Iterator[Row]:
    for title, check in _checks.CHECKS:
        if check is _checks.check_torch_is_cpu_only and _activation.is_active():
            # It has CUDA by now: ours.
            continue
        try:
            check(installation)
            yield Row(OK, title, "as needed")
        except ActivationError as error:
            yield Row(WRONG, title, str(error))


def _hashes(package: pathlib.Path) -> Iterator[Row]:
    files = _checks.recorded_files(package)
    if not files:
        yield Row(INFO, "hashes", f"no RECORD beside {package.name}: not installed from a wheel")
        return
    wrong = [file.path.name for file in files if file.digest and not _is_intact(file)]
    if wrong:
        yield Row(
            WRONG,
            "hashes",
            f"other contents than at installation: {', '.join(wrong)}\n"
            f"To fix it: {_build.reinstall_command(_build.build_info().version, package.name)}",
        )
    else:
        yield Row(OK, "hashes", f"{len(files)} files of {package.name}")


def _is_intact(file: _checks.RecordedFile) -> bool:
    algorithm, _, expected = file.digest.partition("=")
    try:
        with file.path.open("rb") as contents:
            found = hashlib.file_digest(contents, algorithm).digest()
    except OSError:
        return False
    return base64.urlsafe_b64encode(found).rstrip(b"=").decode() == expected


def _library_rows(build: _build.BuildInfo) -> Iterator[Row]:
    for soname in _libraries.in_load_order(build.cuda_libraries):
        package = build.cuda_libraries[soname]
        try:
            library = _libraries.load(soname, package, os.environ, sys.path)
            path = library.path or mapped_file(soname) or "unknown place"
            text = f"{path} ({library.origin})"
            if _libraries.stem(soname) == "libcudart":
                major, minor = _libraries.runtime_version(library.handle)
                text = f"CUDA {major}.{minor}, {text}"
            _libraries.check_version(library, build)
            yield Row(OK, soname, text)
        except (OSError, ActivationError) as error:
            late = soname in _libraries.needed_on_first_use(build.cuda_libraries)
            note = " (needed only once a GPU is used)" if late else ""
            fix = f"\nTo get it: python -m pip install {package}"
            yield Row(INFO if late else WRONG, soname, f"{error}{note}{fix}")


def mapped_file(soname: str) -> pathlib.Path | None:
    """The file that a loaded library was mapped from.

    Args:
      soname: such as "libcudart.so.12".

    Returns:
      Its path, or None where the system does not say (Linux does, in /proc/self/maps).
    """
    name = f"{_libraries.stem(soname)}.so"
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
            path = pathlib.Path(line[line.find("/") :]) if "/" in line else pathlib.Path()
            if path.name == name or path.name.startswith(f"{name}."):
                return path
    return None


def _device_rows() -> Iterator[Row]:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        version = ctypes.c_int(0)
        driver.cuDriverGetVersion(ctypes.byref(version))
        major, minor = version.value // 1000, version.value % 1000 // 10
        place = mapped_file("libcuda.so.1") or "unknown place"
        yield Row(INFO, "driver", f"for CUDA up to {major}.{minor}, {place}")
    except (OSError, AttributeError) as error:
        yield Row(INFO, "driver", f"none ({error}); CUDA calls will say that there is no GPU")
    if _activation.is_active():
        cuda = importlib.import_module("torch").cuda
        with warnings.catch_warnings():
            # Where there is a driver but no GPU, torch complains about NVML.
            warnings.simplefilter("ignore")
            count = cuda.device_count()
        names = [f"{index}: {cuda.get_device_name(index)}" for index in range(count)]
        yield Row(INFO, "devices", "\n".join(names) or "none")


def _plugin_rows() -> Iterator[Row]:
    for plugin in _activation.plugins():
        text = f"{plugin.version}, {plugin.why_inactive or 'active'}"
        yield Row(OK if plugin.active else WRONG, plugin.name, text)
        package = _plugins.package_folder(plugin.name)
        if package is not None and plugin.active:
            yield from _hashes(package)


def _outcome() -> Row:
    reason = _activation.why_inactive()
    return Row(OK, "active", "yes") if reason is None else Row(WRONG, "active", f"no: {reason}")


def render(rows: Iterable[Row]) -> str:
    """Sets the report as a table for people.

    Args:
      rows: the report.

    Returns:
      One line a row: status, subject, text; further lines of a text are indented under its first.
    """
    rows = list(rows)
    status = max(len(row.status) for row in rows)
    subject = max(len(row.subject) for row in rows)
    lines = []
    for row in rows:
        first, *rest = row.text.splitlines() or [""]
        lines.append(f"{row.status:{status}}  {row.subject:{subject}}  {first}".rstrip())
        lines += [" " * (status + subject + 4) + line for line in rest]
    return "\n".join(lines)


def main() -> int:
    """Prints the report.

    Returns:
      Exit code: 0 when torch_cuda is active, 1 when it is off.
    """
    print(render(examine()))
    return 0 if _activation.is_active() else 1
