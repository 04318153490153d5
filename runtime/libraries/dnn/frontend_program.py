"""What frontend_test runs: prints, as JSON, the largest error of each graph."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping, Sequence
from typing import Any

import cudnn
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_FLOAT = cudnn.data_type.FLOAT
_HALF = cudnn.data_type.HALF
_SCALE = 0.25

_runtime = ctypes.CDLL("libcudart.so.13")
_random = np.random.default_rng(0)


def check(status: int) -> None:
    """Raises where a call of the runtime failed."""
    if status != 0:
        raise RuntimeError(f"the CUDA runtime answered {status}")


class Memory:
    """An array on the device."""

    def __init__(self, array: Array) -> None:
        self._host = np.ascontiguousarray(array)
        self._address = ctypes.c_void_p()
        check(_runtime.cudaMalloc(ctypes.byref(self._address), ctypes.c_size_t(self._host.nbytes)))
        self._copy(self._address, self._host.ctypes.data_as(ctypes.c_void_p), 1)

    def _copy(self, to: ctypes.c_void_p, source: ctypes.c_void_p, kind: int) -> None:
        check(_runtime.cudaMemcpy(to, source, ctypes.c_size_t(self._host.nbytes), kind))

    @property
    def address(self) -> int:
        """Where it is."""
        return self._address.value or 0

    def values(self) -> Array:
        """What is in it when all work is done."""
        check(_runtime.cudaDeviceSynchronize())
        self._copy(self._host.ctypes.data_as(ctypes.c_void_p), self._address, 2)
        return self._host


def strides(shape: Sequence[int]) -> list[int]:
    """Those of an array without gaps."""
    return [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]


class Graph:
    """A graph of the frontend, with its arrays."""

    def __init__(self, handle: Any, io: Any) -> None:
        self._handle = handle
        self.graph = cudnn.pygraph(
            handle=handle,
            io_data_type=io,
            intermediate_data_type=_FLOAT,
            compute_data_type=_FLOAT,
        )
        self._addresses: dict[Any, int] = {}
        self._alive: list[Any] = []

    def input(self, name: str, array: Array, on_host: bool = False) -> Any:
        """A tensor of the graph with these values, which a call may take from the host."""
        tensor = self.graph.tensor(
            name=name,
            dim=list(array.shape),
            stride=strides(array.shape),
            data_type=_HALF if array.dtype == np.float16 else _FLOAT,
            is_pass_by_value=on_host,
        )
        memory = None if on_host else Memory(array)
        self._alive.append((array, memory))
        self._addresses[tensor] = array.ctypes.data if memory is None else memory.address
        return tensor

    def error(self, wanted: Mapping[Any, Array], io: Any = _FLOAT) -> float:
        """Runs the graph; returns the largest error of its outputs."""
        for tensor in wanted:
            tensor.set_output(True).set_data_type(io)
            shape = list(wanted[tensor].shape)
            tensor.set_dim(shape).set_stride(strides(shape))
        self.graph.validate()
        self.graph.build_operation_graph()
        self.graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        self.graph.check_support()
        self.graph.build_plans()
        kind = np.float16 if io == _HALF else np.float32
        made = {tensor: Memory(np.zeros(array.shape, kind)) for tensor, array in wanted.items()}
        pack = self._addresses | {tensor: memory.address for tensor, memory in made.items()}
        workspace = Memory(np.zeros(max(1, self.graph.get_workspace_size()), np.uint8))
        self.graph.execute(pack, workspace.address, handle=self._handle)
        return max(
            float(np.max(np.abs(made[tensor].values().astype(float) - array)))
            for tensor, array in wanted.items()
        )


def draw(*shape: int) -> Array:
    """Random numbers."""
    return _random.standard_normal(shape).astype(np.float32)


def convolution(handle: Any) -> float:
    """One with a bias and an activation."""
    graph = Graph(handle, _FLOAT)
    x, w, bias = draw(2, 3, 8, 8), draw(4, 3, 3, 3), draw(1, 4, 1, 1)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))).astype(float)
    wanted = np.zeros((2, 4, 8, 8)) + bias
    for i in range(3):
        for j in range(3):
            part = padded[:, :, i : i + 8, j : j + 8]
            wanted += np.einsum("nchw,kc->nkhw", part, w[:, :, i, j])
    y = graph.graph.conv_fprop(
        image=graph.input("x", x),
        weight=graph.input("w", w),
        padding=[1, 1],
        stride=[1, 1],
        dilation=[1, 1],
    )
    y = graph.graph.relu(input=graph.graph.bias(input=y, bias=graph.input("b", bias)))
    return graph.error({y: np.maximum(wanted, 0)})


def layer(handle: Any) -> float:
    """Normalization of a layer, in training."""
    graph = Graph(handle, _FLOAT)
    x, scale, bias = draw(6, 16, 1, 1), draw(1, 16, 1, 1), draw(1, 16, 1, 1)
    y, mean, inverse = graph.graph.layernorm(
        norm_forward_phase=cudnn.norm_forward_phase.TRAINING,
        input=graph.input("x", x),
        scale=graph.input("scale", scale),
        bias=graph.input("bias", bias),
        epsilon=graph.input("epsilon", np.full((1, 1, 1, 1), 1e-3, np.float32), on_host=True),
    )
    middle = x.mean(1, keepdims=True)
    deviation = 1 / np.sqrt(x.var(1, keepdims=True) + 1e-3)
    return graph.error(
        {y: (x - middle) * deviation * scale + bias, mean: middle, inverse: deviation}
    )


def weights(q: Array, k: Array) -> Array:
    """Of keys that are not behind the query."""
    scores = np.einsum("bhid,bhjd->bhij", q.astype(float), k.astype(float)) * _SCALE
    scores = np.where(np.tril(np.ones(scores.shape[-2:])) > 0, scores, -np.inf)
    raw: Array = np.exp(scores)
    return raw


def attention(handle: Any) -> float:
    """Attention with a causal mask, which the frontend gives as one operation."""
    graph = Graph(handle, _HALF)
    q, k, v = (draw(2, 3, 16, 32).astype(np.float16) for _ in range(3))
    output, _ = graph.graph.sdpa(
        q=graph.input("q", q),
        k=graph.input("k", k),
        v=graph.input("v", v),
        attn_scale=_SCALE,
        generate_stats=False,
        use_causal_mask=True,
    )
    raw = weights(q, k)
    return graph.error({output: raw / raw.sum(-1, keepdims=True) @ v.astype(float)}, _HALF)


def gradients(handle: Any) -> float:
    """Its gradients for two heads to a key, which the frontend makes of smaller operations."""
    graph = Graph(handle, _HALF)
    q, dy = (draw(2, 4, 16, 32).astype(np.float16) for _ in range(2))
    k, v = (draw(2, 2, 16, 32).astype(np.float16) for _ in range(2))
    keys, values = (np.repeat(array, 2, 1).astype(float) for array in (k, v))
    raw = weights(q, keys)
    share = raw / raw.sum(-1, keepdims=True)
    output = (share @ values).astype(np.float16)
    stats = np.log(raw.sum(-1, keepdims=True)).astype(np.float32)
    slope = dy.astype(float)
    inner = np.einsum("bhid,bhjd->bhij", slope, values)
    inner = share * (inner - (slope * output).sum(-1, keepdims=True)) * _SCALE
    dq, dk, dv = graph.graph.sdpa_backward(
        q=graph.input("q", q),
        k=graph.input("k", k),
        v=graph.input("v", v),
        o=graph.input("o", output),
        dO=graph.input("dy", dy),
        stats=graph.input("stats", stats),
        attn_scale=_SCALE,
        use_causal_mask=True,
    )

    def grouped(array: Array) -> Array:
        sums: Array = array.reshape(2, 2, 2, 16, 32).sum(2)
        return sums

    return graph.error(
        {
            dq: inner @ keys,
            dk: grouped(np.einsum("bhij,bhid->bhjd", inner, q.astype(float))),
            dv: grouped(np.einsum("bhij,bhid->bhjd", share, slope)),
        },
        _HALF,
    )


def main() -> None:
    """Runs them all."""
    handle = cudnn.create_handle()
    errors = {one.__name__: one(handle) for one in (convolution, layer, attention, gradients)}
    print(json.dumps(errors))


if __name__ == "__main__":
    main()
