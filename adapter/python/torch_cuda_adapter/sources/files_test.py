"""Files with their headers: where translations go, what stays byte by byte, and what fails leaves nothing."""

from __future__ import annotations

import os
import pathlib
from unittest import mock

from absl.testing import absltest, parameterized

from torch_cuda_adapter import platforms
from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.sources import cache, files, translator
from torch_cuda_adapter.sources.rules import Rules

MUSA = Rules(platforms.load("musa"))


class FilesTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.project = self.folder / "project"
        self.out = self.folder / "out"

    def write(self, name: str, text: str | bytes) -> str:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    def run_all(
        self,
        *sources: str,
        in_place: bool = False,
        include: tuple[str, ...] = (),
        own: tuple[str, ...] = (),
    ) -> list[pathlib.Path]:
        out = None if in_place else self.out
        translated = files.translate_files(
            sources,
            MUSA,
            out=out,
            include_folders=[self.project / name for name in include],
            own_folders=[self.project / name for name in own],
        )
        self.findings = [str(finding) for file in translated for finding in file.findings]
        return files.write(translated, in_place=in_place)

    def tree(self, root: pathlib.Path) -> dict[str, str]:
        return {
            str(path.relative_to(root)): path.read_text(encoding="utf-8")
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    def test_a_tree(self) -> None:
        kernel = self.write(
            "csrc/k.cu", '#include "../inc/k.cuh"\n#include <vector>\ncudaFree(p);\n'
        )
        host = self.write("csrc/host.cpp", '#include "plain.h"\n#include "gone.h"\n')
        self.write("inc/k.cuh", '#include "deep/d.h"\n')
        self.write("inc/deep/d.h", "cudaStream_t s;\n")
        self.write("csrc/plain.h", "int x;\n")
        before = self.tree(self.project)
        self.run_all(kernel, host)
        self.assertEqual(
            self.tree(self.out),
            {
                "csrc/k.mu": '#include "../inc/k.muh"\n#include <vector>\nmusaFree(p);\n',
                "csrc/host.cpp": '#include "plain.h"\n#include "gone.h"\n',
                "csrc/plain.h": "int x;\n",
                "inc/k.muh": '#include "deep/d.h"\n',
                "inc/deep/d.h": "musaStream_t s;\n",
            },
        )
        self.assertEqual(self.tree(self.project), before)

    def test_headers_of_an_include_folder(self) -> None:
        source = self.write(
            "csrc/k.cu", '#include <lib/a.cuh>\n#include "lib/b.h"\n#include "c.h"\n'
        )
        self.write("include/lib/a.cuh", '#include "b.h"\ncudaFree\n')
        self.write("include/lib/b.h", "cudaMalloc\n")
        self.write("csrc/c.h", "\n")
        self.run_all(source, include=("include",))
        tree = self.tree(self.out)
        self.assertEqual(
            tree["csrc/k.mu"],
            '#include "../include/lib/a.muh"\n#include "../include/lib/b.h"\n#include "c.h"\n',
        )
        self.assertEqual(tree["include/lib/a.muh"], '#include "b.h"\nmusaFree\n')
        self.assertEqual(tree["include/lib/b.h"], "musaMalloc\n")

    def test_ones_own_header_wins_over_a_rule(self) -> None:
        source = self.write("k.cpp", '#include "cuda_runtime.h"\n#include <cuda_runtime.h>\n')
        self.write("cuda_runtime.h", "cudaFree\n")
        self.run_all(source)
        self.assertEqual(
            self.tree(self.out)["k.cpp"], '#include "cuda_runtime.h"\n#include <musa_runtime.h>\n'
        )

    def test_folders_and_copies_of_others_are_left_alone(self) -> None:
        text = "#include <cuda_runtime.h>\n#include <cub/cub.cuh>\n#include <cutlass/cutlass.h>\n"
        source = self.write("k.cpp", text)
        for name in ("cuda_runtime_api.h", "cuda_runtime.h", "cub/cub.cuh"):
            self.write(f"toolkit/{name}", "cudaFree\n")
        self.write("copies/cutlass/cutlass.h", "cudaFree\n")
        self.run_all(source, include=("toolkit", "copies"))
        expected = text.replace("cuda_r", "musa_r").replace("cutlass/", "mutlass/")
        self.assertEqual(self.tree(self.out), {"k.cpp": expected})

    def test_headers_that_include_each_other(self) -> None:
        source = self.write("a.h", '#include "b.h"\n#include "a.h"\n')
        self.write("b.h", '#include "a.h"\n')
        self.assertLen(self.run_all(source), 2)

    @parameterized.parameters(
        b"\xef\xbb\xbf#include <cuda.h>\r\n// caf\xe9 cudaFree\r\ncudaFree(p);\r\n\t \r\n",
        b"cudaFree(p); // no line end \xff\xfd",
        b"",
        b"\r\n\n\r cudaFree",
    )
    def test_bytes_that_are_no_names_stay(self, content: bytes) -> None:
        source = self.write("k.cpp", content)
        self.run_all(source)
        code = content.replace(b"cudaFree(", b"musaFree(").replace(b"cuda.h", b"musa.h")
        self.assertEqual(
            (self.out / "k.cpp").read_bytes(), code.replace(b"\r cudaFree", b"\r musaFree")
        )

    def test_in_place(self) -> None:
        source = self.write("k.cu", '#include "k.cuh"\ncudaFree\n')
        self.write("k.cuh", "cudaMalloc\n")
        pathlib.Path(source).chmod(0o640)
        self.run_all(source, in_place=True)
        expected = {"k.mu": '#include "k.muh"\nmusaFree\n', "k.muh": "musaMalloc\n"}
        self.assertEqual(self.tree(self.project), expected)
        self.assertEqual((self.project / "k.mu").stat().st_mode & 0o777, 0o640)
        self.assertEmpty(self.run_all(str(self.project / "k.mu"), in_place=True))
        self.assertEqual(self.tree(self.project), expected)

    def test_in_place_through_a_link(self) -> None:
        real = pathlib.Path(self.write("real.cpp", "cudaFree\n"))
        link = self.project / "link.cpp"
        link.symlink_to(real)
        self.run_all(str(link), in_place=True)
        self.assertTrue(link.is_symlink())
        self.assertEqual(real.read_text(), "musaFree\n")

    def test_in_place_headers_of_others_stay(self) -> None:
        """Wherever a header is found: in an include folder, on the way out of one, and behind a link."""
        text = (
            '#include <lib.h>\n#include "../near/n.cuh"\n#include "linked.h"\n'
            '#include <plain.h>\n#include "up.h"\ncudaFree\n'
        )
        source = self.write("csrc/k.cpp", text)
        self.write("csrc/up.h", '#include "../near/n.cuh"\n')
        self.write("lib/lib.h", '#include "../far/f.h"\ncudaMalloc\n')
        self.write("lib/plain.h", "int x;\n")
        self.write("far/f.h", "cudaMalloc\n")
        self.write("near/n.cuh", "int y;\n")
        (self.project / "csrc/linked.h").symlink_to(self.project / "far/f.h")
        before = self.tree(self.project)
        self.run_all(source, in_place=True, include=("lib",))
        self.assertEqual(
            self.tree(self.project),
            {**before, "csrc/k.cpp": text.replace("cudaFree", "musaFree")},
        )
        self.assertLen(self.findings, 4)
        for finding, name in zip(
            self.findings,
            ("<lib.h>", '"../near/n.cuh"', '"linked.h"', '"../near/n.cuh"'),
            strict=True,
        ):
            self.assertIn(f"unsupported: {name} (headers): it lies below no folder", finding)

    def test_in_place_headers_below_a_folder_that_is_named(self) -> None:
        source = self.write("csrc/k.cpp", '#include <lib.cuh>\n#include "sub/s.h"\n')
        self.write("csrc/sub/s.h", "cudaMalloc\n")
        self.write("lib/lib.cuh", "cudaMalloc\n")
        self.run_all(source, in_place=True, own=("lib",))
        self.assertEqual(
            self.tree(self.project),
            {
                "csrc/k.cpp": '#include <lib.muh>\n#include "sub/s.h"\n',
                "csrc/sub/s.h": "musaMalloc\n",
                "lib/lib.muh": "musaMalloc\n",
            },
        )
        self.assertEmpty(self.findings)

    def test_what_has_its_content_is_not_touched(self) -> None:
        source = self.write("k.cu", "cudaFree\n")
        self.assertLen(self.run_all(source), 1)
        os.utime(self.out / "k.mu", (1, 1))
        self.assertEmpty(self.run_all(source))
        self.assertEqual((self.out / "k.mu").stat().st_mtime, 1)

    def test_two_that_become_one(self) -> None:
        sources = [self.write("k.cu", ""), self.write("k.mu", "")]
        with self.assertRaisesRegex(AdapterError, "which both become .*k.mu; rename one"):
            self.run_all(*sources)

    def test_a_source_is_not_written_over(self) -> None:
        source = self.write("k.cpp", "")
        self.out = self.project
        with self.assertRaisesRegex(AdapterError, "would be written over; needed another folder"):
            self.run_all(source)

    def test_in_place_writes_over_no_other_file(self) -> None:
        source = self.write("k.cu", "cudaFree\n")
        self.write("k.mu", "mine\n")
        with self.assertRaisesRegex(AdapterError, "k.mu, which would be written over"):
            self.run_all(source, in_place=True)

    @parameterized.parameters(
        (b"\xff\xfec\0u\0", "is no text in UTF-8"), (b"\x7fELF\0", "is no text in UTF-8")
    )
    def test_what_is_no_text(self, content: bytes, message: str) -> None:
        with self.assertRaisesRegex(AdapterError, message):
            self.run_all(self.write("k.cu", content))

    def test_calls_too_deep_in_each_other(self) -> None:
        source = self.write("c.cpp", f"{'cudaGetErrorString(' * 700}e{')' * 700};")
        rules = Rules(platforms.load("npu"))
        with self.assertRaisesRegex(AdapterError, "c.cpp: found calls that are nested too deeply"):
            files.translate_files([source], rules, out=self.out)

    def test_no_such_file(self) -> None:
        with self.assertRaisesRegex(AdapterError, "found no source .*none.cu that can be read"):
            self.run_all(str(self.project / "none.cu"))

    def test_what_fails_leaves_nothing(self) -> None:
        sources = [self.write("a.cu", "cudaFree\n"), self.write("sub/b.cu", "cudaFree\n")]
        self.out.mkdir()
        # A file where a folder has to be.
        (self.out / "sub").write_text("in the way")
        with self.assertRaises(OSError):
            self.run_all(*sources)
        self.assertEqual(self.tree(self.out), {"sub": "in the way"})

    def test_nothing_is_written_before_all_is_translated(self) -> None:
        good = self.write("a.cu", "cudaFree\n")
        bad = self.write("b.cu", b"\0")
        with self.assertRaises(AdapterError):
            self.run_all(good, bad)
        self.assertFalse(self.out.exists())


class CacheTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.source = self.folder / "k.cu"
        self.header = self.folder / "k.cuh"
        self.source.write_text('#include "k.cuh"\ncudaFoo\n', encoding="utf-8")
        self.header.write_bytes(b"// \xe9\ncudaFree\n")
        self.cache = cache.Cache(self.folder / "cache")

    def translated(self) -> tuple[int, list[files.TranslatedFile]]:
        """How many texts were translated, and the files."""
        with mock.patch.object(translator, "translate", wraps=translator.translate) as spy:
            found = files.translate_files(
                [self.source], MUSA, out=self.folder / "out", cache=self.cache
            )
            return spy.call_count, found

    def test_the_second_time_nothing_is_translated(self) -> None:
        self.assertEqual(self.translated()[0], 2)
        count, again = self.translated()
        self.assertEqual(count, 0)
        self.assertEqual(
            [f.after for f in again], [b'#include "k.muh"\nmusaFoo\n', b"// \xe9\nmusaFree\n"]
        )
        self.assertEqual([f.name for f in again[0].findings], ["cudaFoo"])
        self.assertEndsWith(again[0].findings[0].path, "k.cu")
        self.assertEqual(again[1].translated["runtime"], 1)

    def test_another_content_is(self) -> None:
        self.translated()
        self.source.write_text('#include "k.cuh"\ncudaBar\n', encoding="utf-8")
        self.assertEqual(self.translated()[0], 1)
        self.header.unlink()
        # The same text now includes somebody else's header.
        count, found = self.translated()
        self.assertEqual(count, 1)
        self.assertEqual(found[0].after, b'#include "k.cuh"\nmusaBar\n')

    def test_a_broken_entry_is_none(self) -> None:
        self.translated()
        for path in (self.folder / "cache").rglob("*.json"):
            path.write_text("{", encoding="utf-8")
        self.assertEqual(self.translated()[0], 2)

    def test_a_cache_that_cannot_be_written(self) -> None:
        (self.folder / "cache").write_text("in the way")
        self.assertEqual(self.translated()[0], 2)
        self.assertEqual(self.translated()[0], 2)

    def test_what_was_not_used_for_long_is_deleted(self) -> None:
        self.translated()
        entries = list((self.folder / "cache").rglob("*.json"))
        for path in [*entries, self.folder / "cache" / "tidied"]:
            os.utime(path, (1, 1))
        self.source.write_text("cudaFree\n", encoding="utf-8")
        self.translated()
        self.assertFalse(any(path.exists() for path in entries))

    def test_where_it_is(self) -> None:
        with mock.patch.dict(os.environ, {cache.FOLDER_VARIABLE: "/a/b"}):
            self.assertEqual(cache.folder(), pathlib.Path("/a/b"))
        with mock.patch.dict(os.environ, {cache.FOLDER_VARIABLE: ""}):
            self.assertIsNone(cache.folder())
        with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": "/c"}, clear=True):
            self.assertEqual(cache.folder(), pathlib.Path("/c/torch_cuda_adapter/sources"))


if __name__ == "__main__":
    absltest.main()
