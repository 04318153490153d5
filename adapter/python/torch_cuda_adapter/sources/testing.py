"""Platforms that tests make up."""

from __future__ import annotations

import pathlib
import tempfile

from torch_cuda_adapter import platforms
from torch_cuda_adapter.sources.rules import Rules

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
