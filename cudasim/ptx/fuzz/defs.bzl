"""A fuzz target: a test over its corpus with sanitizers, and a libFuzzer binary to run by hand."""

load("@rules_cc//cc:defs.bzl", "cc_test")

_SANITIZERS = [
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
]

def fuzz_target(name, srcs, corpus, libs = []):
    """Declares NAME_test, and NAME_libfuzzer with the tag manual.

    The test runs the corpus and a fixed number of inputs changed from it. The binary needs clang-19 and
    libclang-rt-19-dev; seeds in the form .hex are written for it by `NAME_test --write=FOLDER FILES`.

    Args:
      name: of the target, without the ending.
      srcs: LLVMFuzzerTestOneInput and all that it tests; compiled with sanitizers.
      corpus: files to start from.
      libs: libraries of the system to link, as linker options.
    """
    cc_test(
        name = name + "_test",
        size = "small",
        srcs = srcs + ["//cudasim/ptx/fuzz:standalone.cpp"],
        args = ["$(rootpath {})".format(file) for file in corpus],
        copts = [
            "-O1",
            "-Wall",
            "-Wextra",
        ] + _SANITIZERS,
        data = corpus,
        # The standard library is that of the sanitizers' runtime.
        linkopts = _SANITIZERS + libs,
        linkstatic = True,
    )
    native.genrule(
        name = name + "_libfuzzer",
        testonly = True,
        srcs = srcs,
        outs = [name + "_libfuzzer.bin"],
        cmd = "clang++-19 -std=c++17 -g -O1 -I. -fsanitize=fuzzer,address,undefined " +
              "-o $@ $$(for file in $(SRCS); do case $$file in *.cpp) echo $$file;; esac; done) " +
              " ".join(libs),
        executable = True,
        tags = ["manual"],
    )
