"""The program nvidia-smi, on NVML over the simulated device, with a process that uses it.

smi_test.py PROGRAM LIBRARY...: a program that uses a device, the libraries of the wheel, the simulator's last.
"""

from __future__ import annotations

import contextlib
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import ClassVar
from xml.etree import ElementTree

import torch_cuda_runtime
from absl.testing import absltest

PROGRAM, *LIBRARIES = (pathlib.Path(path).absolute() for path in sys.argv[1:])
del sys.argv[1:]

# Processes of the machine meet, so the device is one that no other test has.
DEVICE = 15
UUID = "GPU-63756461-7369-6d2d-6465-766963652d0f"  # "cudasim-device-" and its number
BUS_ID = "00000000:10:00.0"
MEBIBYTES = 5
MAIN = "import sys; from torch_cuda_runtime._smi.program import main; sys.exit(main())"


class SmiTest(absltest.TestCase):
    folder: ClassVar[pathlib.Path]
    environ: ClassVar[dict[str, str]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.folder = pathlib.Path(absltest.get_default_test_tmpdir()) / "site"
        package = cls.folder / "torch_cuda_runtime"
        shutil.copytree(pathlib.Path(torch_cuda_runtime.__file__).parent, package)
        (package / "lib").mkdir()
        for library in LIBRARIES:
            shutil.copy(library, package / "lib")
        cls.environ = {
            "PATH": "/nowhere",
            "PYTHONPATH": str(cls.folder),
            "TORCH_CUDA_DEVICES": str(package / "lib" / LIBRARIES[-1].name),
            "CUDASIM_DEVICES": str(DEVICE + 1),
        }

    def run_smi(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", MAIN, *arguments],
            env={**self.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )

    def output(self, *arguments: str) -> str:
        done = self.run_smi(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def rows(self, query: str, *arguments: str) -> list[dict[str, str]]:
        """Of our device, as a script reads them; by the heads of the columns."""
        text = self.output(query, "--format=csv", "-i", str(DEVICE), *arguments)
        return list(csv.DictReader(text.splitlines(), skipinitialspace=True))

    @contextlib.contextmanager
    def process(self, *words: str) -> Iterator[int]:
        """A process that uses our device; yields its number."""
        running = subprocess.Popen(
            [PROGRAM, str(MEBIBYTES << 20), *words],
            env={"CUDASIM_DEVICES": str(DEVICE + 1), "CUDA_VISIBLE_DEVICES": str(DEVICE)},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert running.stdout is not None
            yield int(running.stdout.readline().split()[0])
        finally:
            running.kill()
            running.communicate()

    def test_columns_have_the_names_units_and_values_that_scripts_read(self) -> None:
        names = "index,gpu_name,uuid,pci.bus_id,compute_cap,memory.total,memory.used,memory.free,clocks.sm"
        (row,) = self.rows(f"--query-gpu={names}")
        self.assertEqual(
            list(row),
            [
                *("index", "name", "uuid", "pci.bus_id", "compute_cap"),
                *("memory.total [MiB]", "memory.used [MiB]", "memory.free [MiB]"),
                "clocks.current.sm [MHz]",
            ],
        )
        self.assertEqual(row["index"], str(DEVICE))
        self.assertEqual(row["name"], "cudasim sm_80")
        self.assertEqual(row["uuid"], UUID)
        self.assertEqual(row["pci.bus_id"], BUS_ID)
        self.assertEqual(row["compute_cap"], "8.0")
        self.assertEqual(row["memory.used [MiB]"], "0 MiB")
        self.assertEqual(row["memory.free [MiB]"], row["memory.total [MiB]"])
        self.assertEqual(row["clocks.current.sm [MHz]"], "1410 MHz")

    def test_numbers_alone(self) -> None:
        form = "--format=csv,noheader,nounits"
        lines = self.output("--query-gpu=index,memory.total,utilization.gpu", form).splitlines()
        self.assertLen(lines, DEVICE + 1)
        for index, line in enumerate(lines):
            first, total, busy = map(int, line.split(", "))
            self.assertEqual(first, index)
            self.assertGreater(total, 0)
            self.assertIn(busy, (0, 100))

    def test_what_a_device_does_not_have_is_no_number(self) -> None:
        missing = "temperature.gpu,power.draw,fan.speed,ecc.mode.current,mig.mode.current,serial"
        (row,) = self.rows(f"--query-gpu={missing}")
        self.assertEqual(set(row.values()), {"[N/A]"})

    def test_every_field_can_be_queried(self) -> None:
        for query in ("query-gpu", "query-compute-apps"):
            names = re.findall(r'"([^"]+)"', self.output(f"--help-{query}"))
            self.assertGreater(len(names), 8)
            # A name more is an error, so none of these is.
            self.output(f"--{query}={','.join(names)}", "--format=csv")

    def test_a_process_is_seen_everywhere(self) -> None:
        with self.process("busy") as pid:
            (row,) = self.rows("--query-compute-apps=pid,name,used_memory,gpu_uuid")
            self.assertEqual(
                row,
                {
                    "pid": str(pid),
                    "process_name": str(PROGRAM),
                    "used_gpu_memory [MiB]": f"{MEBIBYTES} MiB",
                    "gpu_uuid": UUID,
                },
            )
            (row,) = self.rows("--query-gpu=memory.used,utilization.gpu")
            self.assertEqual(
                row, {"memory.used [MiB]": f"{MEBIBYTES} MiB", "utilization.gpu [%]": "100 %"}
            )
            table = self.output("-i", UUID)
            self.assertRegex(table, rf"\| +{MEBIBYTES}MiB / +\d+MiB \| +100% +Default \|")
            self.assertRegex(table, rf"\| +{DEVICE} .* {pid} +C +\S+ +{MEBIBYTES}MiB \|")
            log = ElementTree.fromstring(self.output("-q", "-x", "-i", str(DEVICE)))
            self.assertEqual(log.findtext(".//process_info/pid"), str(pid))
        until = time.monotonic() + 60
        while self.rows("--query-compute-apps=pid"):
            self.assertLess(time.monotonic(), until)
        self.assertIn("No running processes found", self.output("-i", str(DEVICE)))

    def test_the_table_is_even(self) -> None:
        # The date alone is a line of its own length.
        lines = [line for line in self.output().splitlines()[1:] if line]
        self.assertEqual({len(line) for line in lines}, {91})
        self.assertRegex(lines[1], r"Driver Version: \d+\.\d+ .*CUDA Version: \d+\.\d ")

    def test_reports_say_the_same(self) -> None:
        names = "uuid,pci.bus_id,memory.total,clocks.max.sm,pcie.link.gen.max,compute_mode,pstate"
        (row,) = self.rows(f"--query-gpu={names}")
        log = ElementTree.fromstring(self.output("-q", "-x", "-i", str(DEVICE)))
        self.assertEqual(log.tag, "nvidia_smi_log")
        gpus = log.findall("gpu")
        self.assertLen(gpus, 1)
        paths = (
            *("uuid", "pci/pci_bus_id", "fb_memory_usage/total", "max_clocks/sm_clock"),
            *("pci/pci_gpu_link_info/pcie_gen/max_link_gen", "compute_mode", "performance_state"),
        )
        self.assertEqual([gpus[0].findtext(path) for path in paths], list(row.values()))
        self.assertEqual(gpus[0].findtext("pci/pci_bus"), "10")
        text = self.output("-q", "-i", str(DEVICE))
        self.assertRegex(text, r"(?m)^ +Bus +: 0x10$")
        for value in row.values():
            self.assertRegex(text, rf"(?m) : {re.escape(value)}$")
        part = self.output("-q", "-d", "memory", "-i", str(DEVICE))
        self.assertIn("FB Memory Usage", part)
        self.assertNotIn("Clocks", part)

    def test_devices_are_chosen_by_index_uuid_and_place(self) -> None:
        line = f"GPU {DEVICE}: cudasim sm_80 (UUID: {UUID})\n"
        self.assertEqual(self.output("-L").splitlines(keepends=True)[DEVICE], line)
        for name in (str(DEVICE), UUID, BUS_ID, "0000:10:00.0"):
            self.assertEqual(self.output("-L", f"--id={name}"), line)
        self.assertLen(self.output("-L", "-i", "0,3").splitlines(), 2)
        # As NVIDIA's, it shows devices that CUDA does not.
        done = self.run_smi("-L", CUDA_VISIBLE_DEVICES="0")
        self.assertLen(done.stdout.splitlines(), DEVICE + 1)

    def test_devices_meet_in_the_host(self) -> None:
        head, first, second = self.output("topo", "-m", "-i", "0,1").splitlines()[:3]
        self.assertEqual(head.split("\t")[:3], ["", "GPU0", "GPU1"])
        self.assertEqual(first.split("\t")[:3], ["GPU0", " X ", "SYS"])
        self.assertEqual(second.split("\t")[:3], ["GPU1", "SYS", " X "])

    def test_again_and_again(self) -> None:
        command = [
            sys.executable,
            "-c",
            MAIN,
            "--query-gpu=index",
            "--format=csv",
            "-i",
            "3",
            "-lms",
            "20",
        ]
        with subprocess.Popen(
            command, env=self.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as running:
            assert running.stdout is not None and running.stderr is not None
            lines = [running.stdout.readline().strip() for _ in range(4)]
            # Who reads no more ends it, without a word.
            running.stdout.close()
            self.assertNotEqual(running.wait(60), 0)
            self.assertEqual(running.stderr.read(), "")
        self.assertEqual(lines, ["index", "3", "3", "3"])

    def test_into_a_file(self) -> None:
        path = self.create_tempfile().full_path
        self.assertEqual(self.output("-L", "-f", path), "")
        self.assertEqual(pathlib.Path(path).read_text(), self.output("-L"))

    def test_statuses_are_those_of_the_manual(self) -> None:
        for status, arguments, needed in (
            (2, ("--query-gpu=memory", "--format=csv"), "--help-query-gpu"),
            (2, ("--query-gpu=name",), "--format=csv"),
            (2, ("--query-gpu=name", "--format=json"), "--format=csv"),
            (2, ("--unknown",), "-h"),
            (2, ("pmon",), "topo -m"),
            (2, ("-q", "-d", "HEAT"), "TEMPERATURE"),
            (6, ("-i", "99"), "-L"),
        ):
            done = self.run_smi(*arguments)
            self.assertEqual((done.returncode, done.stdout), (status, ""), arguments)
            self.assertStartsWith(done.stderr, "nvidia-smi: ")
            self.assertIn(needed, done.stderr)
        self.assertEqual(self.run_smi(CUDASIM_DEVICES="0").returncode, 6)
        self.assertEqual(self.run_smi(TORCH_CUDA_DEVICES="acme").returncode, 9)

    def test_nvidias_program_runs_where_no_device_is_asked_for(self) -> None:
        nobody = {"TORCH_CUDA_DEVICES": ""}
        done = self.run_smi(**nobody)
        self.assertEqual((done.returncode, done.stdout), (9, ""))
        self.assertIn("TORCH_CUDA_SIM=1", done.stderr)
        ours, theirs = (pathlib.Path(self.create_tempdir().full_path) for _ in range(2))
        for folder, text in (
            (
                ours,
                f"#!{sys.executable}\nfrom torch_cuda_runtime._smi.program import main\nmain()\n",
            ),
            (theirs, '#!/bin/sh\necho theirs "$@"\n'),
        ):
            (folder / "nvidia-smi").write_text(text)
            (folder / "nvidia-smi").chmod(0o755)
        path = os.pathsep.join(("/nowhere", str(ours), str(theirs)))
        self.assertEqual(self.run_smi("-L", "x y", PATH=path, **nobody).stdout, "theirs -L x y\n")
        self.assertIn("cudasim", self.run_smi("-L", PATH=path).stdout)


if __name__ == "__main__":
    absltest.main()
