"""Puts data, style and script into one file that needs nothing else."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping
from typing import Any

_FOLDER = pathlib.Path(__file__).parent
_SCRIPTS = ("treemap.js", "graph.js", "sites.js", "page.js")


def render(data: Mapping[str, Any]) -> str:
    """The page as HTML.

    Args:
        data: what `page_data` collected.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    parts = {
        "{{style}}": _part("page.css"),
        "{{script}}": "\n".join(_part(name) for name in _SCRIPTS),
        # A script ends at the first "</": in a string of JSON it can be written another way.
        "{{data}}": text.replace("</", "<\\/"),
    }
    page = _part("page.html")
    for mark, content in parts.items():
        before, _, after = page.partition(mark)
        page = before + content + after
    return page


def _part(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
