"""Draws modules of PTX, valid and invalid: a context that is the same in all, and a few drawn forms in it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

HEAD = ".version 8.4\n.target sm_90\n.address_size 64\n"

# What drawn forms may name.
CONTEXT = """\
.global .u32 g[8];
.global .u64 h;
.global .align 16 .v4 .f32 gv[4];
.global .u32 g2[3][4];
.const .f32 c[4] = {1.0, 2.0, 3.0, 4.0};
.shared .align 16 .u32 s[16];
.extern .shared .align 16 .b8 dyn[];
.func plain(.param .b32 a) { ret; }
.func (.param .b32 r) both(.param .b32 a) { ret; }
.func (.param .align 8 .b8 r[16]) wide(.param .align 8 .b8 a[16], .param .b64 b) { ret; }
.extern .func vprintf(.param .b64 a, .param .b64 b);
"""
REGISTERS = """\
.reg .pred %p<4>; .reg .b32 %r<6>; .reg .u32 %u<4>; .reg .s32 %s<4>; .reg .b64 %rd<6>; .reg .f32 %f<6>;
.reg .f64 %fd<4>; .reg .b16 %h<4>; .reg .v4 .f32 %v; .reg .v2 .b32 %w<2>; .local .align 8 .u32 loc[4];
.shared .u32 sh[4]; .param .b32 st; .param .b32 sta[4]; .param .align 8 .b8 stb[16]; .param .b64 pd;
"""


class Draw:
    """Choices of one module.

    Args:
        seed: of all of them.
        odd: how often something is drawn that probably does not belong there.
    """

    def __init__(self, seed: int, odd: float = 0.1) -> None:
        self.random = random.Random(seed)
        self._odd = odd

    def of(self, *choices: str) -> str:
        """One of the choices, each as often as the others."""
        return self.random.choice(choices)

    def usually(self, normal: Sequence[str], odd: Sequence[str]) -> str:
        """One of the first, or now and then one of the others."""
        return self.random.choice(odd if self.is_odd() else normal)

    def is_odd(self) -> bool:
        """Whether something is drawn that probably does not belong there."""
        return self.random.random() < self._odd

    def maybe(self, text: str, share: float = 0.3) -> str:
        """The text, or nothing."""
        return text if self.random.random() < share else ""


Form = Callable[[Draw], str]


def changed(draw: Draw, text: str) -> str:
    """A text with a word that is left out, there twice, or in the place of its neighbour.

    Args:
        draw: makes the choices.
        text: of one form.

    Returns:
        Another text, of which little is valid.
    """
    words = text.split(" ")
    at = draw.random.randrange(len(words))
    kind = draw.random.randrange(4)
    if kind == 0 and len(words) > 1:
        del words[at]
    elif kind == 1:
        words.insert(at, words[at])
    elif kind == 2 and at > 0:
        words[at - 1], words[at] = words[at], words[at - 1]
    else:
        letters = list(text)
        place = draw.random.randrange(len(letters))
        if draw.random.random() < 0.5:
            del letters[place]
        else:
            letters.insert(place, draw.of(*";,.[]{}()@!|_+-<>=0a"))
        return "".join(letters)
    return " ".join(words)


def kernel(body: str) -> str:
    """A module whose kernel has these statements."""
    return (
        HEAD
        + CONTEXT
        + ".visible .entry k(.param .u64 kp, .param .u32 ka[4]) {\n"
        + REGISTERS
        + body
        + "\nret;\n}\n"
    )


def module(declarations: str) -> str:
    """A module with these declarations behind others."""
    return HEAD + CONTEXT + declarations + "\n"
