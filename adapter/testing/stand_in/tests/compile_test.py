"""torch.compile with inductor on the stand-in alone: kernels in its streams, held against the CPU.

Each function is compiled by the host's compiler, which takes seconds: there are few.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import torch
import torch_stand_in
from absl.testing import absltest

_FAILING = """
import torch, torch_stand_in
gather = torch.compile(lambda x, i: x[i] + 1)
found = gather(torch.ones(4, device="stand_in"), torch.tensor([9], device="stand_in"))
torch_stand_in.synchronize()
"""


def _sums(x: torch.Tensor, scale: torch.Tensor) -> tuple[torch.Tensor, ...]:
    x.add_(1)
    return x.t()[::2].sin() * scale, x.view(-1), x.bfloat16().sum(0)


def _joined(one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
    return torch.cat([one, two * 2], 1).std()


class CompileTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        torch._dynamo.reset()
        self.compiled = torch.compile(_sums)

    def test_devices_streams_and_views(self) -> None:
        scale = torch.tensor(3.0)
        for number in range(torch_stand_in.device_count()):
            host = torch.arange(12.0).view(3, 4)
            wanted = _sums(host, scale)
            there = torch.arange(12.0, device=f"stand_in:{number}").view(3, 4)
            stream = torch_stand_in.Stream(number)
            stream.wait_stream(torch_stand_in.current_stream(number))
            with torch_stand_in.stream(stream):
                found = self.compiled(there, scale)
            stream.synchronize()
            self.assertEqual(found[1].data_ptr(), there.data_ptr())
            for ours, theirs in zip((*found, there), (*wanted, host), strict=True):
                self.assertEqual(ours.device, torch.device("stand_in", number))
                torch.testing.assert_close(ours.cpu(), theirs)

    def test_a_masked_load(self) -> None:
        one, two = torch.arange(12.0).view(3, 4), torch.ones(3, 5)
        found = torch.compile(_joined)(one.to("stand_in"), two.to("stand_in"))
        torch.testing.assert_close(found.cpu(), _joined(one, two))

    def test_random_numbers_are_of_the_devices_seed(self) -> None:
        # inductor has its own, unless it is told to use PyTorch's.
        x = torch.ones(64, device="stand_in")
        torch_stand_in.manual_seed(3)
        wanted = torch.nn.functional.dropout(x, 0.5) * 2
        torch_stand_in.manual_seed(3)
        found = torch.compile(
            lambda x: torch.nn.functional.dropout(x, 0.5) * 2, options={"fallback_random": True}
        )(x)
        torch.testing.assert_close(found, wanted)

    def test_a_graph_records_a_compiled_kernel(self) -> None:
        add = torch.compile(lambda x: x + 1)
        x = torch.zeros(8, device="stand_in")
        add(x)
        graph = torch_stand_in.StandGraph()
        with torch_stand_in.graph(graph):
            found = add(x)
        for number in (5.0, 7.0):
            x.fill_(number)
            graph.replay()
            self.assertEqual(found.tolist(), [number + 1] * 8)

    def test_an_error_in_a_kernel_is_the_devices(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(
                [sys.executable, "-c", _FAILING],
                env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": folder},
                capture_output=True,
                text=True,
                check=False,
            )
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("stand-in: error in a kernel: index out of bounds", ended.stderr)
        self.assertIn("RuntimeError: stand-in error", ended.stderr)


class RegistrationTest(absltest.TestCase):
    def test_importing_the_backend_does_not_import_inductor(self) -> None:
        said = "import sys, torch_stand_in; print('torch._inductor.codegen.common' in sys.modules)"
        ended = subprocess.run(
            [sys.executable, "-c", said], capture_output=True, text=True, check=True
        )
        self.assertEqual(ended.stdout.strip(), "False")

    def test_another_wrapper_is_refused(self) -> None:
        torch._dynamo.reset()
        function = torch.compile(lambda x: x - 1, options={"cpp_wrapper": True})
        with self.assertRaisesRegex(Exception, "set cpp_wrapper to False"):
            function(torch.ones(2, device="stand_in"))


if __name__ == "__main__":
    absltest.main()
