#include "profiler/timeline/record_buffers.h"

#include <mutex>
#include <unordered_map>
#include <utility>

namespace torch_cuda::profiler {
namespace {

// Room for some ten thousand records, so that they seldom change hands.
constexpr std::size_t kBytes = 2 << 20;

struct Pool {
  std::mutex mutex;
  std::size_t limit = 128 << 20;
  std::unordered_map<std::uint8_t*, std::unique_ptr<std::uint8_t[]>> lent;
  std::vector<RecordBuffer> filled;

  std::size_t bytes() const {
    return (lent.size() + filled.size()) * kBytes;
  }
};

Pool& pool() {
  static auto* instance = new Pool(); // CUPTI's threads outlive statics
  return *instance;
}

void lend(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  *buffer = nullptr;
  *bytes = 0;
  *records = 0; // as many as fit
  Pool& current = pool();
  const std::lock_guard lock(current.mutex);
  if (current.bytes() + kBytes > current.limit) {
    return;
  }
  // Not zeroed: CUPTI writes before anybody reads.
  std::unique_ptr<std::uint8_t[]> memory(new std::uint8_t[kBytes]);
  *buffer = memory.get();
  *bytes = kBytes;
  current.lent[*buffer] = std::move(memory);
}

void take_back(
    CUcontext /*context*/,
    std::uint32_t /*stream*/,
    std::uint8_t* buffer,
    std::size_t /*bytes*/,
    std::size_t valid_bytes) {
  Pool& current = pool();
  const std::lock_guard lock(current.mutex);
  const auto found = current.lent.find(buffer);
  if (found == current.lent.end()) {
    return;
  }
  if (valid_bytes > 0) {
    current.filled.push_back({std::move(found->second), valid_bytes});
  }
  current.lent.erase(found);
}

} // namespace

CUptiResult lend_record_buffers(const CuptiLibrary& cupti) {
  return cupti.cuptiActivityRegisterCallbacks(lend, take_back);
}

void limit_record_buffers(std::size_t bytes) {
  const std::lock_guard lock(pool().mutex);
  pool().limit = bytes;
}

std::vector<RecordBuffer> take_record_buffers() {
  const std::lock_guard lock(pool().mutex);
  return std::exchange(pool().filled, {});
}

} // namespace torch_cuda::profiler
