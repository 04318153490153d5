"""PTX and options that nvjitlink_test.py links with."""

from __future__ import annotations

HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"
CALLER = (
    ".extern .func (.param .b32 r) foo(.param .b32 a);\n.visible .entry k(.param .u64 p) {\n"
    ".reg .b64 %d<3>; .reg .b32 %r<4>; ld.param.u64 %d1, [p]; mov.b32 %r1, 3;\n"
    "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call (r), foo, (a); ld.param.b32 %r2, [r]; }\n"
    "st.global.b32 [%d1], %r2; ret; }\n"
)
FOO = ".func (.param .b32 r) foo(.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, [a]; st.param.b32 [r], %r1; ret; }\n"
USER = ".extern .global .u32 x; .visible .global .u64 y = x;"

# Inputs by what they are about.
CASES = {
    "nothing": [],
    "an empty input": [""],
    "a function of another input": [CALLER, ".visible " + FOO],
    "a function of an input before": [".visible " + FOO, CALLER],
    "an undefined function": [CALLER],
    "an undefined function that nobody calls": [".extern .func nobody();"],
    "a function of libcudadevrt that nobody calls": [
        ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 s);"
    ],
    "two functions": [CALLER, ".visible " + FOO, ".visible " + FOO],
    "other parameters": [CALLER, ".visible .func foo(.param .b32 a) { ret; }"],
    "parameters of other sizes": [
        CALLER,
        ".visible .func (.param .b64 r) foo(.param .b64 a) { ret; }",
    ],
    "a static function": [CALLER, FOO],
    "a static function beside": [CALLER, ".visible " + FOO, FOO],
    "weak functions": [CALLER, ".weak " + FOO, ".weak " + FOO],
    "a strong function behind a weak one": [CALLER, ".weak " + FOO, ".visible " + FOO],
    "a weak function behind a strong one": [CALLER, ".visible " + FOO, ".weak " + FOO],
    "two kernels": [".visible .entry k() { ret; }", ".visible .entry k() { ret; }"],
    "static kernels": [".entry k() { ret; }", ".entry k() { ret; }"],
    "two variables": [".visible .global .u32 x;", ".visible .global .u32 x;"],
    "a variable of another input": [USER, ".visible .global .u32 x;"],
    "a variable of another size": [USER, ".visible .global .u64 x;"],
    "a variable of another space": [USER, ".visible .const .u32 x;"],
    "an undefined variable": [USER],
    "an undefined variable that nobody reads": [".extern .global .u32 x;"],
    "an array without a size": [
        ".extern .global .u32 x[]; .visible .global .u64 y = x;",
        ".visible .global .u32 x[7];",
    ],
    "common variables": [".common .global .u32 x;", ".common .global .u32 x;"],
    "common variables of several sizes": [".common .global .u32 x;", ".common .global .u64 x;"],
    "a strong variable behind a common one": [
        ".common .global .u32 x;",
        ".visible .global .u32 x = 5;",
    ],
    "a common variable behind a strong one": [
        ".visible .global .u32 x = 5;",
        ".common .global .u32 x;",
    ],
    "weak variables": [".weak .global .u32 x = 5;", ".weak .global .u32 x = 6;"],
    "weak variables of several sizes": [".weak .global .u32 x = 5;", ".weak .global .u64 x = 6;"],
    "a variable with a function's name": [".visible " + FOO, ".visible .global .u32 foo = 33;"],
    "dynamic shared memory": [
        ".extern .shared .b8 s[]; .visible .entry a() { .reg .b32 r; mov.b32 r, s; ret; }",
        ".extern .shared .align 16 .b8 s[]; .visible .entry b() { .reg .b32 r; mov.b32 r, s; ret; }",
    ],
    "shared memory of another input": [
        ".visible .shared .b8 s[4]; .visible .entry a() { .reg .b32 r; mov.b32 r, s; ret; }",
        ".extern .shared .b8 s[4]; .visible .entry b() { .reg .b32 r; mov.b32 r, s; ret; }",
    ],
    "what is no PTX": ["nonsense\n"],
}

# Those that NVIDIA's takes, and says an error of.
REFUSED_HERE = (
    *(
        "two functions",
        "other parameters",
        "parameters of other sizes",
        "two kernels",
        "two variables",
    ),
    *(
        "a variable of another size",
        "a variable of another space",
        "weak variables of several sizes",
    ),
    "a variable with a function's name",
)

# How options are drawn: names, values, and what comes of leaving out "=" or of more letters behind a name.
NAMES = (
    *(
        "-maxrregcount",
        "-time",
        "-verbose",
        "-lto",
        "-dlto",
        "-ptx",
        "-O",
        "-Ofc",
        "--Ofast-compile",
        "-g",
        "-lineinfo",
    ),
    *(
        "-ftz",
        "-prec-div",
        "-prec-sqrt",
        "-fma",
        "-kernels-used",
        "-variables-used",
        "-optimize-unused-variables",
    ),
    *(
        "-Xptxas",
        "-Xnvvm",
        "-Xfinalizer",
        "-split-compile",
        "-split-compile-extended",
        "-jump-table-density",
    ),
    *(
        "-no-cache",
        "--no-cache",
        "-device-stack-protector",
        "--device-stack-protector",
        "-r",
        "-nvvm-latest",
    ),
    *(
        "-fast-compile",
        "-no-opt",
        "-disable-smem-reserve",
        "--enable-extended-smem",
        "-relocatable-device-code",
    ),
    *(
        "-nonsense",
        "-v",
        "-G",
        "-fmad",
        "-use_fast_math",
        "-w",
        "-keep",
        "--lto",
        "--ptx",
        "-arch",
        "--arch",
        "",
        "lto",
    ),
)
VALUES = (
    "",
    "=",
    "=0",
    "=1",
    "=3",
    "=-1",
    "=max",
    "=mid",
    "=foo",
    "=true",
    "=32abc",
    "=2147483648",
    "X",
    "0",
    "3",
    "2",
    " ",
)
NUMBERS = (70, 72, 75, 80, 86, 87, 89, 90, 99, 100, 101, 103, 104, 110, 120, 121, 122, 130)
PREFIXES = ("sm_", "sm_", "sm_", "compute_", "lto_", "SM_", "sm", "")
SUFFIXES = ("", "", "", "a", "f", "x", "_90")

# PTX, or nearly.
TEXTS = {
    "spaces": "\r\n\t " + HEAD,
    "comments": "// a\n/* b\n */ // c\n" + HEAD,
    "letters": "x " + HEAD,
    "a line": "x\n" + HEAD,
    "target": ".target sm_80\n" + HEAD,
    "blanks": "  \n",
    "a comment": "// nothing\n",
    "an open comment": "/* " + HEAD,
    "a mark": "\ufeff" + HEAD,
    "a mistake": HEAD + ".visible foo",
    "no version": ".version",
    "a lower target": HEAD.replace("80", "75"),
    "a higher target": HEAD.replace("80", "90"),
}
