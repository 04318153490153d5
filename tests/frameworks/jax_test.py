"""JAX of PyPI on the simulated GPU: what it computes is held against the same program on its CPU backend."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from absl.testing import absltest, parameterized
from jax.sharding import Mesh, NamedSharding, PartitionSpec

_RANDOM = np.random.default_rng(0)
_SQUARE = _RANDOM.standard_normal((6, 6)).astype(np.float32)
_TALL = _RANDOM.standard_normal((6, 3)).astype(np.float32)
_POSITIVE = _SQUARE @ _SQUARE.T + np.eye(6, dtype=np.float32)


def _mlp(parameters: Any, x: jax.Array) -> jax.Array:
    for weight, bias in parameters[:-1]:
        x = jax.nn.gelu(x @ weight + bias)
    weight, bias = parameters[-1]
    return x @ weight + bias


def _train(apply: Callable[[Any, Any], jax.Array], parameters: Any, x: Any, y: Any) -> list[float]:
    """The losses of ten steps of Adam on one batch."""

    def loss_of(parameters: Any) -> jax.Array:
        chosen = jax.nn.log_softmax(apply(parameters, x))
        return -jnp.take_along_axis(chosen, y[..., None], axis=-1).mean()

    @jax.jit
    def step(state: Any, count: Any) -> Any:
        parameters, first, second = state
        loss, slope = jax.value_and_grad(loss_of)(parameters)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slope)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, slope)
        parameters = jax.tree.map(
            lambda p, m, v: (
                p - 1e-2 * (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8)
            ),
            parameters,
            first,
            second,
        )
        return (parameters, first, second), loss

    zeros = jax.tree.map(jnp.zeros_like, parameters)
    state = (parameters, zeros, zeros)
    losses = []
    for count in range(1, 11):
        state, loss = step(state, float(count))
        losses.append(float(loss))
    return losses


def _mlp_losses() -> list[float]:
    keys = jax.random.split(jax.random.key(0), 4)
    sizes = (12, 32, 32, 5)
    parameters = [
        (jax.random.normal(key, (rows, columns)) / rows**0.5, jnp.zeros(columns))
        for key, rows, columns in zip(keys[:3], sizes[:-1], sizes[1:], strict=True)
    ]
    x = jax.random.normal(keys[3], (16, 12))
    return _train(_mlp, parameters, x, jnp.arange(16) % 5)


def _transformer_losses() -> list[float]:
    keys = iter(jax.random.split(jax.random.key(1), 16))
    width, heads, vocabulary = 16, 2, 11

    def matrix(rows: int, columns: int) -> jax.Array:
        return jax.random.normal(next(keys), (rows, columns)) / rows**0.5

    parameters = {
        "embedding": matrix(vocabulary, width),
        "place": matrix(8, width),
        "attention": [matrix(width, 3 * width), matrix(width, width)],
        "feed": [matrix(width, 32), matrix(32, width)],
        "out": matrix(width, vocabulary),
    }

    def normal(x: jax.Array) -> jax.Array:
        return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    def apply(p: Any, tokens: jax.Array) -> jax.Array:
        h = p["embedding"][tokens] + p["place"]
        q, k, v = jnp.split(normal(h) @ p["attention"][0], 3, axis=-1)
        q, k, v = (one.reshape(*one.shape[:2], heads, -1).swapaxes(1, 2) for one in (q, k, v))
        scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
        seen = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        mixed = jax.nn.softmax(jnp.where(seen, scores, -1e9)) @ v
        h = h + mixed.swapaxes(1, 2).reshape(h.shape) @ p["attention"][1]
        h = h + jax.nn.relu(normal(h) @ p["feed"][0]) @ p["feed"][1]
        return normal(h) @ p["out"]

    tokens = jax.random.randint(next(keys), (4, 8), 0, vocabulary)
    return _train(apply, parameters, tokens, jnp.roll(tokens, -1, axis=1))


# By name; one for each way in which XLA computes: kernels of its own, CUDA's libraries, loops and graphs, jaxlib's kernels.
_PARTS: dict[str, Callable[[], Any]] = {
    "mlp": _mlp_losses,
    "transformer": _transformer_losses,
    "products": lambda: jnp.einsum("ij,kj->ik", _SQUARE, _SQUARE),
    "integers": lambda: jnp.dot(
        jnp.ones((4, 9), jnp.int8), jnp.full((9, 4), 3, jnp.int8), preferred_element_type=jnp.int32
    ),
    "softmax": lambda: jax.nn.softmax(jnp.asarray(_SQUARE)),
    "three_maxima": lambda: jax.jit(lambda a, b, c: jnp.maximum(jnp.maximum(a, b), c))(
        _SQUARE, _SQUARE.T, _SQUARE[::-1]
    ),
    "random": lambda: jax.random.gamma(jax.random.key(3), 2.0, (6,)),
    "sort": lambda: jnp.sort(jnp.asarray(_SQUARE), axis=0),
    "top": lambda: jax.lax.top_k(jnp.asarray(_SQUARE), 3)[0],
    "scan": lambda: jax.lax.scan(lambda c, x: (c + x, c * x), jnp.zeros(6), jnp.asarray(_SQUARE))[
        1
    ],
    "condition": lambda: jax.jit(
        lambda x: jax.lax.cond(x[0, 0] > 0, lambda x: x + 1, lambda x: x - 1, x)
    )(jnp.asarray(_SQUARE)),
    "loop": lambda: jax.lax.while_loop(
        lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 1.5), (0, jnp.ones(3))
    )[1],
    "scatter": lambda: jnp.zeros(5).at[jnp.array([1, 1, 3])].add(2.0),
    "fourier": lambda: jnp.abs(jnp.fft.rfft(jnp.asarray(_SQUARE))),
    "solve": lambda: jnp.linalg.solve(jnp.asarray(_SQUARE), jnp.asarray(_TALL)),
    "singular_values": lambda: jnp.linalg.svd(jnp.asarray(_SQUARE))[1],
    "eigenvalues": lambda: jnp.linalg.eigh(jnp.asarray(_POSITIVE))[0],
    "cholesky": lambda: jnp.linalg.cholesky(jnp.asarray(_POSITIVE)),
    "exponential_of_a_matrix": lambda: jax.scipy.linalg.expm(0.1 * jnp.asarray(_SQUARE)),
    "small_floats": lambda: jnp.asarray(_SQUARE).astype(jnp.float8_e4m3fn).astype(jnp.float32),
    "mapped_gradient": lambda: jax.vmap(jax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2)))(
        jnp.asarray(_SQUARE)
    ),
    "convolution": lambda: jax.grad(
        lambda w: jnp.sum(
            jax.lax.conv_general_dilated(
                jnp.asarray(_SQUARE).reshape(1, 1, 6, 6), w, (1, 1), "SAME"
            )
            ** 2
        )
    )(jnp.asarray(_TALL)[:3].reshape(1, 1, 3, 3)),
}


class JaxTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        # XLA takes TF32 for float32 on a GPU unless told otherwise.
        self.enter_context(jax.default_matmul_precision("highest"))

    def test_the_devices_are_ours(self) -> None:
        self.assertEqual([str(one) for one in jax.devices()], ["cuda:0", "cuda:1"])
        self.assertIn("simulated", jax.devices()[0].device_kind)

    @parameterized.parameters(*_PARTS)
    def test_computes_as_on_the_cpu(self, part: str) -> None:
        with jax.default_device(jax.devices("cpu")[0]):
            expected = jax.tree.map(np.asarray, _PARTS[part]())
        found = _PARTS[part]()
        if isinstance(found, jax.Array):
            self.assertEqual(found.devices(), {jax.devices()[0]})
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=2e-4, atol=2e-5)

    def test_two_devices_are_one_mesh(self) -> None:
        mesh = Mesh(np.array(jax.devices()), ("d",))
        x = jax.device_put(jnp.arange(8.0), NamedSharding(mesh, PartitionSpec("d")))
        self.assertEqual(float(jax.jit(lambda x: (x * 2).sum())(x)), 56.0)
        gathered = jax.jit(
            jax.shard_map(
                lambda a: a + jax.lax.psum(a.sum(), "d"),
                mesh=mesh,
                in_specs=PartitionSpec("d"),
                out_specs=PartitionSpec("d"),
            )
        )(x)
        np.testing.assert_array_equal(np.asarray(gathered), np.arange(8.0) + 28)

    def test_the_host_is_called_back(self) -> None:
        seen: list[float] = []

        @jax.jit
        def double(x: jax.Array) -> jax.Array:
            jax.debug.callback(lambda total: seen.append(float(total)), x.sum())
            return x * 2

        np.testing.assert_array_equal(np.asarray(double(jnp.arange(3.0))), [0, 2, 4])
        jax.effects_barrier()
        self.assertEqual(seen, [3.0])

    def test_too_much_memory_is_an_error_and_no_end(self) -> None:
        with self.assertRaisesRegex(Exception, "RESOURCE_EXHAUSTED"):
            jnp.zeros((1 << 42,), jnp.int8).block_until_ready()
        self.assertEqual(float(jnp.ones(3).sum()), 3.0)


if __name__ == "__main__":
    os.environ["CUDASIM_DEVICES"] = "2"
    absltest.main()
