"""What the wheels of a release are made of, as CycloneDX 1.6 (ECMA-424)."""

from __future__ import annotations

import datetime
import json
import pathlib
import tomllib
import uuid
from collections.abc import Mapping, Sequence

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from tools.release.wheels import Wheel


class ComponentError(ValueError):
    """A component of a wheel whose version or licence is not known; the text says which, and where it is looked for."""


def components(table: pathlib.Path, versions: Mapping[str, str]) -> dict[str, list[Component]]:
    """Reads what is compiled or linked into the wheels.

    Args:
        table: components.toml, which says what its keys mean.
        versions: of components that have none there, by name.

    Returns:
        The components by the name of the wheel.

    Raises:
        ComponentError: a component has no version.
    """
    found: dict[str, list[Component]] = {}
    for entry in tomllib.loads(table.read_text(encoding="utf-8"))["component"]:
        version = entry.get("version") or versions.get(entry["name"])
        if not version:
            raise ComponentError(
                f"found no version of {entry['name']}; needed: a Debian package that has the static library, which "
                "third_party/linked asks for it. Build in the build root (./bazelw with TORCH_CUDA_ROOT unset)"
            )
        kind, _, rest = entry["purl"].partition("/")
        for wheel in entry["wheels"]:
            namespace, _, name = rest.rpartition("/")
            component = Component(
                name=entry["name"],
                version=version,
                type=ComponentType.LIBRARY,
                bom_ref=f"{wheel}/{entry['name']}",
                licenses=[LicenseFactory().make_from_string(entry["license"])],
                purl=PackageURL(kind.removeprefix("pkg:"), namespace or None, name, version),
            )
            found.setdefault(wheel, []).append(component)
    return found


def check_licences(table: pathlib.Path, wheels: Sequence[Wheel]) -> None:
    """Sees that each wheel has the text that each of its components' licences asks to hand on.

    Args:
        table: components.toml.
        wheels: all of the release.

    Raises:
        ComponentError: a wheel lacks a text, or has no more than a note that there is none.
    """
    for entry in tomllib.loads(table.read_text(encoding="utf-8"))["component"]:
        for wheel in wheels:
            if wheel.name not in entry["wheels"]:
                continue
            text = wheel.licences.get(entry["licence_file"], b"").decode("utf-8", "replace")
            if "opyright" not in text:
                raise ComponentError(
                    f"found no licence of {entry['name']} in {wheel.path.name}; needed: the text as "
                    f"licenses/{entry['licence_file']} of its dist-info (license_files of the wheel's target)"
                )


def text(wheels: Sequence[Wheel], parts: Mapping[str, Sequence[Component]], version: str) -> str:
    """Writes the bill of materials: each wheel as a component that depends on what it contains.

    Args:
        wheels: of the release.
        parts: what is in them, by the wheel's name.
        version: of the release.

    Returns:
        JSON. The same wheels give the same text: its number follows from theirs, its time is the epoch's.
    """
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_OID, " ".join(w.sha256 for w in wheels)))
    bom.metadata.timestamp = datetime.datetime.fromtimestamp(0, datetime.UTC)
    bom.metadata.component = Component(
        name="torch_cuda",
        version=version,
        type=ComponentType.FRAMEWORK,
        bom_ref="torch_cuda",
    )
    for wheel in wheels:
        component = Component(
            name=wheel.name,
            version=wheel.version,
            type=ComponentType.LIBRARY,
            bom_ref=wheel.path.name,
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=wheel.sha256)],
            licenses=[LicenseFactory().make_from_string(str(wheel.headers["License-Expression"]))],
            purl=PackageURL("pypi", None, wheel.name, wheel.version),
        )
        bom.components.add(component)
        inside = parts.get(wheel.name, ())
        bom.components.update(inside)
        bom.register_dependency(component, inside)
        bom.register_dependency(bom.metadata.component, [component])
    return (
        json.dumps(json.loads(JsonV1Dot6(bom).output_as_string()), indent=1, sort_keys=True) + "\n"
    )
