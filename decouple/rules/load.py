"""Reads rules: what makes code a device's code, as YAML that users can extend."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from decouple.cpp.conditions import Macros
from decouple.errors import DecoupleError
from decouple.rules import schema

_FOLDER = pathlib.Path(__file__).parent
_PYTHON_FORMS = ("dotted", "import", "attribute", "string")


@dataclasses.dataclass(frozen=True, slots=True)
class FileRule:
    """A rule about whole files; any of its conditions is enough."""

    id: str
    suffixes: tuple[str, ...]
    folders: frozenset[str]
    names: tuple[re.Pattern[str], ...]

    def match(self, path: str) -> str:
        """What makes the file a device's, for people; empty where nothing does."""
        *folders, name = path.split("/")
        for suffix in self.suffixes:
            if name.endswith(suffix):
                return f"suffix {suffix}"
        for folder in folders:
            if folder in self.folders:
                return f"folder {folder}"
        for pattern in self.names:
            if pattern.fullmatch(name):
                return f"name {name}"
        return ""


@dataclasses.dataclass(frozen=True, slots=True)
class TextRule:
    """A rule about pieces of text, of C++ or of CMake."""

    id: str
    pattern: re.Pattern[str]
    otherwise: bool = False
    """Whether it only holds for lines that no rule before it matched."""

    @property
    def in_strings(self) -> bool:
        """Whether it is about string literals: then its pattern has their quotes."""
        return '"' in self.pattern.pattern


