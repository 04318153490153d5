"""What the build of each wheel compiles, read from Bazel's action graph.

selective_test.py GRAPH
"""

from __future__ import annotations

import pathlib
import re
import sys
from collections import defaultdict

from absl.testing import absltest

from decouple.plan import owners

GRAPH = pathlib.Path(sys.argv.pop(1))

_OWNERS = owners.read(pathlib.Path(__file__).absolute().parents[2] / "upstream" / "owners.bzl")
_WHEEL = re.compile(r".*/(?P<name>torch_cuda\w*)-[^/]*\.whl")
_UNIT = re.compile(r"external/_main~pytorch~pytorch/(?P<unit>.*\.(cpp|cu))")
_OBJECT = re.compile(r".*\.o")

PLUGINS = {"torch_cuda_distributed": "distributed", "torch_cuda_profiler": "profiler"}
"""Each plugin's wheel, and the layer whose units it compiles."""


class SelectiveTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.made_of: dict[str, list[str]] = defaultdict(list)
        for line in GRAPH.read_text(encoding="utf-8").splitlines():
            output, source = line.split("\t")
            self.made_of[output].append(source)
        self.wheels = {
            match["name"]: output for output in self.made_of if (match := _WHEEL.fullmatch(output))
        }

    def needed_for(self, output: str) -> set[str]:
        """The files that are made or read for an output."""
        seen, waiting = set(), [output]
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                waiting += self.made_of.get(path, [])
        return seen

    def compiled_for(self, wheel: str) -> dict[str, set[str]]:
        """Upstream's units that a wheel is made of, and the objects that they are compiled into."""
        units: dict[str, set[str]] = defaultdict(set)
        for path in self.needed_for(self.wheels[wheel]):
            if _OBJECT.fullmatch(path):
                for source in self.made_of[path]:
                    # Others are read with it: folders of headers have units among them.
                    match = _UNIT.fullmatch(source)
                    if match and pathlib.Path(source).stem == pathlib.Path(path).name.split(".")[0]:
                        units[match["unit"]].add(path)
        return units

    def layers_of(self, units: dict[str, set[str]]) -> set[str]:
        lists = ("libtorch_python_cuda_sources",)
        return {_OWNERS.layer_of(_OWNERS.package_of(unit, lists)) for unit in units}

    def test_graph_has_all_wheels_and_their_units(self) -> None:
        self.assertCountEqual(self.wheels, ["torch_cuda", *PLUGINS])
        self.assertGreater(len(self.compiled_for("torch_cuda")), 200)

    def test_core_compiles_no_unit_of_a_plugin(self) -> None:
        core = self.compiled_for("torch_cuda")
        self.assertNoCommonElements(self.layers_of(core), PLUGINS.values())
        for path in self.needed_for(self.wheels["torch_cuda"]):
            for layer in PLUGINS.values():
                self.assertNotIn(f"/bin/{layer}/", path)

    def test_plugins_compile_their_units(self) -> None:
        for wheel, layer in PLUGINS.items():
            self.assertIn(layer, self.layers_of(self.compiled_for(wheel)))

    def test_no_unit_is_compiled_twice(self) -> None:
        objects: dict[str, set[str]] = defaultdict(set)
        for wheel in self.wheels:
            for unit, paths in self.compiled_for(wheel).items():
                objects[unit] |= paths
        twice = {unit: paths for unit, paths in objects.items() if len(paths) > 1}
        self.assertEqual(twice, {})

    def test_plugins_link_to_the_core_and_contain_nothing_of_it(self) -> None:
        core = set(self.made_of[self.wheels["torch_cuda"]])
        for wheel in PLUGINS:
            mine = set(self.made_of[self.wheels[wheel]])
            shared = {
                path
                for path in mine & core
                if path.endswith((".so", ".py")) and not path.startswith("tools/")
            }
            self.assertEqual(shared, set())
            self.assertTrue(
                any(
                    path.endswith("/libc10_cuda.so") for path in self.needed_for(self.wheels[wheel])
                )
            )


if __name__ == "__main__":
    absltest.main()
