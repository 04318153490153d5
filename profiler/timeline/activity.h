// An activity as kineto keeps it.
#pragma once

// Brings kineto's names together as libtorch_cpu was compiled with them.
#define KINETO_NAMESPACE libkineto
#include <kineto/libkineto.h>
#include <kineto/output_base.h>

#include <string>
#include <utility>

namespace torch_cuda::profiler {

/// A kineto activity whose details are JSON already: "key": value, ….
class Activity final : public libkineto::GenericTraceActivity {
 public:
  Activity(
      const libkineto::TraceSpan& span,
      libkineto::ActivityType type,
      const std::string& name,
      std::string details)
      : GenericTraceActivity(span, type, name), details_(std::move(details)) {}

  const std::string metadataJson() const override {
    return details_;
  }

 private:
  std::string details_;
};

} // namespace torch_cuda::profiler