@dataclasses.dataclass(frozen=True, slots=True)
class PythonRule:
    """A rule about names and strings of Python."""

    id: str
    form: str
    """dotted, import, attribute or string."""
    pattern: re.Pattern[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Supplement:
    """A file that a device needs and that no #include names."""

    path: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Generated:
    """Where a header that the build writes comes from."""

    header: re.Pattern[str]
    sources: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Rules:
    """All rules for one device."""

    device: str
    words: tuple[str, ...]
    """In lower case; a line that a rule about C++ or Python can match in has one of them."""
    macros: Macros
    """Macros that the build sets for the device: code under them can be cut out."""
    compiler_macros: Macros
    """Macros that the device's compiler and headers set."""
    foreign_macros: Macros
    """Macros of other devices."""
    files: tuple[FileRule, ...]
    foreign_files: tuple[re.Pattern[str], ...]
    """Paths of other devices' code, in which no rule but the build's lists finds anything."""
    lists: tuple[re.Pattern[str], ...]
    """Names of the lists of build_variables.bzl that are the device's."""
    cmake_files: tuple[str, ...]
    optional: tuple[str, ...]
    """Folders that CMake files add and that are not in every tree."""
    definitions: Mapping[str, str]
    """CMake variables of every build."""
    device_definitions: Mapping[str, str]
    """CMake variables of a build for the device."""
    cpp: tuple[TextRule, ...]
    cmake: tuple[TextRule, ...]
    python: tuple[PythonRule, ...]
    supplements: tuple[Supplement, ...]
    generated: tuple[Generated, ...]
    include_roots: tuple[str, ...]
    skip: tuple[str, ...]

    def is_foreign(self, path: str) -> bool:
        """Whether a file is another device's code."""
        return any(pattern.fullmatch(path) for pattern in self.foreign_files)


def devices() -> list[str]:
    """The devices that have rules here."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml") if path.stem != "common")


def load(device: str, files: Sequence[pathlib.Path] = ()) -> Rules:
    """The rules for a device.

    Args:
        device: its name, such as "cuda". It has rules here, or in one of the files.
        files: YAML files of the user, laid over the rules here in order: mappings are merged, lists appended.

    Raises:
        DecoupleError: a file cannot be read or has a rule that cannot be used; no file has rules for the device.
    """
    content = _read(_FOLDER / "common.yaml")
    own = _FOLDER / f"{device}.yaml"
    sources = [own] if device in devices() else []
    for file in files:
        declared = _read(file).get("device", device)
        if declared != device:
            raise DecoupleError(
                f"has rules for {declared}, not for {device}; run with --device {declared}.",
                path=str(file),
            )
        sources.append(file)
    if not sources:
        raise DecoupleError(
            f"there are no rules for the device '{device}'; known: {', '.join(devices())}. "
            "For another one, name a file with --rules."
        )
    for source in sources:
        content = _merge(content, _read(source))
    if not content.get("words"):
        raise DecoupleError(
            f"has no words: those that lines of {device} have, in lower case.",
            path=str(sources[-1]),
        )
    return _rules(device, content)


def _read(file: pathlib.Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
        content = yaml.safe_load(text)
    except OSError as error:
        raise DecoupleError(f"cannot be read: {error.strerror}.", path=str(file)) from None
    except UnicodeDecodeError as error:
        raise DecoupleError(f"is not UTF-8: {error.reason}.", path=str(file), line=1) from None
    except RecursionError:
        raise DecoupleError("is nested too deep to be a file of rules.", path=str(file)) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or "it cannot be parsed"
        raise DecoupleError(
            f"is not YAML: {reason}.", path=str(file), line=mark.line + 1 if mark else 1
        ) from None
    schema.check(text, str(file))
    if not isinstance(content, dict):
        raise TypeError(f"{file} was checked and is no mapping")
    return content


def _merge(below: Any, above: Any) -> Any:
    """Lays one value over another: mappings are merged, lists appended, anything else replaced."""
    if isinstance(below, dict) and isinstance(above, dict):
        merged = {**below}
        for key, value in above.items():
            merged[key] = _merge(below[key], value) if key in below else value
        return merged
    if isinstance(below, list) and isinstance(above, list):
        return [*below, *above]
    return above


def _rules(device: str, content: Mapping[str, Any]) -> Rules:
    macros = content.get("macros", {})
    build = content["build"]
    return Rules(
        device=device,
        words=tuple(word.lower() for word in content["words"]),
        macros=Macros(frozenset(macros.get("build", ())), frozenset(macros.get("calls", ()))),
        compiler_macros=Macros(frozenset(macros.get("compiler", ()))),
        foreign_macros=Macros(frozenset(macros.get("foreign", ()))),
        files=tuple(
            FileRule(
                rule["id"],
                tuple(rule.get("suffixes", ())),
                frozenset(rule.get("folders", ())),
                _patterns(rule.get("names", ())),
            )
            for rule in content.get("files", ())
        ),
        foreign_files=_patterns(content.get("foreign_files", ())),
        lists=_patterns(content.get("lists", ())),
        cmake_files=tuple(build["files"]),
        optional=tuple(build["optional"]),
        definitions={key: str(value) for key, value in build["definitions"].items()},
        device_definitions={key: str(value) for key, value in build["device"].items()},
        cpp=_text_rules(content.get("cpp", ())),
        cmake=_text_rules(content.get("cmake", ())),
        python=tuple(_python_rule(rule) for rule in content.get("python", ())),
        supplements=tuple(
            Supplement(rule["path"], rule["reason"]) for rule in content["supplements"]
        ),
        generated=tuple(
            Generated(re.compile(rule["header"]), tuple(rule["from"]))
            for rule in content["generated"]
        ),
        include_roots=tuple(content["include_roots"]),
        skip=tuple(content["skip"]),
    )


def _patterns(texts: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(text) for text in texts)


def _text_rules(rules: Sequence[Mapping[str, Any]]) -> tuple[TextRule, ...]:
    return tuple(
        TextRule(rule["id"], re.compile(rule["pattern"]), rule.get("otherwise", False))
        for rule in rules
    )


def _python_rule(rule: Mapping[str, str]) -> PythonRule:
    for form in _PYTHON_FORMS:
        if form in rule:
            return PythonRule(rule["id"], form, re.compile(rule[form]))
    raise ValueError(f"the Python rule {rule['id']} needs one of {', '.join(_PYTHON_FORMS)}")
