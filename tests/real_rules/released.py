"""The released rules, and how Bazel is told to take them instead of the substitutes of third_party/modules.

What the released rules ask for besides is on a closed network only in the versions that Debian has: a registry beside
third_party/registry offers these under the numbers that are asked for. Debian's rules_python has no `python/cc`; a view
of it has one, with the headers of the Python that runs this.
"""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

# What the MODULE.bazel of each asks for and third_party/registry does not have: module, version asked for, version of
# third_party/registry that is taken for it.
ASKED_FOR = (
    ("bazel_skylib", "1.4.2", "1.9.1"),
    ("platforms", "0.0.6", "0.0.10"),
    ("rules_cc", "0.0.9", "0.0.11"),
    ("rules_cc", "0.2.14", "0.0.11"),
    ("rules_python", "0.34.0", "0.22.1"),
)
MODULES = ("pybind11_bazel", "rules_cuda")

_PYTHON_CC = '''"""The headers of the machine's Python."""

cc_library(
    name = "current_py_cc_headers",
    hdrs = glob(["include/**/*.h"]),
    includes = ["include"],
    visibility = ["//visibility:public"],
)
'''
_PYBIND11 = "pybind11_bazel~~internal_configure_extension~pybind11"


def write_registry(workspace: Path, folder: Path) -> str:
    """Writes the registry of what the released rules ask for; returns its address."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    ours = workspace / "third_party/registry"
    folder.joinpath("bazel_registry.json").write_text("{}", encoding="utf-8")
    for name, version, ours_has in ASKED_FOR:
        source = ours / "modules" / name / ours_has
        target = folder / "modules" / name / version
        target.mkdir(parents=True)
        module = source.joinpath("MODULE.bazel").read_text(encoding="utf-8")
        module = module.replace(f'version = "{ours_has}"', f'version = "{version}"', 1)
        target.joinpath("MODULE.bazel").write_text(module, encoding="utf-8")
        shutil.copy(source / "source.json", target)
    return folder.as_uri()


def write_rules_python(folder: Path) -> Path:
    """Makes a view of Debian's rules_python with a package python/cc; returns it."""
    original = Path("/usr/share/bazel/rules/python")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "python/cc").mkdir(parents=True)
    for entry in original.iterdir():
        if entry.name != "python":
            (folder / entry.name).symlink_to(entry)
    for entry in (original / "python").iterdir():
        (folder / "python" / entry.name).symlink_to(entry)
    (folder / "python/cc/BUILD.bazel").write_text(_PYTHON_CC, encoding="utf-8")
    (folder / "python/cc/include").symlink_to(sysconfig.get_path("include"))
    return folder


def write_pybind11(folder: Path, build_file: Path) -> Path:
    """Makes the repository @pybind11 from the machine's headers and pybind11_bazel's own BUILD file; returns it."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "include").mkdir(parents=True)
    (folder / "include/pybind11").symlink_to("/usr/include/pybind11")
    shutil.copy(build_file, folder / "BUILD.bazel")
    for name in ("LICENSE", "WORKSPACE"):
        (folder / name).touch()
    return folder


def options(workspace: Path, work: Path, folder: Path) -> list[str]:
    """Returns the options with which Bazel takes the released rules.

    Args:
        workspace: root of this repository.
        work: folder to write to; what is there already is written anew.
        folder: has the released rules, unpacked, each in a folder of its module's name.
    """
    work.mkdir(parents=True, exist_ok=True)
    build_file = folder / "pybind11_bazel/pybind11-BUILD.bazel"
    return [
        f"--registry={(workspace / 'third_party/registry').as_uri()}",
        f"--registry={write_registry(workspace, work / 'registry')}",
        *(f"--override_module={name}={folder / name}" for name in MODULES),
        # Debian's Bazel overrides this module itself; the last one counts.
        f"--override_module=rules_python={write_rules_python(work / 'rules_python')}",
        f"--override_repository={_PYBIND11}={write_pybind11(work / 'pybind11', build_file)}",
    ]
