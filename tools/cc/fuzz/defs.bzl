"""A fuzz target: a test over its corpus with sanitizers, and a libFuzzer binary to run by hand."""

load("@rules_cc//cc:defs.bzl", "cc_test")

_SANITIZERS = [
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
]

def fuzz_target(name, srcs, corpus, libs = [], defines = [], runs = 20000, random = 0, size = "small", tags = []):
    """Declares NAME_test, and NAME_libfuzzer with the tag manual.

    The test runs the corpus and a fixed number of inputs changed from it. The binary needs clang-19 and
    libclang-rt-19-dev; seeds in the form .hex are written for it by `NAME_test --write=FOLDER FILES`.

    Args:
      name: of the target, without the ending.
      srcs: LLVMFuzzerTestOneInput and all that it tests; compiled with sanitizers.
      corpus: files to start from.
      libs: libraries of the system to link, as linker options.
      defines: macros for all sources.
      runs: how many changed inputs the test tries.
      random: bytes of inputs that are random, instead of changed ones; 0: changed ones.
      size: of the test.
      tags: of the test.
    """
    cc_test(
        name = name + "_test",
        size = size,
        srcs = srcs + ["//tools/cc/fuzz:standalone.cpp"],
        args = ["--runs=%d" % runs, "--random=%d" % random] + ["$(rootpath {})".format(file) for file in corpus],
        copts = ["-O1"] + _SANITIZERS,
        data = corpus,
        local_defines = defines,
        # The standard library is that of the sanitizers' runtime.
        linkopts = _SANITIZERS + libs,
        linkstatic = True,
        tags = tags,
    )
    native.genrule(
        name = name + "_libfuzzer",
        testonly = True,
        srcs = srcs,
        outs = [name + "_libfuzzer.bin"],
        cmd = "clang++-19 -std=c++17 -g -O1 -I. -fsanitize=fuzzer,address,undefined " +
              " ".join(["-D" + macro for macro in defines]) +
              " -o $@ $$(for file in $(SRCS); do case $$file in *.cpp) echo $$file;; esac; done) " +
              " ".join(libs),
        executable = True,
        tags = ["manual"],
    )
