#include "profiler/timeline/child_profiler.h"

#include <memory>
#include <set>
#include <string>

#include "profiler/timeline/activity.h"
#include "profiler/timeline/cupti_library.h"
#include "profiler/timeline/session.h"

namespace torch_cuda::profiler {
namespace {

using libkineto::ActivityType;

class ChildProfiler final : public libkineto::IActivityProfiler {
 public:
  const std::string& name() const override {
    return name_;
  }

  const std::set<ActivityType>& availableActivities() const override {
    return types_;
  }

  std::unique_ptr<libkineto::IActivityProfilerSession> configure(
      const std::set<ActivityType>& types,
      const libkineto::Config& config) override {
    if (!is_wanted(types)) {
      return nullptr;
    }
    const CuptiLibrary* cupti = cupti_library();
    if (cupti == nullptr) {
      return nullptr; // the Python half has told
    }
    return std::make_unique<Session>(
        *cupti,
        types,
        static_cast<std::size_t>(config.activitiesMaxGpuBufferSize()),
        config.activitiesCudaSyncWaitEvents());
  }

  std::unique_ptr<libkineto::IActivityProfilerSession> configure(
      std::int64_t /*start_ms*/,
      std::int64_t /*duration_ms*/,
      const std::set<ActivityType>& types,
      const libkineto::Config& config) override {
    return configure(types, config);
  }

 private:
  std::string name_ = "CUPTI";
  std::set<ActivityType> types_ = {
      ActivityType::CONCURRENT_KERNEL,
      ActivityType::CUDA_DRIVER,
      ActivityType::CUDA_RUNTIME,
      ActivityType::CUDA_SYNC,
      ActivityType::GPU_MEMCPY,
      ActivityType::GPU_MEMSET,
      ActivityType::GPU_USER_ANNOTATION,
      ActivityType::OVERHEAD,
  };
};

} // namespace

void register_child_profiler() {
  libkineto::api().registerProfilerFactory(
      [] { return std::make_unique<ChildProfiler>(); });
}

} // namespace torch_cuda::profiler
