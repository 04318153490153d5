// One profile's part on the devices, from its preparation to its trace.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "profiler/timeline/activity.h"
#include "profiler/timeline/cupti_library.h"
#include "profiler/timeline/record_buffers.h"

namespace torch_cuda::profiler {

class Session final : public libkineto::IActivityProfilerSession {
 public:
  /// Has CUPTI make records from now on: the first time that takes long, which
  /// is what a profile's warm-up is for.
  /// @param types what kineto asks for, @param buffer_bytes most memory for
  /// records, @param stream_waits whether waits of streams are asked for.
  Session(
      const CuptiLibrary& cupti,
      std::set<libkineto::ActivityType> types,
      std::size_t buffer_bytes,
      bool stream_waits);
  ~Session() override;

  /// Forgets what was recorded while it was prepared.
  void start() override;
  void stop() override;
  std::vector<std::string> errors() override;
  void processTrace(libkineto::ActivityLogger& logger) override;
  void processTrace(
      libkineto::ActivityLogger& logger,
      libkineto::getLinkedActivityCallback cpu_activity,
      std::int64_t start,
      std::int64_t end) override;
  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override;
  std::vector<libkineto::ResourceInfo> getResourceInfos() override;
  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override;
  std::string getDeviceProperties() override;

  void pushCorrelationId(std::uint64_t id) override;
  void popCorrelationId() override;
  void pushUserCorrelationId(std::uint64_t id) override;
  void popUserCorrelationId() override;

  /// Stops recording for a while, or goes on.
  void toggle(bool enable);

 private:
  void enable();
  void disable();
  void check(CUptiResult result, const char* what);

  const CuptiLibrary& cupti_;
  std::set<libkineto::ActivityType> types_;
  bool stream_waits_;
  std::vector<CUpti_ActivityKind> enabled_;
  std::vector<RecordBuffer> buffers_;
  std::set<std::pair<std::int64_t, std::int64_t>> streams_;
  std::vector<std::string> errors_;
};

/// Whether kineto asks for what devices do.
bool is_wanted(const std::set<libkineto::ActivityType>& types);

/// Stops the session that is recording for a while, or has it go on; does
/// nothing when there is none.
void toggle_current_session(bool enable);

} // namespace torch_cuda::profiler
