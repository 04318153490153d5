"""Of a function with several forms the newest works where an older one does: it is what programs are given."""

from __future__ import annotations

import pathlib
import re
import sys

from absl.testing import absltest

STUBS, EXPORTS, VERSIONS = (pathlib.Path(path) for path in sys.argv[1:4])
del sys.argv[1:4]


class FormsTest(absltest.TestCase):
    missing: set[str]
    exported: set[str]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        stubs = STUBS.read_text(encoding="utf-8")
        cls.missing = set(re.findall(r"^int (\w+)\(void\)", stubs, re.MULTILINE))
        cls.exported = set(
            re.findall(r"^    (\w+);$", EXPORTS.read_text(encoding="utf-8"), re.MULTILINE)
        )

    def works(self, name: str) -> bool:
        """Whether the function is there, and not as one that answers "not supported"."""
        return name in self.exported and name not in self.missing

    def test_the_newest_form_works_where_an_older_one_does(self) -> None:
        for line in VERSIONS.read_text(encoding="utf-8").splitlines():
            name, *versions = line.split()
            forms = [name, *(f"{name}_v{number + 2}" for number in range(len(versions) - 1))]
            self.assertContainsSubset(forms, self.exported)
            working = [form for form in forms if self.works(form)]
            with self.subTest(name):
                # From the first that works on.
                self.assertEqual(working, forms[len(forms) - len(working) :])

    def test_the_form_for_a_default_stream_of_the_threads_own_works_with_the_other(self) -> None:
        variants = [name for name in self.exported if name.endswith(("_ptsz", "_ptds"))]
        self.assertGreater(len(variants), 100)
        for name in variants:
            with self.subTest(name):
                self.assertEqual(self.works(name), self.works(name.rpartition("_")[0]))


if __name__ == "__main__":
    absltest.main()
