"""Translates C++ and CUDA sources to the names of another platform: docs/adapter.md.

    rules = Rules(platforms.load("musa"))
    files = translate_files(["kernel.cu"], rules, out="translated")
    write(files)

`python -m torch_cuda_adapter.sources` does the same; `extension` builds extensions with it.
"""

from __future__ import annotations

from torch_cuda_adapter.sources.cache import Cache
from torch_cuda_adapter.sources.files import TranslatedFile, translate_files, write
from torch_cuda_adapter.sources.flags import translate_flags, translate_libraries
from torch_cuda_adapter.sources.report import Finding, Severity
from torch_cuda_adapter.sources.rules import Rules
from torch_cuda_adapter.sources.translator import Translation, translate

__all__ = [
    "Cache",
    "Finding",
    "Rules",
    "Severity",
    "TranslatedFile",
    "Translation",
    "translate",
    "translate_files",
    "translate_flags",
    "translate_libraries",
    "write",
]
