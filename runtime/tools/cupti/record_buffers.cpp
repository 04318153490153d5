#include "runtime/tools/cupti/record_buffers.h"

#include <utility>

#include "runtime/tools/cupti/records.h"

namespace accelerator::cupti {
namespace {

// 0 for a kind that is never written.
std::size_t record_bytes(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(KernelRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CopyRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(PeerCopyRecord);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(FillRecord);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(WaitRecord);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return sizeof(EventRecord);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    default:
      return 0;
  }
}

} // namespace

void RecordBuffers::set_callbacks(
    CUpti_BuffersCallbackRequestFunc request,
    CUpti_BuffersCallbackCompleteFunc complete) {
  const std::lock_guard lock(mutex_);
  request_ = request;
  complete_ = complete;
}

bool RecordBuffers::has_callbacks() const {
  const std::lock_guard lock(mutex_);
  return request_ != nullptr;
}

void RecordBuffers::write_bytes(const void* record, std::size_t bytes) {
  std::unique_lock lock(mutex_);
  std::vector<Buffer> full;
  if (!current_.has_room(bytes)) {
    if (current_.memory != nullptr) {
      full.push_back(std::exchange(current_, {}));
    }
    if (spare_.empty()) {
      lock.unlock();
      const Buffer lent = request();
      lock.lock();
      if (lent.memory != nullptr) {
        spare_.push_back(lent);
      }
    }
    // Another thread may have been faster.
    while (!current_.has_room(bytes) && !spare_.empty()) {
      if (current_.memory != nullptr) {
        full.push_back(current_);
      }
      current_ = spare_.back();
      spare_.pop_back();
    }
  }
  if (current_.has_room(bytes)) {
    std::memcpy(current_.memory + current_.used, record, bytes);
    current_.used += bytes;
    ++current_.records;
  } else {
    ++dropped_;
  }
  lock.unlock();
  for (const Buffer& buffer : full) {
    complete(buffer);
  }
}

void RecordBuffers::flush(bool empty_too) {
  std::vector<Buffer> done;
  {
    const std::lock_guard lock(mutex_);
    if (current_.memory != nullptr && (empty_too || current_.used > 0)) {
      done.push_back(std::exchange(current_, {}));
    }
    if (empty_too) {
      done.insert(done.end(), spare_.begin(), spare_.end());
      spare_.clear();
    }
  }
  for (const Buffer& buffer : done) {
    complete(buffer);
  }
}

std::size_t RecordBuffers::take_dropped() {
  const std::lock_guard lock(mutex_);
  return std::exchange(dropped_, 0);
}

void RecordBuffers::forget() {
  // The lock may be held for good by a thread that this process does not have.
  new (&mutex_) std::mutex;
  current_ = {};
  spare_.clear();
  dropped_ = 0;
}

RecordBuffers::Buffer RecordBuffers::request() const {
  CUpti_BuffersCallbackRequestFunc ask = nullptr;
  {
    const std::lock_guard lock(mutex_);
    ask = request_;
  }
  Buffer buffer;
  if (ask != nullptr) {
    ask(&buffer.memory, &buffer.size, &buffer.most_records);
  }
  return buffer;
}

void RecordBuffers::complete(const Buffer& buffer) const {
  CUpti_BuffersCallbackCompleteFunc take = nullptr;
  {
    const std::lock_guard lock(mutex_);
    take = complete_;
  }
  if (take != nullptr) {
    // Buffers belong to no context and no stream since CUDA 6.5.
    take(nullptr, 0, buffer.memory, buffer.size, buffer.used);
  }
}

CUptiResult next_record(
    std::uint8_t* buffer,
    std::size_t valid_bytes,
    CUpti_Activity** record) {
  std::size_t at = 0;
  if (*record != nullptr) {
    const auto* last = reinterpret_cast<const std::uint8_t*>(*record);
    const std::size_t bytes = record_bytes((*record)->kind);
    if (last < buffer || last >= buffer + valid_bytes || bytes == 0) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    at = static_cast<std::size_t>(last - buffer) + bytes;
  }
  if (at >= valid_bytes) {
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  }
  auto* next = reinterpret_cast<CUpti_Activity*>(buffer + at);
  const std::size_t bytes = record_bytes(next->kind);
  if (bytes == 0 || bytes > valid_bytes - at) {
    return CUPTI_ERROR_INVALID_KIND;
  }
  *record = next;
  return CUPTI_SUCCESS;
}

} // namespace accelerator::cupti
