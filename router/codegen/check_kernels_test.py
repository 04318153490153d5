"""Kernels that the YAML names and nobody defines are told with the YAML's line, before the link."""

from __future__ import annotations

import contextlib
import io
import json
import pathlib
import subprocess

from absl.testing import absltest

from router.codegen import check_kernels

_REGISTERED = """
namespace acme { int relu(int); struct structured_f { void impl(int); }; int both(int); }
int all() { acme::structured_f f; f.impl(1); return acme::relu(1) + acme::both(2); }
"""
_KERNELS = [
    {"function": "acme::relu", "operator": "relu", "line": 7, "source": "y.yaml"},
    {"function": "acme::structured_f::impl", "operator": "f.out", "line": 9, "source": "y.yaml"},
    {"function": "acme::both", "operator": "both", "line": 11, "source": "y.yaml"},
]


class CheckKernelsTest(absltest.TestCase):
    def check(self, *sources: str) -> tuple[int, str, bool]:
        folder = pathlib.Path(self.create_tempdir().full_path)
        objects = []
        for index, source in enumerate(sources):
            objects.append(str(folder / f"{index}.o"))
            subprocess.run(
                ["g++-13", "-fPIC", "-c", "-x", "c++", "-", "-o", objects[-1]],
                input=source,
                text=True,
                check=True,
            )
        kernels, stamp = folder / "kernels.json", folder / "stamp"
        kernels.write_text(json.dumps(_KERNELS))
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            status = check_kernels.main(
                [f"--kernels={kernels}", "--nm=nm", f"--stamp={stamp}", *objects]
            )
        return status, errors.getvalue(), stamp.exists()

    def test_all_are_defined(self) -> None:
        kernels = """
            namespace acme { int relu(int) { return 0; } int both(int) { return 0; }
            struct structured_f { void impl(int); }; void structured_f::impl(int) {} }
        """
        self.assertEqual(self.check(_REGISTERED, kernels), (0, "", True))

    def test_what_is_missing_is_named_with_its_line_and_what_there_is(self) -> None:
        kernels = "namespace acme { int relu(long) { return 0; } int both(int) { return 0; } }"
        status, errors, stamped = self.check(_REGISTERED, kernels)
        self.assertEqual((status, stamped), (1, False))
        self.assertRegex(errors, r"y\.yaml:7: .*relu(?s:.*)needed acme::relu\(int\)")
        self.assertIn("found  acme::relu(long)", errors)
        self.assertRegex(errors, r"y\.yaml:9: .*f\.out(?s:.*)found  none of that name")
        self.assertNotIn("both", errors)


if __name__ == "__main__":
    absltest.main()
