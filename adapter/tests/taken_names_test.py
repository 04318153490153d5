"""Third-party code that took names before the adapter was there; functions that the platform has not."""

from __future__ import annotations

from typing import Any

# Taken as a library takes them: before.
import torch
import torch.cuda as taken_module
import torch.cuda.amp
from absl.testing import absltest
from torch.cuda import (
    CUDAGraph,
    Event,
    Stream,
    current_device,
    current_stream,
    device_count,
    empty_cache,
    get_device_properties,
    is_available,
    memory_allocated,
    synchronize,
)
from torch.cuda.amp import GradScaler, autocast
from torch.cuda.random import get_rng_state, manual_seed, set_rng_state
from torch.cuda.streams import Stream as StreamOfModule
from torch_cuda_adapter.errors import AdapterError, UnavailableError
from torch_cuda_adapter.runtime import activate, restore

tensor_cuda = torch.Tensor.cuda


class TakenNamesTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        activate("stand-in")
        self.addCleanup(restore)

    def test_functions_do_what_the_platform_does(self) -> None:
        self.assertTrue(is_available())
        self.assertEqual(device_count(), torch.cuda.device_count())
        self.assertEqual(current_device(), 0)
        self.assertEqual(
            get_device_properties(0).total_memory, torch.cuda.get_device_properties(0).total_memory
        )
        x = torch.ones(1000, device="cuda")
        self.assertEqual(memory_allocated(), torch.cuda.memory_allocated())
        self.assertGreater(memory_allocated(), 0)
        del x
        synchronize()
        empty_cache()
        self.assertIs(taken_module, torch.cuda)

    def test_random_numbers(self) -> None:
        manual_seed(7)
        state = get_rng_state()
        first = torch.rand(4, device="cuda")
        set_rng_state(state)
        self.assertTrue(torch.equal(torch.rand(4, device="cuda"), first))
        torch.manual_seed(7)
        self.assertTrue(torch.equal(torch.rand(4, device="cuda"), first))
        generator = torch.Generator(device="cuda").manual_seed(7)
        self.assertEqual(generator.device.type, "cuda")
        self.assertTrue(torch.equal(torch.rand(4, device="cuda", generator=generator), first))

    def test_classes_make_and_know_the_platforms_objects(self) -> None:
        stream = Stream()
        self.assertIsInstance(stream, Stream)
        self.assertIsInstance(stream, torch.cuda.Stream)
        self.assertIsInstance(torch.cuda.Stream(), Stream)
        self.assertIsInstance(current_stream(), Stream)
        self.assertIs(StreamOfModule, Stream)
        self.assertTrue(issubclass(torch.cuda.Stream, Stream))
        self.assertNotIsInstance(torch.cuda.Event(), Stream)
        taken: Any = Stream
        self.assertEqual(taken.priority_range(), (0, -1))
        event = Event(enable_timing=True)
        event.record(stream)
        event.synchronize()
        self.assertTrue(event.query())

    def test_classes_are_derived_from(self) -> None:
        class Named(Stream):
            name = "copies"

        self.assertEqual(Named().name, "copies")
        self.assertIsInstance(Named(), torch.cuda.Stream)

    def test_autocast_and_scaler(self) -> None:
        x = torch.ones(4, 4, device="cuda")
        with autocast():
            self.assertIs((x @ x).dtype, torch.float16)
        self.assertEqual(GradScaler().scale(torch.ones(1, device="cuda")).item(), 65536.0)

    def test_what_the_platform_has_not_is_one_message(self) -> None:
        for function in (
            torch.cuda.ipc_collect,
            torch.cuda.tunable.is_enabled,
            torch.cuda.memory_snapshot,
        ):
            with self.assertRaisesRegex(
                UnavailableError, r"^torch\.cuda\.\S+: stand-in has nothing for it: "
            ):
                function()
        with self.assertRaises(NotImplementedError):
            torch.cuda.jiterator._create_jit_fn("template <typename T> T f(T x) { return x; }")(
                torch.ones(1)
            )

    def test_refused_class_knows_no_instances(self) -> None:
        self.assertNotIsInstance(torch.cuda.Stream(), CUDAGraph)

    def test_afterwards_they_are_as_they_were(self) -> None:
        restore()
        self.assertFalse(is_available())
        self.assertEqual(device_count(), 0)
        for function in (current_stream, Stream, synchronize):
            with self.assertRaises((AssertionError, RuntimeError, AttributeError)) as caught:
                function()
            self.assertNotIsInstance(caught.exception, AdapterError)
        self.assertIs(type(Stream), type)
        activate("stand-in")
        self.assertIsInstance(Stream(), torch.cuda.Stream)


if __name__ == "__main__":
    absltest.main()
