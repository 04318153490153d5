"""mutant: a test in which any one function of an API can be made to answer wrongly."""

load("@rules_cc//cc:defs.bzl", "cc_test")

# Stubs of the drop-in libraries (//runtime/dropin) whose functions are meant, and the sonames, in the order of the page.
LIBRARIES = {
    "//runtime/libraries/blas:libcublas.so.12_stubs": "libcublas.so.12",
    "//runtime/libraries/blas:libcublasLt.so.12_stubs": "libcublasLt.so.12",
    "//runtime/tools/cupti:libcupti.so.12_stubs": "libcupti.so.12",
    "//runtime/api/driver:libcuda.so.1_stubs": "libcuda.so.1",
    "//runtime/libraries/fft:libcufft.so.11_stubs": "libcufft.so.11",
    "//runtime/nccl:libnccl.so.2_stubs": "libnccl.so.2",
    "//runtime/code/nvrtc:libnvrtc.so.12_stubs": "libnvrtc.so.12",
    "//runtime/libraries/rand:libcurand.so.10_stubs": "libcurand.so.10",
    "//runtime/libraries/solver:libcusolver.so.11_stubs": "libcusolver.so.11",
    "//runtime/libraries/sparse:libcusparse.so.12_stubs": "libcusparse.so.12",
    "//runtime/api/cudart:libcudart.so.12_stubs": "libcudart.so.12",
}

# The tests whose calls are looked at.
MUTATED = [
    "//runtime/libraries/blas:cublasLt_test",
    "//runtime/libraries/blas:cublas_test",
    "//runtime/tools/cupti:cupti_test",
    "//runtime/api/driver:driver_test",
    "//runtime/api/driver:ipc_test",
    "//runtime/api/driver:per_thread_test",
    "//runtime/libraries/fft:cufft_test",
    "//runtime/nccl:nccl_test",
    "//runtime/code/nvrtc:nvrtc_test",
    "//runtime/libraries/rand:curand_test",
    "//runtime/libraries/solver:cusolver_test",
    "//runtime/libraries/sparse:cusparse_test",
    "//runtime/api/cudart:arrays_test",
    "//runtime/api/cudart:entry_point_test",
    "//runtime/api/cudart:error_test",
    "//runtime/api/cudart:ipc_test",
    "//runtime/api/cudart:per_thread_test",
    "//runtime/api/cudart:runtime_test",
    "//tests/cuda_programs:grid_sync",
    "//tests/cuda_programs:histogram",
    "//tests/cuda_programs:managed_memory",
    "//tests/cuda_programs:matmul",
    "//tests/cuda_programs:objects",
    "//tests/cuda_programs:reduction",
    "//tests/cuda_programs:scan_cub",
    "//tests/cuda_programs:sort_thrust",
]

def own_objects(test):
    """Returns the object files that a cc_test or cuda_library itself is compiled to.

    Args:
        test: Target.

    Returns:
        list of Files.
    """
    groups = test[OutputGroupInfo]
    objects = getattr(groups, "compilation_outputs", getattr(groups, "pic_objects", depset())).to_list()
    if not objects:
        fail("%s has no object files" % test.label)
    return objects

def _hooked_objects_impl(ctx):
    given = own_objects(ctx.attr.test)
    made = [
        ctx.actions.declare_file("%s/%d.%s" % (ctx.label.name, number, object.basename))
        for number, object in enumerate(given)
    ]
    source = ctx.actions.declare_file(ctx.label.name + "/hooks.S")
    exports = [stubs[OutputGroupInfo].version_script.to_list()[0] for stubs in ctx.attr.libraries]
    arguments = ctx.actions.args()
    arguments.add_all(exports, before_each = "--exports")
    arguments.add("--source", source)
    for old, new in zip(given, made):
        arguments.add_all("--object", [old, new])
    ctx.actions.run(
        executable = ctx.executable._tool,
        arguments = [arguments],
        inputs = given + exports,
        outputs = [source] + made,
        mnemonic = "HookObjects",
        progress_message = "Hooking the calls of %s" % ctx.attr.test.label,
        use_default_shell_env = True,
    )
    script = ctx.actions.declare_file(ctx.label.name + "/nothing.sh")
    ctx.actions.write(script, "#!/bin/sh\n", is_executable = True)
    return [DefaultInfo(files = depset([source] + made), executable = script)]

_hooked_objects_test = rule(
    implementation = _hooked_objects_impl,
    attrs = {
        "libraries": attr.label_list(doc = "The stubs of drop-in libraries (//runtime/dropin), whose functions get hooks."),
        "test": attr.label(doc = "The test."),
        "_tool": attr.label(
            cfg = "exec",
            default = "//runtime/coverage/mutants:hooks",
            executable = True,
        ),
    },
    doc = """Copies a test's object files so that what they call of an API goes through hooks, and writes those.

    It is a test because it uses tests: Bazel configures what a rule that is none depends on in another way, so that
    both ways of one object would be in the way of each other.""",
    test = True,
)

def mutant_name(test):
    """Returns the name of the mutant of a test.

    Args:
        test: string, its label.

    Returns:
        string.
    """
    return "mutant_of_" + test.removeprefix("//").replace("/", "_").replace(":", "_")

def mutant(name, test, libraries, deps, gtest = True, **kwargs):
    """Links a test once more, with hooks between its own object files and the functions that these call.

    Args:
        name: string, name of the program; measure.py runs it.
        test: label of the cc_test, or of the cuda_library that a test is made of.
        libraries: labels of the stubs of drop-in libraries, whose functions are meant.
        deps: labels, those of the test.
        gtest: bool, whether it is written with GoogleTest.
        **kwargs: more attributes of cc_test, those of the test.
    """
    _hooked_objects_test(
        name = name + "_objects",
        libraries = libraries,
        tags = ["manual"],
        test = test,
    )
    cc_test(
        name = name,
        srcs = [":%s_objects" % name],
        tags = ["manual"],
        deps = deps + [":hooks_at_run_time"] + ([":listener"] if gtest else []),
        **kwargs
    )
