"""What a device does without when it lacks a capability of the device ABI."""

from __future__ import annotations

WITHOUT = {
    "ACCEL_CAP_HOST_VISIBLE": (
        "the CPU's kernels work on copies, which are slow: the device needs operators of its own"
    ),
    "ACCEL_CAP_CALLS_IN_CALLBACKS": "the runtime calls the device from threads of its own instead",
    "ACCEL_CAP_TIMING": "events' times are the host's",
    "ACCEL_CAP_PINNED": "pinned memory is ordinary memory",
    "ACCEL_CAP_MANAGED": "managed memory is pinned memory",
    "ACCEL_CAP_STREAM_ORDERED": "the runtime's pools allocate at once, and free when the stream gets there",
    "ACCEL_CAP_PEER": "kernels use memory of their own device only; copies between devices still work",
    "ACCEL_CAP_IPC": "no tensors are shared between processes; NCCL's copy through the host between them",
    "ACCEL_CAP_VIRTUAL": "no expandable segments",
    "ACCEL_CAP_SUBMIT": "operators of the vendor's run in callbacks of the stream",
    "ACCEL_CAP_CODE": "launches of CUDA code answer error 209; operators run on the CPU's kernels",
    "ACCEL_CAP_COLLECTIVES": "NCCL's collectives are computed by the runtime",
    "ACCEL_CAP_TEXTURES": "texture and surface objects answer error 801; CUDA's arrays work",
}
"""The capabilities of device_api.h, in its order."""
