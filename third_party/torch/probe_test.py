"""Which installed torch can be built against, and what is said about the others."""

import json
import pathlib
import subprocess
import sys
from unittest import mock

from absl.testing import absltest

from third_party.torch import probe


class ProbeTest(absltest.TestCase):
    """Checks and descriptions of an installed torch."""

    def test_the_cpu_half_of_the_same_version_is_accepted(self) -> None:
        for version in ("2.6.0", "2.6.0+cpu", "2.6.0+debian"):
            probe.require_cpu_torch(version, None, "2.6.0")

    def test_another_version_is_refused_and_both_are_named(self) -> None:
        with self.assertRaisesRegex(probe.ProbeError, r"torch 2\.5\.1\+cpu .* 2\.6\.0"):
            probe.require_cpu_torch("2.5.1+cpu", None, "2.6.0")

    def test_a_torch_with_cuda_is_refused_and_both_are_named(self) -> None:
        with self.assertRaisesRegex(
            probe.ProbeError, r"2\.6\.0\+cu124 .* already has CUDA 12\.4.* 2\.6\.0"
        ):
            probe.require_cpu_torch("2.6.0+cu124", "12.4", "2.6.0")

    def test_the_message_says_what_to_type(self) -> None:
        with self.assertRaisesRegex(probe.ProbeError, "--repo_env=TORCH_CUDA_PYTHON="):
            probe.require_cpu_torch("2.5.1", None, "2.6.0")

    def test_missing_headers_and_libraries_are_refused(self) -> None:
        package = pathlib.Path(self.create_tempdir().full_path)
        with (
            mock.patch.object(probe, "HEADER_FOLDERS", ("headers_of_nothing",)),
            self.assertRaisesRegex(probe.ProbeError, "has no C\\+\\+ headers"),
        ):
            probe.find_includes(package)
        with (
            mock.patch.object(probe, "LIBRARIES", ("library_of_nothing",)),
            self.assertRaisesRegex(probe.ProbeError, "has no liblibrary_of_nothing.so"),
        ):
            probe.find_libraries(package)

    def test_the_description_fits_this_interpreter(self) -> None:
        import torch

        version = torch.__version__.split("+")[0]
        command = [sys.executable, probe.__file__, "--source-version", version]
        result = subprocess.run(command, check=True, capture_output=True, text=True)
        described = json.loads(result.stdout)
        self.assertEqual(described["version"], torch.__version__)
        self.assertEqual(described["cxx11_abi"], torch.compiled_with_cxx11_abi())
        self.assertTrue(pathlib.Path(described["includes"]["ATen"], "ATen.h").is_file())
        self.assertTrue(pathlib.Path(described["libraries"]["libtorch_cpu.so"]).is_file())

    def test_the_cpus_of_the_dispatch_stubs_are_read_from_the_library(self) -> None:
        library = pathlib.Path(self.create_tempdir().full_path) / "libtorch_cpu.so"
        lookup = b"_ZN2at6native16DispatchStubImpl12get_call_ptrEN3c1010DeviceTypeEPv"
        for symbol, definitions in {
            lookup + b"S4_S4_": ["HAVE_AVX2_CPU_DEFINITION", "HAVE_AVX512_CPU_DEFINITION"],
            lookup + b"S4_": ["HAVE_AVX2_CPU_DEFINITION"],
            lookup: [],
        }.items():
            library.write_bytes(b"\0other\0" + symbol + b"\0")
            self.assertEqual(probe.cpu_definitions(library), definitions)

    def test_a_refusal_is_one_message_and_exit_code_1(self) -> None:
        command = [sys.executable, probe.__file__, "--source-version", "0.0.1"]
        result = subprocess.run(command, check=False, capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, "")
        self.assertLen(result.stderr.splitlines(), 1)


if __name__ == "__main__":
    absltest.main()
