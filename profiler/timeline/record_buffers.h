// The memory that CUPTI writes its records to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "profiler/timeline/cupti_library.h"

namespace torch_cuda::profiler {

/// A buffer that CUPTI has filled.
struct RecordBuffer {
  std::unique_ptr<std::uint8_t[]> memory;
  std::size_t bytes = 0; // with records
};

/// Registers with CUPTI as the one who lends it buffers.
CUptiResult lend_record_buffers(const CuptiLibrary& cupti);

/// Limits how much is lent from now on: when it is reached, records are
/// dropped until take_record_buffers().
void limit_record_buffers(std::size_t bytes);

/// The buffers that came back since the last time, in the order in which they
/// did.
std::vector<RecordBuffer> take_record_buffers();

} // namespace torch_cuda::profiler
