"""Every combination of the wheels, installed beside the stock torch.

    combinations_test.py WHEEL…

Each wheel is unpacked into a folder of its own, and a combination is a list of them on PYTHONPATH.
"""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import sys
from typing import Any, ClassVar

from absl.testing import absltest, parameterized

from tools.testing import paused_import
from tools.wheel import unpack_wheel

WHEELS = {path.name.partition("-")[0]: path for path in map(pathlib.Path, sys.argv[1:])}
del sys.argv[1:]

CORE, SIMULATOR = "torch_cuda", "torch_cuda_sim"
# What the simulator needs comes with it.
RUNTIME = WHEELS.pop("torch_cuda_runtime")
PLUGINS = sorted(WHEELS.keys() - {CORE, SIMULATOR})
COMBINATIONS = [
    combination
    for count in range(len(WHEELS) + 1)
    for combination in itertools.combinations(sorted(WHEELS), count)
]

_STATE = """
import json, os, torch, torch.distributed
state = {
    "sum": torch.ones(3).sum().item(),
    "cuda": torch.cuda._is_compiled(),
    "nccl": torch.distributed.is_nccl_available(),
    # Without a GPU, torch complains about NVML.
    "devices": torch.cuda.device_count() if os.environ["TORCH_CUDA_SIM"] == "1" else 0,
}
if state["cuda"]:
    import torch_cuda
    state["plugins"] = [[plugin.name, plugin.active] for plugin in torch_cuda.plugins()]
if state["devices"]:
    state["sum"] = torch.ones(3, device="cuda").sum().item()
print(json.dumps(state))
"""


class CombinationsTest(parameterized.TestCase):
    folder: ClassVar[pathlib.Path]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.folder = pathlib.Path(os.environ["TEST_TMPDIR"])
        for name, wheel in WHEELS.items():
            unpack_wheel.unpack(wheel, cls.folder / name)
        unpack_wheel.unpack(RUNTIME, cls.folder / SIMULATOR)

    def state_of(self, combination: tuple[str, ...]) -> tuple[dict[str, Any], str]:
        """What a process sees that has these wheels, and what it complains about."""
        inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        done = paused_import.run(
            sys.executable,
            _STATE,
            environ=inherited,
            changes={"TORCH_CUDA_SIM": str(int(SIMULATOR in combination))},
            path=[str(self.folder / name) for name in combination],
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), done.stderr

    @parameterized.parameters(*((combination,) for combination in COMBINATIONS))
    def test_what_is_there_works(self, combination: tuple[str, ...]) -> None:
        state, complaints = self.state_of(combination)
        plugins = [name for name in PLUGINS if name in combination]
        has_core = CORE in combination
        self.assertEqual(state["sum"], 3)
        self.assertEqual(state["cuda"], has_core)
        self.assertEqual(state["nccl"], has_core and "torch_cuda_distributed" in plugins)
        if has_core:
            self.assertEqual(complaints, "")
            self.assertEqual(state["plugins"], [[name, True] for name in plugins])
            if SIMULATOR in combination:
                self.assertEqual(state["devices"], 1)
        else:
            # Each plugin asks for the core.
            self.assertEqual(complaints.count("Warning: "), len(plugins), complaints)
            for name in plugins:
                self.assertIn(f"{name} is installed but stays off", complaints)
            self.assertEqual(complaints.count("python -m pip install torch_cuda\n"), len(plugins))


if __name__ == "__main__":
    absltest.main()
