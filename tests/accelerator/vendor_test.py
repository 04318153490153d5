"""A vendor's device and operators beside devices of others, in one process."""

from __future__ import annotations

import os
import pathlib

import torch
from absl.testing import absltest, parameterized
from torch import nn

from tests.device_behaviour import programs

ACME, FAKE, SIM = (torch.device("cuda", index) for index in range(3))
_LIBRARY = os.environ["TORCH_CUDA_DEVICES"].split(",")[0]
_OPERATORS = _LIBRARY.replace("acme.so", "acme_operators.so")


class VendorTest(parameterized.TestCase):
    def test_devices_are_those_of_three_libraries(self) -> None:
        names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
        self.assertLen(names, 3)
        self.assertEqual(names[0], "acme")

    @parameterized.parameters(ACME, FAKE, SIM)
    def test_each_device_computes_what_the_cpu_does(self, device: torch.device) -> None:
        for values in (torch.linspace(-3, 3, 12), torch.linspace(-3, 3, 12).view(3, 4).t()):
            there = values.to(device)
            for function in (torch.relu, nn.functional.silu, torch.tanh):
                result = function(there)
                self.assertEqual(result.device, device)
                torch.testing.assert_close(result.cpu(), function(values))

    def test_an_operator_of_the_vendor_s_runs_on_its_devices_only(self) -> None:
        torch.cuda.init()
        clip = torch.ops.acme.soft_clip
        torch.testing.assert_close(
            clip(torch.ones(3, device=ACME), 2.0).cpu(), 2 * torch.tanh(torch.ones(3) / 2)
        )
        for device in (FAKE, SIM, torch.device("cpu")):
            with self.assertRaisesRegex(NotImplementedError, "soft_clip"):
                clip(torch.ones(3, device=device), 2.0)

    def test_the_vendor_s_kernels_are_named_by_the_dispatcher(self) -> None:
        torch.cuda.init()
        self.assertIn(_OPERATORS, torch._C._dispatch_dump("aten::relu"))
        self.assertNotIn(_OPERATORS, torch._C._dispatch_dump("aten::tanh"))

    def test_work_of_the_vendor_s_is_in_the_stream_s_order(self) -> None:
        stream = torch.cuda.Stream(ACME)
        with torch.cuda.stream(stream):
            values = torch.full((1 << 20,), -1.0, device=ACME)
            for _ in range(20):
                values = torch.relu(values) - 1
        stream.synchronize()
        self.assertEqual(values.unique().tolist(), [-1.0])

    def test_a_model_is_split_across_them(self) -> None:
        def train(first: torch.device, second: torch.device) -> torch.Tensor:
            torch.manual_seed(0)
            lower = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 8)).to(first)
            upper = nn.Sequential(nn.ReLU(), nn.Linear(8, 3)).to(second)
            optimizer = torch.optim.Adam([*lower.parameters(), *upper.parameters()], 1e-2)
            losses = []
            for _ in range(5):
                optimizer.zero_grad()
                inputs, labels = torch.randn(4, 8), torch.randint(3, (4,))
                scores = upper(lower(inputs.to(first)).to(second))
                loss = nn.functional.cross_entropy(scores, labels.to(second))
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            return torch.tensor(losses)

        host = torch.device("cpu")
        wanted = train(host, host)
        for first, second in ((ACME, SIM), (FAKE, ACME), (SIM, ACME)):
            torch.testing.assert_close(train(first, second), wanted)


class LibraryTest(absltest.TestCase):
    """How the library of operators is found, and what is said when it cannot be used."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)

    def link(self, name: str, target: str) -> str:
        (self.folder / name).symlink_to(os.path.realpath(target))
        return str(self.folder / name)

    def test_a_device_without_operators_runs_on_the_cpu_s(self) -> None:
        alone = self.link("libaccel_acme.so", _LIBRARY)
        program = """
            import torch
            print(torch.relu(torch.tensor([-1.0, 1.0], device="cuda")).tolist())
            print("acme_operators" in torch._C._dispatch_dump("aten::relu"))
        """
        self.assertEqual(programs.output(program, TORCH_CUDA_DEVICES=alone), "[0.0, 1.0]\nFalse")

    def test_a_device_that_is_hidden_loads_no_operators(self) -> None:
        program = """
            import torch
            torch.cuda.init()
            print("acme_operators" in torch._C._dispatch_dump("aten::relu"))
        """
        settings = {"TORCH_CUDA_DEVICES": f"{_LIBRARY},sim", "CUDA_VISIBLE_DEVICES": "1"}
        self.assertEqual(programs.output(program, **settings), "False")

    def test_what_is_no_library_of_operators_is_said(self) -> None:
        library = self.link("libaccel_acme.so", _LIBRARY)
        operators = self.link("libaccel_acme_operators.so", _LIBRARY)
        done = programs.run(
            "import torch; torch.ones(1, device='cuda')", TORCH_CUDA_DEVICES=library
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"{operators}, cannot be used: it has no function", done.stderr)

    def test_what_does_not_load_is_said(self) -> None:
        library = self.link("libaccel_acme.so", _LIBRARY)
        (self.folder / "libaccel_acme_operators.so").write_text("no library")
        done = programs.run(
            "import torch; torch.ones(1, device='cuda')", TORCH_CUDA_DEVICES=library
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the operators of device library acme", done.stderr)

    def test_an_installed_distribution_brings_a_device(self) -> None:
        device = self.link("device.so", _LIBRARY)
        operators = self.link("operators.so", _OPERATORS)
        paths = {"library": device, "operators": operators}
        (self.folder / "acme_device.py").write_text(f"def paths():\n    return {paths!r}\n")
        info = self.folder / "acme_device-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Name: acme_device\nVersion: 1\n")
        (info / "entry_points.txt").write_text("[torch_cuda.devices]\nacme = acme_device:paths\n")
        program = f"""
            import sys
            sys.path.insert(0, {str(self.folder)!r})
            import torch
            torch.cuda.init()
            print(torch.cuda.get_device_name(1))
            print({operators!r} in torch._C._dispatch_dump("aten::relu"))
            print(torch.ops.acme.soft_clip(torch.zeros(1, device="cuda:1"), 1.0).item())
        """
        self.assertEqual(programs.output(program, TORCH_CUDA_DEVICES="sim,acme"), "acme\nTrue\n0.0")


if __name__ == "__main__":
    absltest.main()
