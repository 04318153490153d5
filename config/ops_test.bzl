"""What the setting of operators understands, and what it says about the rest."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")
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

def _linalg_test_impl(ctx):
    env = analysistest.begin(ctx)
    found = analysistest.target_under_test(env)[config_common.FeatureFlagInfo].value
    asserts.equals(env, str(ctx.attr.expected), found)
    return analysistest.end(env)

def _linalg_test(profile):
    return analysistest.make(
        _linalg_test_impl,
        attrs = {"expected": attr.bool()},
        config_settings = {str(Label("//config:ops")): profile},
    )

linalg_in_core_test = _linalg_test("core")
linalg_in_models_test = _linalg_test("models")
linalg_in_full_test = _linalg_test("full")
linalg_in_runtime_test = _linalg_test("runtime")
linalg_in_a_label_test = _linalg_test("//aten_cuda/profiles:linalg")
linalg_outside_a_label_test = _linalg_test("//aten_cuda/profiles:matmul")

def ops_test_suite(name):
    """Declares the tests.

    Args:
        name: name of the suite.
    """
    unittest.suite(name + "_of_values", profiles_test, errors_test)
    tests = [":%s_of_values" % name]
    for test, profile, expected in [
        (linalg_in_core_test, "core", True),
        (linalg_in_models_test, "models", True),
        (linalg_in_full_test, "full", True),
        (linalg_in_runtime_test, "runtime", False),
        (linalg_in_a_label_test, "a_label", True),
        (linalg_outside_a_label_test, "another_label", False),
    ]:
        tests.append("%s_linalg_in_%s" % (name, profile))
        test(name = tests[-1], expected = expected, target_under_test = "//config:linalg")
    native.test_suite(name = name, tests = tests)
