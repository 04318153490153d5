#include "runtime/core/operations/memory/batches.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "runtime/core/graphs/capture.h"
#include "runtime/core/graphs/graph_memory.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/streams/work/submit.h"

namespace accelerator::runtime::operations {
namespace {

bool is_of_host(const void* memory) {
  const auto piece = machine().addresses().find(address_of(memory));
  return !piece || piece->on_host();
}

// The box's bytes, in a buffer of its own from which it is copied.
std::shared_ptr<std::vector<char>> stage(CopyWork& work) {
  auto staged = std::make_shared<std::vector<char>>();
  staged->reserve(work.width * work.height * work.depth);
  for (std::size_t slice = 0; slice < work.depth; ++slice) {
    for (std::size_t row = 0; row < work.height; ++row) {
      const auto* begin = static_cast<const char*>(work.from) +
          slice * work.from_slice + row * work.from_pitch;
      staged->insert(staged->end(), begin, begin + work.width);
    }
  }
  work.from = staged->data();
  work.from_pitch = work.width;
  work.from_slice = work.width * work.height;
  return staged;
}

} // namespace

void mem_copy_batch(
    std::vector<BatchCopy> copies,
    size_t* failed,
    cudaStream_t handle) {
  if (failed != nullptr) {
    *failed = std::numeric_limits<std::size_t>::max();
  }
  const auto stream = resolve_stream(handle);
  require(stream->kind() != Stream::Kind::kLegacy);
  const bool capturing =
      capture_info(*stream).status != cudaStreamCaptureStatusNone;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (failed != nullptr) {
      *failed = i;
    }
    require(
        copies[i].access >= SourceAccess::kStream &&
        copies[i].access <= SourceAccess::kAny);
    check_copy(machine().addresses(), copies[i].work);
    if (!capturing) {
      require_allocated(machine().addresses(), copies[i].work.to);
      require_allocated(machine().addresses(), copies[i].work.from);
    }
  }
  if (failed != nullptr) {
    *failed = std::numeric_limits<std::size_t>::max();
  }
  bool wait = false;
  for (auto& [work, access] : copies) {
    if (work.empty()) {
      continue;
    }
    std::shared_ptr<std::vector<char>> staged;
    if (access == SourceAccess::kDuringCall && !capturing) {
      if (is_of_host(work.from)) {
        staged = stage(work);
      } else {
        wait = true;
      }
    }
    submit(*stream, work);
    if (staged != nullptr) {
      stream->enqueue(
          [staged = std::move(staged)] { return cudaSuccess; }, true);
    }
  }
  if (wait) {
    stream->synchronize();
    stream->device().require_health();
  }
}

} // namespace accelerator::runtime::operations
