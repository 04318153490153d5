"""The jobs of docs/ci.md: what a CI service would run."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from typing import Any

import yaml

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "ci.md"
_BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Job:
    """A job.

    Attributes:
        service: "github" or "gitlab".
        environment: the variables that it sets.
        scripts: what its shells run, in order.
        actions: of others, that come before.
    """

    service: str
    environment: dict[str, str]
    scripts: tuple[str, ...]
    actions: tuple[str, ...] = ()


def read(text: str) -> list[Job]:
    """Reads the jobs of a page.

    Args:
        text: Markdown, whose YAML is one job each.
    """
    return [_job(yaml.safe_load(block)) for block in _BLOCK.findall(text)]


def _job(content: dict[str, Any]) -> Job:
    if "jobs" in content:
        (job,) = content["jobs"].values()
        steps = job["steps"]
        return Job(
            "github",
            job["env"],
            tuple(step["run"] for step in steps if "run" in step),
            tuple(step["uses"] for step in steps if "uses" in step),
        )
    (job,) = content.values()
    return Job("gitlab", job["variables"], ("\n".join(job["script"]),))
