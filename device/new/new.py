"""Writes the Bazel package of a new device, which builds outside of this repository.

./bazelw run //device:new -- NAME --out DIR
"""

from __future__ import annotations

import argparse
import keyword
import os
import pathlib
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence

# The name that the template's files have in the place of the device's.
PLACEHOLDER = "acme"
TORCH_CUDA = "@TORCH_CUDA@"
# What is named so in the template because it would have an effect there.
SUFFIX = ".template"
# Begins what only the template needs.
_CUT = "\n# Only in the template"

# C and C++ would not take them for a namespace or a variable.
_RESERVED = frozenset(
    [
        "alignas",
        "alignof",
        "and",
        "asm",
        "auto",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "class",
        "compl",
        "concept",
        "const",
        "constexpr",
        "continue",
        "decltype",
        "default",
        "delete",
        "do",
        "double",
        "dynamic_cast",
        "else",
        "enum",
        "explicit",
        "export",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "mutable",
        "namespace",
        "new",
        "noexcept",
        "not",
        "nullptr",
        "operator",
        "or",
        "private",
        "protected",
        "public",
        "register",
        "reinterpret_cast",
        "requires",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "static_assert",
        "static_cast",
        "struct",
        "switch",
        "template",
        "this",
        "thread_local",
        "throw",
        "true",
        "try",
        "typedef",
        "typeid",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "wchar_t",
        "while",
        "xor",
    ]
)
# Devices, and namespaces of PyTorch's.
_TAKEN = frozenset(
    [
        "aten",
        "at",
        "c10",
        "caffe2",
        "cpu",
        "cuda",
        "detail",
        "fake",
        "impl",
        "meta",
        "native",
        "nvidia",
        "ops",
        "prim",
        "prims",
        "profiler",
        "pu",
        "quantized",
        "sim",
        "std",
        "torch",
        "torch_cuda",
        "torchvision",
    ]
)


class UsageError(Exception):
    """What was asked for cannot be done: what was found, what is needed."""


def check_name(name: str) -> None:
    """Checks the name of a device.

    Args:
      name: for files, for a C++ namespace, for `torch.ops.NAME`, and for TORCH_CUDA_DEVICES.

    Raises:
      UsageError: it is none.
    """
    if not re.fullmatch(r"[a-z]([a-z0-9_]*[a-z0-9])?", name) or "__" in name:
        raise UsageError(
            f"found the name {name!r}; needed lower-case letters, digits and single underscores, "
            "a letter first, such as my_npu"
        )
    if name in _RESERVED or keyword.iskeyword(name):
        raise UsageError(f"found the name {name!r}, a word of C, C++ or Python; take another one")
    if name in _TAKEN:
        raise UsageError(f"found the name {name!r}, which is taken; take another one")
    if len(name) > 64:
        raise UsageError(f"found a name of {len(name)} letters; needed at most 64")


def instantiate(template: Mapping[str, str], name: str, torch_cuda: pathlib.Path) -> dict[str, str]:
    """Makes the files of a device from the template's.

    Args:
      template: texts by path in the template.
      name: of the device.
      torch_cuda: the checkout of torch_cuda that MODULE.bazel will name.

    Returns:
      Texts by path in the new package.
    """
    files = {}
    for path, text in template.items():
        text = text.partition(_CUT)[0].rstrip("\n") + "\n"
        text = re.sub(rf"(?<![a-z]){PLACEHOLDER}(?![a-z])", name, text)
        path = re.sub(rf"(?<![a-z]){PLACEHOLDER}(?![a-z])", name, path)
        files[path.removesuffix(SUFFIX)] = text.replace(TORCH_CUDA, str(torch_cuda))
    return files


def write(files: Mapping[str, str], folder: pathlib.Path) -> None:
    """Writes files into a folder that is not there, or empty: all of them or none.

    Args:
      files: texts by path.
      folder: the new one.

    Raises:
      UsageError: the folder has something in it, or cannot be written.
    """
    if folder.is_symlink() or folder.exists():
        if not folder.is_dir() or folder.is_symlink():
            raise UsageError(
                f"found {folder}, which is not a folder; needed a folder that is empty or does not exist"
            )
        if any(folder.iterdir()):
            raise UsageError(
                f"found {folder}, which is not empty; needed a folder that is empty or does not exist"
            )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = pathlib.Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error}; take another --out") from error
    try:
        for path, text in files.items():
            target = temporary / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            if text.startswith("#!"):
                target.chmod(0o755)
        temporary.chmod(0o755)
        # An empty folder is replaced; one that got something in it meanwhile is not.
        temporary.rename(folder)
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error}; take another --out") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def read_template(folder: pathlib.Path) -> dict[str, str]:
    """Reads the template.

    Args:
      folder: of its files.

    Returns:
      Texts by path in the folder.
    """
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the package, and says what to do next.

    Args:
      argv: NAME --out DIR; the process's own arguments if None.

    Returns:
      The exit status.
    """
    parser = argparse.ArgumentParser(prog="//device:new", description=__doc__)
    parser.add_argument("name", help="of the device, such as my_npu")
    parser.add_argument(
        "--out", type=pathlib.Path, required=True, help="a folder that is empty or not there"
    )
    parser.add_argument(
        "--torch_cuda",
        type=pathlib.Path,
        default=os.environ.get("BUILD_WORKSPACE_DIRECTORY"),
        help="the checkout of torch_cuda to build with (this one)",
    )
    arguments = parser.parse_args(argv)
    # `bazel run` starts programs elsewhere.
    here = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    folder = pathlib.Path(os.path.normpath((here / arguments.out).absolute()))
    template = pathlib.Path(__file__).parent / "template"
    try:
        if arguments.torch_cuda is None or not (here / arguments.torch_cuda / "bazelw").is_file():
            raise UsageError(
                f"found no torch_cuda in {arguments.torch_cuda}; needed --torch_cuda=CHECKOUT"
            )
        check_name(arguments.name)
        torch_cuda = pathlib.Path(os.path.normpath((here / arguments.torch_cuda).absolute()))
        if folder.is_relative_to(torch_cuda):
            raise UsageError(
                f"found {folder}, which is inside of torch_cuda; needed a folder outside, such as "
                f"--out={torch_cuda.parent / arguments.name}"
            )
        write(instantiate(read_template(template), arguments.name, torch_cuda), folder)
    except UsageError as error:
        print(f"//device:new: {error}", file=sys.stderr)
        return 1
    print(f"{folder}: the device {arguments.name}. README.md says what is in it; .ci/run tests it.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
