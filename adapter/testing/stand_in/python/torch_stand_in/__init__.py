"""The stand-in: a PyTorch backend of the shape of torch_musa and torch_npu, for tests on machines without a device.

``import torch_stand_in`` gives PyTorch the device type "stand_in" and makes this package ``torch.stand_in``. Its
devices are the host: threads for streams, memory with a limit. TORCH_STAND_IN_DEVICE takes the options of the
device "fake" (device/fake/options.h in torch_cuda's sources), such as "count=2,memory=1G".
"""

from __future__ import annotations

import os

from torch_stand_in import _activation

# Releases before 1.0 lack an operator (adapter/testing/stand_in/csrc/operators/registration.cpp).
__version__ = os.environ.get("TORCH_STAND_IN_RELEASE", "1.0")

_activation.load()

from torch_stand_in import amp, graphs
from torch_stand_in._device import (
    StandInError,
    _get_device_index,
    can_device_access_peer,
    current_device,
    device,
    device_count,
    device_of,
    get_device_capability,
    get_device_name,
    get_device_properties,
    init,
    is_available,
    is_bf16_supported,
    is_initialized,
    set_device,
    synchronize,
)
from torch_stand_in._device import exchange_device as _exchange_device
from torch_stand_in._device import exchange_device as _maybe_exchange_device
from torch_stand_in._device import is_in_bad_fork as _is_in_bad_fork
from torch_stand_in._memory import (
    OutOfMemoryError,
    caching_allocator_alloc,
    caching_allocator_delete,
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from torch_stand_in._random import (
    default_generators,
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from torch_stand_in._streams import (
    Event,
    ExternalStream,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)
from torch_stand_in.amp import get_amp_supported_dtype
from torch_stand_in.graphs import (
    StandGraph,
    graph,
    graph_pool_handle,
    is_current_stream_capturing,
)

_activation.activate()

__all__ = [
    "Event",
    "ExternalStream",
    "OutOfMemoryError",
    "StandGraph",
    "StandInError",
    "Stream",
    "StreamContext",
    "_exchange_device",
    "_get_device_index",
    "_is_in_bad_fork",
    "_maybe_exchange_device",
    "amp",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "can_device_access_peer",
    "current_device",
    "current_stream",
    "default_generators",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_amp_supported_dtype",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "graph",
    "graph_pool_handle",
    "graphs",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
]
