"""Where the verifier and ptxas differ, and why that stays so."""

from __future__ import annotations

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Difference:
    """One that stays.

    Attributes:
        taken_by: "ptxas" or "here".
        says: a pattern of what the other one says.
        reason: why it stays.
        text: a pattern of the module's drawn text.
    """

    taken_by: str
    says: str
    reason: str
    text: str = ""

    def covers(self, taken_by: str, says: str, text: str) -> bool:
        """Whether it is this difference."""
        return (
            taken_by == self.taken_by
            and re.search(self.says, says) is not None
            and re.search(self.text, text) is not None
        )


DIFFERENCES = [
    Difference(
        "ptxas",
        r"a variable in \.local, \.param or \.shared",
        "The device has no .global and .const variables inside bodies: a body is read when its kernel first runs.",
    ),
    Difference(
        "ptxas",
        r"found 'plain', expected a value of type",
        "ptxas takes the address of a function in a comparison of set, and PTX has it in mov only.",
        text=r"\bset\.",
    ),
    Difference(
        "ptxas",
        r"does not have (.*, )?brkpt\b",
        "There is no debugger that a kernel could stop for.",
    ),
    Difference(
        "ptxas",
        r"expected a value of type \.[ubs](16|32)",
        "A part of an address in .global memory, which is of no use. ptxas refuses some of them.",
        text=r"mov\.\w+ %\w+(\.\w)?, (g|h|c|g2|gv|plain)\b",
    ),
    Difference(
        "ptxas",
        r"found '\{_, .*, expected a value of type",
        "What a sink is worth that is read is not defined; ptxas refuses it in stores and in moves of vectors.",
    ),
    Difference(
        "ptxas",
        r"expected a value of type \.(b32|b64|u64)",
        "No row unpacks a special register, or takes an address for cvta.to: a register in between does.",
        text=r"mov\.b(32|64) \{.*, %\w+(\.\w)?;|cvta\.to\.\w+\.u64 %\w+, \w+\+",
    ),
    Difference(
        "ptxas",
        r"values of one type in braces",
        "PTX wants one type. ptxas forgets the types of components of a vector beside other registers.",
        text=r"%[vw]\d?\.[xyzwrgba]",
    ),
    Difference(
        "ptxas",
        r"found '\+', expected",
        "ptxas reads a sum of a register and a constant as the last operand of red and st, and PTX has none.",
        text=r"%\w+\+",
    ),
    Difference(
        "ptxas",
        r"expected 4 values in braces as operand [34]",
        "Partial derivatives of a cubemap are four by PTX's manual. ptxas looks at no number of them.",
        text=r"tex\.grad\.a?cube",
    ),
    Difference(
        "here",
        r"requires PTX ISA",
        "The device takes PTX of any version, as docs/cudasim.md says: .volatile in .local is new in 9.1.",
    ),
    Difference(
        "here",
        r"Invalid initial value expression",
        "generic() of a function is its address here, as of a variable.",
        text=r"generic\(plain\)",
    ),
    Difference(
        "here",
        r"32-Bit ABI",
        "ptxas finds by itself whether a module has addresses of 32 bits, which newer devices have in shared memory only.",
    ),
    Difference(
        "here",
        r"syntax error",
        "Sections with debug information are not read.",
        text=r"\.section",
    ),
    Difference(
        "here",
        r"Cannot take address of function 'vprintf'",
        "The functions of the device runtime have addresses here.",
    ),
    Difference(
        "ptxas",
        r"found '\.[usbf]\d+', expected a directive",
        "A type alone is no declaration by PTX's manual.",
        text=r"^\.\w+;",
    ),
    Difference(
        "ptxas",
        r"found '%[a-z]+0\d+', expected",
        "%r05 is no register of %r<6> by PTX's manual: its name is %r5.",
    ),
    Difference(
        "ptxas",
        r"found '%', expected the name of a (register|variable)",
        "A '%' before a digit is the remainder of a division here, and ptxas has names like %1.",
        text=r"%\d",
    ),
    Difference(
        "ptxas",
        r"found '%\w+', expected the name of a (register|variable)",
        "The name of a special register cannot be declared here; ptxas takes it in bodies.",
    ),
    Difference(
        "here",
        r"Internal compiler error",
        "ptxas fails at registers of vectors in some accesses to shared memory.",
    ),
    Difference(
        "here",
        r"must be register or constant",
        "ptxas mixes no components of a vector with constants in braces, and PTX allows both.",
        text=r"%[vw]\d?\.[xyzwrgba]",
    ),
]
