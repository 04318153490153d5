"""Which devices there are and what they are: CUDASIM_DEVICES, CUDASIM_PROFILE, CUDA_VISIBLE_DEVICES."""

from __future__ import annotations

import unittest

from absl.testing import absltest, parameterized

from tests.device_behaviour import programs

NAMES = """
    import torch
    print(torch.cuda.device_count(), torch.cuda.is_available())
    for index in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(index)
        print(properties.name, torch.cuda.get_device_capability(index), properties.uuid)
"""


@unittest.skipUnless(programs.IS_SIMULATED, "settings of the simulated device")
class VisibleDevicesTest(parameterized.TestCase):
    @parameterized.parameters(("sm_80", (8, 0)), ("sm_89", (8, 9)), ("sm_120", (12, 0)))
    def test_a_profile_is_name_and_capability(
        self, profile: str, capability: tuple[int, int]
    ) -> None:
        program = """
            import torch
            print(torch.cuda.get_device_name(), torch.cuda.get_device_capability())
            values = torch.arange(100, device="cuda")
            print(values.half().sum(dtype=torch.float32).item(), (values * values).sum().item())
        """
        lines = programs.output(program, CUDASIM_PROFILE=profile).splitlines()
        self.assertIn(f"{profile} {capability}", lines[0])
        self.assertEqual(lines[1], "4950.0 328350", "and the wheel's kernels run on it")

    def test_the_name_can_be_the_models(self) -> None:
        asked = {"CUDASIM_PROFILE": "sm_90", "CUDASIM_NAME": "model"}
        names = programs.output(NAMES, **asked).splitlines()[1:]
        self.assertIn("NVIDIA H100 (simulated) (9, 0)", names[0])

    def test_an_unknown_profile_names_those_that_exist(self) -> None:
        done = programs.run("import torch; torch.ones(1).cuda()", CUDASIM_PROFILE="sm_70")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "CUDASIM_PROFILE.*sm_70.*sm_80.*sm_90")
        self.assertIn("RuntimeError", done.stderr)

    def test_selection_and_order(self) -> None:
        count, *all_devices = programs.output(NAMES, CUDASIM_DEVICES="3").splitlines()
        self.assertEqual(count, "3 True")
        self.assertLen(set(all_devices), 3, "each has a UUID of its own")
        # Like NVIDIA's: nothing after the first that does not exist.
        for visible, expected in {"2,0": [2, 0], "0,7,1": [0], "": []}.items():
            lines = programs.output(
                NAMES, CUDASIM_DEVICES="3", CUDA_VISIBLE_DEVICES=visible
            ).splitlines()
            self.assertEqual(lines[0], f"{len(expected)} {expected != []}", visible)
            self.assertEqual(lines[1:], [all_devices[i] for i in expected], visible)

    def test_selection_by_uuid(self) -> None:
        every = programs.output(NAMES, CUDASIM_DEVICES="2").splitlines()[1:]
        uuid = every[1].split()[-1]
        lines = programs.output(
            NAMES, CUDASIM_DEVICES="2", CUDA_VISIBLE_DEVICES=f"GPU-{uuid}"
        ).splitlines()
        self.assertEqual(lines[1:], [every[1]])

    def test_the_selected_one_is_cuda_0(self) -> None:
        program = "import torch; print(torch.ones(2, device='cuda').sum().item())"
        self.assertEqual(
            programs.output(program, CUDASIM_DEVICES="2", CUDA_VISIBLE_DEVICES="1"), "2.0"
        )


if __name__ == "__main__":
    absltest.main()
