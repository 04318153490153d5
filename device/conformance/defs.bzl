"""abi_test: the contract tests of the device ABI over one library, with options, and with a sanitizer or not."""

load("@rules_cc//cc:defs.bzl", "cc_test")

def abi_test(name, library, options = "", copts = [], srcs = None, deps = None, programs = 10000, size = "medium", data = [], env = {}, **kwargs):
    """Declares a cc_test that runs all contract tests on a library.

    Args:
      name: of the target.
      library: label of the shared library.
      options: what it is initialized with.
      copts: such as a sanitizer, for the tests and the link.
      srcs: the tests, where they are to be compiled again for it.
      deps: of the tests; //device/conformance:tests, which is all of them, by default.
      programs: how many random programs are run.
      size: of the test.
      data: what the library opens itself.
      env: more variables.
      **kwargs: cc_test's other attributes.
    """
    cc_test(
        name = name,
        size = size,
        srcs = srcs,
        copts = copts,
        data = [library] + data,
        env = {
            "ACCEL_LIBRARY": "$(rootpath %s)" % library,
            "ACCEL_OPTIONS": options,
            "ACCEL_PROGRAMS": str(programs),
        } | env,
        linkopts = copts,
        linkstatic = True,
        deps = [Label("//device/conformance:tests")] if deps == None else deps,
        **kwargs
    )
