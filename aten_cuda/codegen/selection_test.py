"""Tests of how a profile's entries are resolved."""

import json
from pathlib import Path

from absl.testing import absltest

from aten_cuda.codegen.operators import BACKENDS, Kernel, Operator
from aten_cuda.codegen.selection import Entries, Profile, ProfileError, Selection, matches, resolve


def operator(name: str, *backends: str) -> Operator:
    """An operator with kernels for some backends; none means that it is composed of others."""
    base, _, overload = name.partition(".")
    return Operator(
        name=name,
        base=base,
        stem=base.removesuffix("_"),
        overload=overload,
        kernels={backend: Kernel(name, structured=False) for backend in backends},
        composites=() if backends else (base,),
        native=None,
    )


OPERATORS = [
    operator("add.Tensor", "CUDA", "SparseCUDA"),
    operator("add_.Tensor", "CUDA", "SparseCUDA"),
    operator("add.out", "CUDA", "SparseCUDA"),
    operator("addmm", "CUDA"),
    operator("relu", "CUDA"),
    operator("_foreach_add.List", "CUDA"),
    operator("_foreach_acos", "CUDA"),
    operator("einsum"),
]


def selected(*entries: str, backends: tuple[str, ...] = ("CUDA",)) -> dict[str, set[str]]:
    profile = Profile("p", selections=(Selection("//p", entries, backends),))
    return resolve(profile, OPERATORS)


class ResolveTest(absltest.TestCase):
    def test_a_name_is_the_whole_family_and_nothing_else(self) -> None:
        self.assertEqual(selected("add")["CUDA"], {"add.Tensor", "add_.Tensor", "add.out"})

    def test_an_in_place_name_is_the_in_place_form_alone(self) -> None:
        self.assertEqual(selected("add_")["CUDA"], {"add_.Tensor"})

    def test_a_dot_means_an_overload(self) -> None:
        self.assertEqual(selected("add.Tensor")["CUDA"], {"add.Tensor"})
        self.assertEqual(selected("relu.default")["CUDA"], {"relu"})

    def test_patterns_are_shell_patterns(self) -> None:
        self.assertEqual(selected("_foreach_*")["CUDA"], {"_foreach_add.List", "_foreach_acos"})
        self.assertEqual(selected("add.*")["CUDA"], {"add.Tensor", "add.out"})

    def test_an_exclamation_mark_takes_out_again(self) -> None:
        self.assertEqual(selected("_foreach_*", "!_foreach_acos")["CUDA"], {"_foreach_add.List"})

    def test_only_the_backends_asked_for_are_registered(self) -> None:
        self.assertEqual(selected("add")["SparseCUDA"], set())
        both = selected("add.out", "addmm", backends=("CUDA", "SparseCUDA"))
        self.assertEqual(both["CUDA"], {"add.out", "addmm"})
        self.assertEqual(both["SparseCUDA"], {"add.out"})
        self.assertEqual(set(both), set(BACKENDS))

    def test_a_composed_operator_may_be_named_and_registers_nothing(self) -> None:
        self.assertEqual(selected("einsum")["CUDA"], set())

    def test_full_is_every_kernel(self) -> None:
        full = resolve(Profile("full", full=True), OPERATORS)
        self.assertLen(full["CUDA"], 7)
        self.assertEqual(full["SparseCUDA"], {"add.Tensor", "add_.Tensor", "add.out"})

    def test_an_unknown_operator_is_named_with_its_target_and_near_matches(self) -> None:
        with self.assertRaisesRegex(ProfileError, "//p: no operator .* 'admm'; near: addmm"):
            selected("admm")

    def test_an_unknown_overload_is_named_with_the_known_ones(self) -> None:
        with self.assertRaisesRegex(ProfileError, r"'add.Scalar'; near: .*add\.Tensor"):
            selected("add.Scalar")

    def test_a_pattern_that_matches_nothing_is_an_error_even_when_it_excludes(self) -> None:
        for entry in ("_sparse_*", "!_sparse_*"):
            with self.assertRaisesRegex(ProfileError, "_sparse_"):
                selected("add", entry)

    def test_all_unknown_entries_are_told_at_once(self) -> None:
        with self.assertRaisesRegex(ProfileError, "'nope'.*\n.*'nix'"):
            selected("nope", "nix")

    def test_a_family_entry_does_not_match_by_prefix(self) -> None:
        self.assertFalse(matches("add", operator("addmm")))

    def test_entries_mean_what_matches(self) -> None:
        patterns = {"*", "add*", "add.*", "?dd", "[ab]*.out", "nope", "add.nope", ""}
        for known in OPERATORS:
            full = f"{known.base}.{known.overload or 'default'}"
            patterns |= {known.stem, known.base, known.name, full}
        entries = Entries(OPERATORS)
        for pattern in sorted(patterns):
            with self.subTest(pattern):
                self.assertEqual(
                    entries.meant_by(pattern), [op for op in OPERATORS if matches(pattern, op)]
                )


class LoadTest(absltest.TestCase):
    def test_reads_what_the_rule_writes(self) -> None:
        path = Path(self.create_tempfile("x.profile.json").full_path)
        selection = {"label": "//p", "operators": ["add"], "backends": ["CUDA"]}
        path.write_text(
            json.dumps(
                {
                    "name": "//p",
                    "full": False,
                    "kernels": ["native/cuda/Copy.cu"],
                    "runtime_kernels": [],
                    "left_out": ["cudnn_*"],
                    "selections": [selection],
                }
            )
        )
        profile = Profile.load(str(path))
        self.assertEqual(profile.selections, (Selection("//p", ("add",)),))
        self.assertEqual(profile.kernels, {"native/cuda/Copy.cu"})
        self.assertEqual(profile.left_out, {"cudnn_*"})

    def test_full_needs_no_file(self) -> None:
        self.assertTrue(Profile.load("full").full)

    def test_a_file_that_is_not_there_says_what_is_needed(self) -> None:
        with self.assertRaisesRegex(ProfileError, "no profile at /nowhere; need `full` or"):
            Profile.load("/nowhere")

    def test_a_file_of_another_form_says_what_is_missing(self) -> None:
        path = self.create_tempfile("x.json", content='{"name": "x"}').full_path
        with self.assertRaisesRegex(ProfileError, "is not a profile .*'full'"):
            Profile.load(path)


if __name__ == "__main__":
    absltest.main()
