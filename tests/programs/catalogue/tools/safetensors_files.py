"""safetensors: tensors of a device are written, and read back onto it."""

from __future__ import annotations

import pathlib
import tempfile

import torch
from safetensors import safe_open
from safetensors.torch import load_file, load_model, save_file, save_model

from tests.programs import harness


def run(place: harness.Place) -> harness.Results:
    """Writes tensors and a model; reads all of them, and a part of one."""
    torch.manual_seed(0)
    model = place.put(torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.BatchNorm1d(5)))
    tensors = {
        "numbers": place.put(harness.noise(7, 5)),
        "half": place.put(harness.noise(7, 5)).to(torch.bfloat16),
        "words": place.put(harness.words(3, 4)),
        "mask": place.put(harness.words(9) > 30),
    }
    with tempfile.TemporaryDirectory() as folder:
        file, whole = pathlib.Path(folder) / "tensors", pathlib.Path(folder) / "model"
        save_file(tensors, file, metadata={"made": "here"})
        save_model(model, str(whole))
        read = load_file(file, device=str(place.device))
        with safe_open(file, framework="pt", device=str(place.device)) as opened:
            part = opened.get_slice("numbers")[2:5, 1:]
        other = place.put(torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.BatchNorm1d(5)))
        load_model(other, str(whole), device=str(place.device))
    for found in (*read.values(), part):
        if found.device != place.device:
            raise AssertionError(f"read onto {found.device}, not onto {place.device}")
    for name, tensor in tensors.items():
        if not torch.equal(read[name], tensor):
            raise AssertionError(f"{name}: what was read is not what was written")
    return {
        "read": harness.tensors(read),
        "part": harness.tensors(part),
        "model": harness.tensors(other.state_dict()),
    }
