"""Random numbers: a generator a device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import torch

from torch_stand_in._device import DeviceLike, _get_device_index, current_device, device_count
from torch_stand_in._native import functions as native


class _Generators(Sequence[torch.Generator]):
    """The default generators, made when they are looked at."""

    def __len__(self) -> int:
        return device_count()

    def __getitem__(self, index: int) -> torch.Generator:  # type: ignore[override]
        if not -len(self) <= index < len(self):
            raise IndexError("there is no such device")
        generator: torch.Generator = native.default_generator(index % len(self))
        return generator

    def __iter__(self) -> Iterator[torch.Generator]:
        return (self[index] for index in range(len(self)))


default_generators = _Generators()


def get_rng_state(device: DeviceLike = "stand_in") -> torch.Tensor:
    """The state of a device's generator."""
    return default_generators[_get_device_index(device)].get_state()


def get_rng_state_all() -> list[torch.Tensor]:
    """The states of all devices' generators."""
    return [generator.get_state() for generator in default_generators]


def set_rng_state(new_state: torch.Tensor, device: DeviceLike = "stand_in") -> None:
    """Sets the state of a device's generator."""
    default_generators[_get_device_index(device)].set_state(new_state.cpu())


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Sets the states of all devices' generators."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed: int) -> None:
    """Seeds the current device's generator; nothing without a device."""
    if device_count():
        default_generators[current_device()].manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds all devices' generators."""
    for generator in default_generators:
        generator.manual_seed(int(seed))


def seed() -> None:
    """Seeds the current device's generator with a random number."""
    default_generators[current_device()].seed()


def seed_all() -> None:
    """Seeds all devices' generators with one random number."""
    random_seed = 0
    for index, generator in enumerate(default_generators):
        if index == 0:
            random_seed = generator.seed()
        else:
            generator.manual_seed(random_seed)


def initial_seed() -> int:
    """The seed of the current device's generator."""
    return default_generators[current_device()].initial_seed()
