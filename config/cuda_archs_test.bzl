"""What the architecture setting understands, and what it says about the rest."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load(":cuda_archs.bzl", "parse_archs", "rules_cuda_archs")

def _names_test_impl(ctx):
    env = unittest.begin(ctx)
    for value, names in {
        "8.0": ["sm_80"],
        "8.0 9.0": ["sm_80", "sm_90"],
        "8.0,8.0": ["sm_80"],
        "8.0;9.0+PTX": ["sm_80", "sm_90", "compute_90"],
        "9.0a": ["sm_90a"],
        "Ampere": ["sm_80", "sm_86", "compute_86"],
        "compute_80": ["compute_80"],
    }.items():
        parsed = parse_archs(value)
        asserts.equals(env, None, parsed.error)
        asserts.equals(env, names, parsed.names)
    return unittest.end(env)

def _errors_test_impl(ctx):
    env = unittest.begin(ctx)
    for value in ["sm_80", "80", "8.0+ptx", "Kepler", "compute_81"]:
        parsed = parse_archs(value)
        asserts.equals(env, [], parsed.names)
        asserts.true(env, repr(value) in parsed.error, "the message names %r: %s" % (value, parsed.error))
        asserts.true(env, "9.0a" in parsed.error and "Hopper" in parsed.error, "the message names what is allowed")
    asserts.true(env, "no CUDA architecture is given" in parse_archs(" ; ").error, "an empty list is named as such")
    return unittest.end(env)

def _rules_cuda_test_impl(ctx):
    env = unittest.begin(ctx)
    for names, archs in {
        ("compute_80",): "compute_80",
        ("sm_80", "sm_90", "compute_90"): "compute_80:sm_80;compute_90:sm_90,compute_90",
        ("sm_90a",): "compute_90a:sm_90a",
    }.items():
        asserts.equals(env, archs, rules_cuda_archs(list(names)))
    return unittest.end(env)

names_test = unittest.make(_names_test_impl)
errors_test = unittest.make(_errors_test_impl)
rules_cuda_test = unittest.make(_rules_cuda_test_impl)

def cuda_archs_test_suite(name):
    """Declares the tests.

    Args:
        name: name of the suite.
    """
    unittest.suite(name, names_test, errors_test, rules_cuda_test)
