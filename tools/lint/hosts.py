"""The host names that this machine's package managers are configured with.

A mirror's name is the business of the machine that has it: in a file of this repository it would
be useless to others, and it may be private. Public registries are free to be named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

PUBLIC_DOMAINS = (
    "debian.org",
    "github.com",
    "localhost",
    "npmjs.org",
    "nvidia.com",
    "pypi.org",
    "python.org",
    "pythonhosted.org",
    "pytorch.org",
    "ubuntu.com",
    "yarnpkg.com",
)

# Keep in step with env_inherit in BUILD.bazel: a test sees no other variables.
VARIABLES = (
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NPM_CONFIG_REGISTRY",
    "PIP_EXTRA_INDEX_URL",
    "PIP_INDEX_URL",
    "http_proxy",
    "https_proxy",
    "npm_config_registry",
)

_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://(?:[^\s/@]*@)?([A-Za-z0-9.-]+)")


def configuration_files(home: Path, machine: Path = Path("/")) -> list[Path]:
    """Where pip, npm and apt keep the addresses that they use.

    Args:
        home: the user's home folder.
        machine: the root of the file system; another one in tests.
    """
    etc = machine / "etc"
    return [
        home / ".config/pip/pip.conf",
        home / ".pip/pip.conf",
        home / ".npmrc",
        etc / "pip.conf",
        etc / "npmrc",
        etc / "apt/sources.list",
        *sorted((etc / "apt/sources.list.d").glob("*.*")),
        *sorted((etc / "apt/apt.conf.d").glob("*")),
    ]


def configured(environ: Mapping[str, str], files: Iterable[Path]) -> set[str]:
    """Names of the hosts in the variables and files, without the public ones."""
    texts = [environ.get(name, "") for name in VARIABLES]
    for file in files:
        if file.is_file():
            texts.append(file.read_text(encoding="utf-8", errors="replace"))
    found = {match.lower().strip(".") for text in texts for match in _URL.findall(text)}
    return {host for host in found if host and not _is_public(host)}


def _is_public(host: str) -> bool:
    return host.startswith("127.") or any(
        host == domain or host.endswith("." + domain) for domain in PUBLIC_DOMAINS
    )


def pattern(hosts: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern that finds any of the hosts in a text, or None where there are none.

    A name without a dot is also a plain word, so it counts only in an address ("//name").
    """
    parts = [("" if "." in host else "//") + re.escape(host) for host in sorted(hosts)]
    if not parts:
        return None
    return re.compile(r"(?<![\w.-])(?:" + "|".join(parts) + r")(?![\w-])", re.IGNORECASE)
