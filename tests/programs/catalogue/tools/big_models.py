"""accelerate: a model that is made without memory, is filled from a file, and comes to the device piece by piece."""

from __future__ import annotations

import pathlib
import tempfile

import torch
from accelerate import cpu_offload, init_empty_weights, load_checkpoint_and_dispatch
from safetensors.torch import save_file
from torch import nn

from tests.programs import harness


def _make() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.Linear(16, 3))


def run(place: harness.Place) -> harness.Results:
    """Runs the model with all layers on the device, with some on the host, and with each brought when it is used."""
    torch.manual_seed(0)
    x = place.put(harness.noise(5, 8))
    here: int | str = "cpu" if place.device.index is None else place.device.index
    divided = {"0": here, "1": here, "2": "cpu", "3": "cpu"}
    results: harness.Results = {}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "model.safetensors"
        save_file(_make().to(place.dtype).state_dict(), file)
        for name, placed in (("together", {"": here}), ("divided", divided)):
            with init_empty_weights():
                empty = _make()
            model = load_checkpoint_and_dispatch(
                empty, str(file), placed, dtype=place.dtype, force_hooks=True
            )
            results[name] = harness.tensors(model(x))
    torch.manual_seed(0)
    other = cpu_offload(_make().to(place.dtype), place.device)
    results["offloaded"] = harness.tensors(other(x))
    return results
