// Turns CUPTI's records into kineto's activities.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/timeline/activity.h"
#include "profiler/timeline/cupti_library.h"
#include "profiler/timeline/details.h"

namespace torch_cuda::profiler {

/// What of a trace is wanted.
struct TraceRequest {
  std::set<libkineto::ActivityType> types;
  /// Waits of streams for events too, of which there are many.
  bool stream_waits = true;
  /// The window, in nanoseconds since 1970.
  std::int64_t start = 0;
  std::int64_t end = 0;
  /// From CUPTI's clock to nanoseconds since 1970.
  std::function<std::int64_t(std::uint64_t)> to_time;
  /// The CPU's activity of an id that was pushed, or null.
  libkineto::getLinkedActivityCallback cpu_activity;
};

class TraceBuilder {
 public:
  TraceBuilder(const CuptiLibrary& cupti, TraceRequest request);

  /// Looks at a record, which has to stay where it is until finish().
  void add(const CUpti_Activity* record);

  /// Makes the activities and logs them.
  void finish(libkineto::ActivityLogger& logger);

  /// Device and stream of all work.
  const std::set<std::pair<std::int64_t, std::int64_t>>& streams() const {
    return streams_;
  }

 private:
  using StreamKey = std::pair<std::int64_t, std::int64_t>;

  template <typename Record, typename Details>
  void add_work(
      const Record& record,
      libkineto::ActivityType type,
      const Details& details);
  void add_call(const CUpti_ActivityAPI& call, libkineto::ActivityType type);
  void add_wait(const CUpti_ActivitySynchronization& wait);
  void add_overhead(const CUpti_ActivityOverhead3& overhead);
  void extend_user_span(
      const libkineto::GenericTraceActivity& work,
      std::uint32_t correlation);
  void log_user_spans();

  libkineto::GenericTraceActivity make(
      libkineto::ActivityType type,
      const std::string& name,
      const std::string& details,
      std::uint64_t start,
      std::uint64_t end) const;
  bool in_window(std::uint64_t start, std::uint64_t end) const;
  bool wants(libkineto::ActivityType type) const {
    return request_.types.count(type) != 0;
  }
  const libkineto::ITraceActivity* linked(std::uint32_t correlation) const;
  const std::string& call_name(
      CUpti_CallbackDomain domain,
      CUpti_CallbackId callback);
  void set_flow(
      libkineto::GenericTraceActivity& activity,
      std::uint32_t correlation,
      bool start) const;

  const CuptiLibrary& cupti_;
  TraceRequest request_;
  libkineto::ActivityLogger* logger_ = nullptr;

  // The records, sorted.
  std::vector<const CUpti_Activity*> work_;
  std::vector<const CUpti_ActivityAPI*> calls_;
  std::vector<const CUpti_ActivitySynchronization*> waits_;
  std::vector<const CUpti_ActivityOverhead3*> overheads_;
  // By correlation: the ids that torch pushed for operators and for the user's
  // annotations.
  std::unordered_map<std::uint32_t, std::uint64_t> operator_ids_;
  std::unordered_map<std::uint32_t, std::uint64_t> annotation_ids_;
  // By correlation: calls that began work, and how arrows name them.
  std::unordered_map<std::uint32_t, std::uint32_t> flows_;
  std::unordered_map<std::uint32_t, std::uint32_t> device_of_context_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, EventOrigin> events_;
  std::set<StreamKey> streams_;
  std::map<StreamKey, std::map<std::uint64_t, libkineto::GenericTraceActivity>>
      user_spans_;
  std::unordered_map<std::uint64_t, std::string> call_names_;
};

} // namespace torch_cuda::profiler
