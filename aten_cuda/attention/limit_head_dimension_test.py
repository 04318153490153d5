"""limit_head_dimension on upstream's own file."""

import re
import sys
from pathlib import Path

from absl.testing import absltest

from aten_cuda.attention import limit_head_dimension

_UPSTREAM = Path(sys.argv.pop(1))


class LimitHeadDimensionTest(absltest.TestCase):
    def test_only_limits_change(self) -> None:
        upstream = _UPSTREAM.read_text(encoding="utf-8")

        limited = limit_head_dimension.limited(upstream, 128)

        changed = [
            (before, after)
            for before, after in zip(upstream.splitlines(), limited.splitlines(), strict=True)
            if before != after
        ]
        # The check of dense tensors and that of nested ones, each with its warning.
        self.assertLen(changed, 4)
        for before, after in changed:
            self.assertEqual(re.sub(r"\b256\b", "128", before), after)
        self.assertNotRegex(limited, r"SymInt\(256\)")

    def test_another_file_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "nothing in it matches"):
            limit_head_dimension.limited("int main() {}\n", 128)


if __name__ == "__main__":
    absltest.main()
