"""Platforms that tests make up, and what tests ask of a translation."""

from __future__ import annotations

import pathlib
import tempfile

from torch_cuda_adapter import platforms
from torch_cuda_adapter.sources.rules import Rules
from torch_cuda_adapter.sources.tokenizer import SILENT, Token, tokenize
from torch_cuda_adapter.sources.translator import Translation

_HEAD = """
format = 1
name = "made-up"
summary = "a platform that a test makes up"
[device]
type = "made_up"
dispatch_key = "PrivateUse1"
module = "torch_made_up"
namespace = "torch.made_up"
"""


def rules(tables: str) -> Rules:
    """The rules of a made-up platform.

    Args:
        tables: TOML, the tables below `sources`.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "made-up.toml"
        path.write_text(_HEAD + tables, encoding="utf-8")
        return Rules(platforms.load(path))


def code(text: str) -> list[Token]:
    """The tokens of a text that a compiler sees."""
    return [token for token in tokenize(text) if token.kind not in SILENT]


def words(text: str) -> list[str]:
    """How they are spelled."""
    return [token.spelling for token in code(text)]


def times(text: str, part: str) -> int:
    """How often the tokens of a part stand in a text, one behind the other, blanks aside."""
    return f" {' '.join(words(text))} ".count(f" {' '.join(words(part))} ")


def reported(translation: Translation, source: str) -> set[int]:
    """Where in the source there are findings, as offsets."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return {starts[found.line - 1] + found.column - 1 for found in translation.findings}
