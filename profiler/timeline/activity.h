// An activity as kineto keeps it.
#pragma once

// Brings kineto's names together as libtorch_cpu was compiled with them.
#define KINETO_NAMESPACE libkineto
#include <kineto/libkineto.h>
#include <kineto/output_base.h>

#include <string>

namespace torch_cuda::profiler {

/// Makes an activity. Loggers keep a copy of what they are given as generic
/// activity, so it need not live longer.
/// @param details JSON, as in an object: "key": value, …; may be empty.
libkineto::GenericTraceActivity make_activity(
    libkineto::ActivityType type,
    const std::string& name,
    const std::string& details);

} // namespace torch_cuda::profiler
