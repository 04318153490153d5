"""What the setting of operators understands, and what it says about the rest."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load(":ops.bzl", "parse_ops")

def _profiles_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, Label("//aten_cuda/profiles:core"), parse_ops("core").profile)
    asserts.equals(env, Label("//aten_cuda/profiles:full"), parse_ops("full").profile)
    asserts.equals(env, Label("//aten_cuda/profiles/models:models"), parse_ops("models").profile)
    asserts.equals(env, Label("//aten_cuda/profiles:runtime"), parse_ops("runtime").profile)
    for label in ["//my:profile", "@other//:profile"]:
        asserts.equals(env, label, parse_ops(label).profile)
        asserts.equals(env, None, parse_ops(label).error)
    return unittest.end(env)

def _errors_test_impl(ctx):
    env = unittest.begin(ctx)
    for value in ["all", "Core", "my:profile"]:
        parsed = parse_ops(value)
        asserts.equals(env, None, parsed.profile)
        for part in [value, "core, full, models, runtime", "label of an op_profile"]:
            asserts.true(env, part in parsed.error, "the message has %r: %s" % (part, parsed.error))
    return unittest.end(env)

profiles_test = unittest.make(_profiles_test_impl)
errors_test = unittest.make(_errors_test_impl)

def ops_test_suite(name):
    """Declares the tests.

    Args:
        name: name of the suite.
    """
    unittest.suite(name, profiles_test, errors_test)
