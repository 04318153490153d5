"""The layer order of docs/architecture.md, and a check of a dependency graph against it.

Layers are folders of this repository. The graph comes from the rule in graph.bzl; nothing
here runs Bazel.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterable, Mapping

from decouple.plan import owners

_OWNERS = pathlib.Path(__file__).absolute().parents[2] / "upstream" / "owners.bzl"

# Layers that hold files of upstream's, each with the layers that it may name in its deps.
_UPSTREAMS: Mapping[str, frozenset[str]] = owners.read(_OWNERS).layers

# All layers: those, and what is ours alone.
LAYERS: Mapping[str, frozenset[str]] = {
    **_UPSTREAMS,
    "device/abi": frozenset(),
    "device/host": frozenset(),
    "runtime/code/ptx": frozenset(),
    "runtime": frozenset({"device/abi", "device/host", "runtime/code/ptx"}),
    # The package at the top of the room, which packs the wheel and hands on no code.
    "runtime wheel": frozenset({"device", "router/operators", "runtime"}),
    "device": frozenset(
        {
            "device/abi",
            "device/errors",
            "device/host_streams",
            "device/host",
        }
    ),
    "device/host_streams": frozenset({"device/abi"}),
    "device/errors": frozenset({"device/abi", "device/host"}),
    "cudasim/ptx": frozenset({"runtime/code/ptx"}),
    "cudasim/native": frozenset(),
    "cudasim/engine": frozenset({"runtime/code/ptx", "cudasim/native", "cudasim/ptx"}),
    "cudasim/backend": frozenset(
        {
            "device/abi",
            "device/errors",
            "device/host",
            "cudasim/engine",
            "cudasim/ptx",
        }
    ),
    "router/aliasing": frozenset(),
    "router/import_slots": frozenset(),
    "router/composites": frozenset(),
    "router/facade": frozenset({"router/aliasing"}),
    "router/operators": frozenset(
        {
            "device/abi",
            "router/aliasing",
            "router/composites",
            "c10_cuda",
            "aten_cuda",
            "framework",
        }
    ),
    # It builds extensions by the name of torch_cuda, if that is installed.
    "adapter": frozenset({"router/import_slots"}),
    # A backend for its tests, which knows nothing of torch_cuda.
    "adapter/testing": frozenset(
        {
            "device/abi",
            "router/aliasing",
            "device",
            "device/host_streams",
            "router/composites",
            "router/facade",
        }
    ),
    # It reaches CUDA through PyTorch's own interfaces.
    "pu": frozenset({"router/aliasing", "router/facade", "router/import_slots"}),
    "python": _UPSTREAMS["python"] | {"device/abi", "router/operators"},
}

# Beside the column: settings and tools that any layer may use, and that use no layer.
TOOLS = ("config", "patches", "third_party", "tools", "upstream")

# A table of all layers' sources looks at every layer and hands on no code: the wheel needs it so as not
# to be built where a source belongs to none.
TABLES = ("upstream/units",)

_EDGE = re.compile(r'^\s*"(?P<source>[^"]+)" -> "(?P<target>[^"]+)"')
# The profiles of operators are settings: //config:ops names them.
_SETTINGS = ("aten_cuda/profiles",)


@dataclasses.dataclass(frozen=True, order=True)
class Violation:
    """One arrow that points up, or to something a layer may not know.

    Attributes:
        source: label of the target that has the dependency.
        target: label of what it depends on.
        reason: one sentence.
    """

    source: str
    target: str
    reason: str

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}: {self.reason}"


def package_of(label: str) -> str | None:
    """Takes the package out of a label.

    Args:
        label: for example "//framework/jit:jit", or "@pytorch//:x.cpp".

    Returns:
        For example "framework/jit"; None for a label of another repository.
    """
    for root in ("@@//", "@//", "//"):
        if label.startswith(root):
            return label.removeprefix(root).split(":")[0]
    return None


def layer_of(package: str) -> str | None:
    """Finds the layer of a package.

    Args:
        package: for example "framework/jit".

    Returns:
        The key of LAYERS it belongs to, "tools" for TOOLS and for the root (license, README), or
        None.
    """
    if not package:
        return "tools"
    if f"{package} wheel" in LAYERS:
        return f"{package} wheel"
    for folder in (*_SETTINGS, *TOOLS):
        if package == folder or package.startswith(folder + "/"):
            return "tools"
    # The longest folder wins: python/csrc is no part of python.
    for folder in sorted(LAYERS, key=len, reverse=True):
        if package == folder or package.startswith(folder + "/"):
            return folder
    return None


def parse_graph(text: str) -> list[tuple[str, str]]:
    """Reads the edges of a graph.

    Args:
        text: the graph in Graphviz's language.

    Returns:
        (source, target) labels.

    Raises:
        ValueError: there is no edge, so this is no graph of a build.
    """
    edges = [
        (match["source"], match["target"])
        for match in map(_EDGE.match, text.splitlines())
        if match is not None
    ]
    if not edges:
        raise ValueError("the graph has no edge: was it written by dependency_graph?")
    return edges


def violations(edges: Iterable[tuple[str, str]]) -> list[Violation]:
    """Checks a graph against LAYERS.

    Args:
        edges: (source, target) labels.

    Returns:
        What breaks the order, sorted; empty if nothing does.
    """
    found = []
    for source, target in edges:
        source_package, target_package = package_of(source), package_of(target)
        if source_package is None or target_package is None or source_package in TABLES:
            continue
        source_layer, target_layer = layer_of(source_package), layer_of(target_package)
        if source_layer is None or source_layer == target_layer or target_layer == "tools":
            # Tests, benches and examples may use everything.
            continue
        reason = _reason(source_layer, target_layer, target_package)
        if reason:
            found.append(Violation(source, target, reason))
    return sorted(found)


def _reason(source: str, target: str | None, package: str) -> str | None:
    if source == "tools":
        known = target in LAYERS
        return "tools and settings are used by layers and know none" if known else None
    if target is None:
        return f"{package} is no layer, and layers may use layers only"
    if target in LAYERS[source]:
        return None
    if target in ("distributed", "profiler"):
        return f"{target} is a plugin, which nothing may know"
    return (
        f"{source} lies below {target}"
        if source in LAYERS[target]
        else (f"{source} may use {', '.join(sorted(LAYERS[source])) or 'no layer'}")
    )
