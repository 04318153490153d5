"""Small PyTorch-like trees for tests."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping

from decouple.gaps import STRICT, Gaps
from decouple.tree import Tree

# The least that a folder needs to be a tree, with one list and one target of each build.
MINIMAL = {
    "version.txt": "2.6.0a0\n",
    "build_variables.bzl": 'core = ["torch/csrc/engine.cpp"]\nthings_cuda = ["torch/csrc/fast.cpp"]\n',
    "c10/CMakeLists.txt": "if(USE_CUDA)\n  add_subdirectory(cuda)\nendif()\n",
    "c10/cuda/CMakeLists.txt": "add_library(c10_cuda Stream.cpp Stream.h)\n",
    "c10/cuda/Stream.cpp": "#include <c10/cuda/Stream.h>\nint stream() { return 1; }\n",
    "c10/cuda/Stream.h": "#pragma once\n#include <c10/core/Device.h>\nint stream();\n",
    "c10/core/Device.h": "#pragma once\n",
    "cmake/public/utils.cmake": "function(nothing)\nendfunction()\n",
    "caffe2/CMakeLists.txt": (
        'append_filelist("core" CPU)\n'
        "add_library(torch_cpu ${CPU})\n"
        "if(USE_CUDA)\n"
        '  append_filelist("things_cuda" GPU)\n'
        '  file(GLOB kernels_cu "../aten/*.cu")\n'
        "  add_library(torch_cuda ${GPU} ${kernels_cu})\n"
        "endif()\n"
    ),
    "aten/add.cu": "__global__ void add() {}\n",
    "torch/csrc/engine.cpp": (
        "#ifdef USE_CUDA\n#include <c10/cuda/Stream.h>\n#endif\n"
        "int run() {\n#ifdef USE_CUDA\n  return stream();\n#else\n  return 0;\n#endif\n}\n"
    ),
    "torch/csrc/fast.cpp": "int fast() { return 2; }\n",
    "torch/nn.py": 'class Module:\n    def move(self):\n        return torch.cuda.stream("cuda:0")\n',
}


def make_tree(
    root: pathlib.Path,
    changes: Mapping[str, str | bytes | None] | None = None,
    gaps: Gaps = STRICT,
) -> Tree:
    """Writes the minimal tree below a folder and opens it.

    Args:
        root: an empty folder.
        changes: files to add or replace; None leaves one out.
        gaps: what cannot be read is reported there.
    """
    for path, content in {**MINIMAL, **(changes or {})}.items():
        if content is None:
            continue
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Tree(root, gaps)
