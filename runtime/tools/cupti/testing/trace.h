// A profiler for tests: lends buffers and keeps what comes back, sorted by
// kind.
#pragma once

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/tools/cupti/records.h"

/// Makes gtest name results in its messages.
inline void PrintTo(CUptiResult result, std::ostream* out) {
  const char* text = "?";
  cuptiGetResultString(result, &text);
  *out << text;
}

/// The call succeeds; if not, the test function ends.
#define ASSERT_CUPTI(call) ASSERT_EQ(call, CUPTI_SUCCESS)
/// The call succeeds.
#define EXPECT_CUPTI(call) EXPECT_EQ(call, CUPTI_SUCCESS)

namespace accelerator::cupti::testing {

/// What came back, copied out of the buffers.
struct Records {
  std::vector<CUpti_ActivityKernel9> kernels;
  std::vector<CUpti_ActivityMemcpy5> copies;
  std::vector<CUpti_ActivityMemcpyPtoP4> peer_copies;
  std::vector<CUpti_ActivityMemset4> fills;
  std::vector<CUpti_ActivityAPI> calls; // of the runtime
  std::vector<CUpti_ActivityAPI> driver_calls;
  std::vector<CUpti_ActivitySynchronization> waits;
  std::vector<EventRecord> events;
  std::vector<CUpti_ActivityExternalCorrelation> external;

  std::size_t count() const {
    return kernels.size() + copies.size() + peer_copies.size() + fills.size() +
        calls.size() + driver_calls.size() + waits.size() + events.size() +
        external.size();
  }
};

/// The state of the buffers that this process lends to CUPTI.
struct Lender {
  std::mutex mutex;
  std::size_t size = 64 << 10;
  std::size_t most_records = 0;
  bool refuse = false;
  std::set<std::uint8_t*> lent;
  std::size_t buffers_taken_back = 0;
  Records records;

  static Lender& instance() {
    static auto* lender = new Lender; // outlives static destructors
    return *lender;
  }

  static void lend(
      std::uint8_t** buffer,
      std::size_t* size,
      std::size_t* most_records) {
    Lender& self = instance();
    const std::lock_guard lock(self.mutex);
    *size = self.size;
    *most_records = self.most_records;
    *buffer = nullptr;
    if (!self.refuse) {
      *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, self.size));
      self.lent.insert(*buffer);
    }
  }

  static void take_back(
      CUcontext,
      std::uint32_t,
      std::uint8_t* buffer,
      std::size_t,
      std::size_t valid_bytes) {
    Lender& self = instance();
    const std::lock_guard lock(self.mutex);
    EXPECT_EQ(self.lent.erase(buffer), 1u);
    ++self.buffers_taken_back;
    CUpti_Activity* record = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    while ((result = cuptiActivityGetNextRecord(
                buffer, valid_bytes, &record)) == CUPTI_SUCCESS) {
      self.keep(record);
    }
    EXPECT_EQ(result, CUPTI_ERROR_MAX_LIMIT_REACHED);
    std::free(buffer);
  }

 private:
  template <typename Record>
  static void keep(std::vector<Record>& list, const CUpti_Activity* record) {
    list.push_back(*reinterpret_cast<const Record*>(record));
  }

  void keep(const CUpti_Activity* record) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_KERNEL:
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return keep(records.kernels, record);
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        return keep(records.copies, record);
      case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return keep(records.peer_copies, record);
      case CUPTI_ACTIVITY_KIND_MEMSET:
        return keep(records.fills, record);
      case CUPTI_ACTIVITY_KIND_RUNTIME:
        return keep(records.calls, record);
      case CUPTI_ACTIVITY_KIND_DRIVER:
        return keep(records.driver_calls, record);
      case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return keep(records.waits, record);
      case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
        return keep(records.events, record);
      case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
        return keep(records.external, record);
      default:
        ADD_FAILURE() << "a record of kind " << record->kind;
    }
  }
};

/// Traces the given kinds for as long as it lives, or until records().
class Trace {
 public:
  explicit Trace(
      std::initializer_list<CUpti_ActivityKind> kinds,
      std::size_t buffer_bytes = 64 << 10,
      std::size_t most_records = 0)
      : kinds_(kinds) {
    Lender& lender = Lender::instance();
    {
      const std::lock_guard lock(lender.mutex);
      lender.size = buffer_bytes;
      lender.most_records = most_records;
      lender.refuse = false;
      lender.buffers_taken_back = 0;
      lender.records = {};
    }
    EXPECT_CUPTI(
        cuptiActivityRegisterCallbacks(Lender::lend, Lender::take_back));
    for (const CUpti_ActivityKind kind : kinds_) {
      EXPECT_CUPTI(cuptiActivityEnable(kind));
    }
  }
  ~Trace() {
    stop();
  }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Waits for the device, ends the trace and gives what it has seen.
  Records records() {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    stop();
    Lender& lender = Lender::instance();
    const std::lock_guard lock(lender.mutex);
    EXPECT_TRUE(lender.lent.empty()) << "CUPTI keeps buffers";
    return std::move(lender.records);
  }

 private:
  void stop() {
    for (const CUpti_ActivityKind kind : kinds_) {
      EXPECT_CUPTI(cuptiActivityDisable(kind));
    }
    kinds_.clear();
    EXPECT_CUPTI(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  }

  std::vector<CUpti_ActivityKind> kinds_;
};

/// The name of a call of the runtime, without since when it is like this.
inline std::string name_of(const CUpti_ActivityAPI& call) {
  const char* name = nullptr;
  EXPECT_CUPTI(cuptiGetCallbackName(
      call.kind == CUPTI_ACTIVITY_KIND_DRIVER ? CUPTI_CB_DOMAIN_DRIVER_API
                                              : CUPTI_CB_DOMAIN_RUNTIME_API,
      call.cbid,
      &name));
  const std::string full = name == nullptr ? "" : name;
  return call.kind == CUPTI_ACTIVITY_KIND_DRIVER
      ? full
      : full.substr(0, full.rfind("_v"));
}

/// The calls of that name.
inline std::vector<CUpti_ActivityAPI> calls_of(
    const std::vector<CUpti_ActivityAPI>& calls,
    const std::string& name) {
  std::vector<CUpti_ActivityAPI> found;
  for (const CUpti_ActivityAPI& call : calls) {
    if (name_of(call) == name) {
      found.push_back(call);
    }
  }
  return found;
}

} // namespace accelerator::cupti::testing
