"""Where a wheel lies: the simple API of the package indexes that pip is configured to ask on this machine (PEP 503, 691).

pip itself can only say so by downloading the wheel; it does that where no index here tells.
"""

from __future__ import annotations

import ast
import base64
import html.parser
import importlib
import json
import pathlib
import re
import ssl
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
_TIMEOUT_SECONDS = 60.0


class PipError(Exception):
    """pip downloads no such wheel; the message has its words."""


class NotFoundError(Exception):
    """No index says where the wheel is; the message has the reason."""


@dataclass(frozen=True)
class Wanted:
    """A wheel of one system and one Python.

    Attributes:
        requirement: `NAME==VERSION`.
        python_version: such as `3.13`.
        platforms: the platform tags that are accepted, such as `manylinux_2_28_x86_64`.
    """

    requirement: str
    python_version: str
    platforms: Sequence[str]

    def project(self) -> str:
        """The name as indexes have it (PEP 503)."""
        return _normal(self.requirement.partition("==")[0])

    def is_file(self, name: str) -> bool:
        """Whether this is the name of a wheel that is wanted."""
        parts = name.removesuffix(".whl").split("-")
        if not name.endswith(".whl") or len(parts) not in (5, 6):
            return False
        python, abi, platform = (set(part.split(".")) for part in parts[-3:])
        mine = "cp" + self.python_version.replace(".", "")
        older = {tag for tag in python if tag.startswith("cp3") and int(tag[2:]) <= int(mine[2:])}
        return (
            _normal(parts[0]) == self.project()
            and parts[1] == self.requirement.partition("==")[2]
            and bool(python & {mine, "py3"} or (older and "abi3" in abi))
            and bool(abi & {mine, "abi3", "none"})
            and bool(platform & {*self.platforms, "any"})
        )


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pip", *arguments], check=False, capture_output=True, text=True
    )


def settings() -> dict[str, str]:
    """pip's own settings on this machine; those of the environment before those of files."""
    found: dict[str, str] = {}
    for line in _pip("config", "list").stdout.splitlines():
        key, _, value = line.partition("=")
        section, _, name = key.partition(".")
        name = name.lstrip(".")
        if section == ":env:" or name not in found:
            found[name] = str(ast.literal_eval(value))
    return found


class _Links(html.parser.HTMLParser):
    """The links of an index's page, by the names that it shows."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Takes the target of a link; its last part is the file's name."""
        target = dict(attrs).get("href")
        if tag == "a" and target:
            address = urllib.parse.urldefrag(target).url
            self.found[urllib.parse.unquote(address.rpartition("/")[2])] = address


def links(page: bytes, content_type: str) -> dict[str, str]:
    """The addresses on an index's page of one project, by file name."""
    if "json" in content_type:
        return {file["filename"]: file["url"] for file in json.loads(page)["files"]}
    parser = _Links()
    parser.feed(page.decode("utf-8"))
    return parser.found


def _page(index: str, project: str, context: ssl.SSLContext) -> dict[str, str]:
    """The addresses of a project's files at one index, by file name."""
    parts = urllib.parse.urlsplit(index.rstrip("/") + f"/{project}/")
    headers = {"Accept": _ACCEPT}
    if parts.username is not None:
        login = urllib.parse.unquote(f"{parts.username}:{parts.password or ''}").encode()
        headers["Authorization"] = "Basic " + base64.b64encode(login).decode()
    address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    request = urllib.request.Request(address, headers=headers)
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS, context=context) as response:
        files = links(response.read(), response.headers.get("Content-Type", ""))
        return {name: urllib.parse.urljoin(response.url, link) for name, link in files.items()}


def _indexes(pip: Mapping[str, str]) -> Iterable[str]:
    # Only pip knows its own default, and it tells that to its own code alone.
    default = importlib.import_module("pip._internal.models.index").PyPI.simple_url
    yield pip.get("index-url", default)
    yield from pip.get("extra-index-url", "").split()


def find(wanted: Wanted, pip: Mapping[str, str], context: ssl.SSLContext) -> str:
    """Returns the wheel's address.

    Args:
        wanted: the wheel.
        pip: pip's settings.
        context: the certificates to accept.

    Raises:
        NotFoundError: no index that pip is configured with says it.
    """
    reasons = []
    for index in _indexes(pip):
        if not index.startswith(("http://", "https://")):
            continue
        try:
            files = _page(index, wanted.project(), context)
        except (OSError, ValueError, KeyError) as error:
            reasons.append(str(error))
            continue
        for name, address in sorted(files.items()):
            if wanted.is_file(name):
                return address
        reasons.append(f"{len(files)} files of {wanted.project()}, none of them it")
    raise NotFoundError("; ".join(reasons) or "pip is configured with no index of the network")


def download(wanted: Wanted, folder: pathlib.Path) -> pathlib.Path:
    """Has pip download the whole wheel into a folder, and returns where it is.

    Raises:
        PipError: pip cannot download it.
    """
    result = _pip(
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--implementation=cp",
        f"--python-version={wanted.python_version}",
        *(f"--platform={platform}" for platform in wanted.platforms),
        f"--dest={folder}",
        wanted.requirement,
    )
    wheels = list(folder.glob("*.whl"))
    if result.returncode or not wheels:
        raise PipError(
            f"pip finds no wheel of {wanted.requirement} for Python {wanted.python_version} on "
            f"{', '.join(wanted.platforms)}: {result.stderr.strip()}\n"
            "Give pip an index that has it (PIP_INDEX_URL; PIP_CERT for a certificate of your own)."
        )
    return wheels[0]
