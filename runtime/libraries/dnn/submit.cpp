#include "runtime/libraries/dnn/submit.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace accelerator::dnn {

std::vector<stream_work::Read> reads_of(
    const Layout& layout,
    const void* pointer) {
  if (layout.span() == 0) {
    return {};
  }
  // Dimensions from the innermost to the outermost one, joined where there are
  // no gaps between them.
  std::vector<std::size_t> order(layout.dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return layout.strides[a] < layout.strides[b];
  });
  Dims counts;
  Dims strides;
  std::int64_t row = 1;
  for (const std::size_t i : order) {
    if (layout.dims[i] == 1 || layout.strides[i] == 0) {
      continue;
    }
    if (counts.empty() && layout.strides[i] <= row) {
      row += (layout.dims[i] - 1) * layout.strides[i];
    } else if (
        !counts.empty() &&
        layout.strides[i] == counts.back() * strides.back()) {
      counts.back() *= layout.dims[i];
    } else {
      counts.push_back(layout.dims[i]);
      strides.push_back(layout.strides[i]);
    }
  }
  const auto bytes = [&](std::int64_t count) {
    return static_cast<std::int64_t>(bytes_of(layout.type, count));
  };
  stream_work::Read read(pointer, bytes_of(layout.type, row));
  if (!counts.empty()) {
    read.lines = counts[0];
    read.pitch = bytes(strides[0]);
  }
  if (counts.size() > 1) {
    read.batches = counts[1];
    read.distance = bytes(strides[1]);
  }
  std::vector<stream_work::Read> reads{read};
  for (std::size_t i = 2; i < counts.size(); ++i) {
    const std::vector<stream_work::Read> inner = reads;
    for (std::int64_t j = 1; j < counts[i]; ++j) {
      for (stream_work::Read another : inner) {
        another.pointer =
            static_cast<const char*>(another.pointer) + j * bytes(strides[i]);
        reads.push_back(another);
      }
    }
  }
  return reads;
}

void submit(
    const char* function,
    cudaStream_t stream,
    std::vector<Operand> operands,
    std::function<void()> work) {
  for (const Operand& operand : operands) {
    require(
        stream_work::accessible(
            function, {{operand.pointer, operand.layout.bytes()}}),
        CUDNN_STATUS_EXECUTION_FAILED,
        "a tensor lies out of bounds");
  }
  const cudaError_t error = stream_work::enqueue_checked(
      function,
      stream,
      [function, operands = std::move(operands), work = std::move(work)] {
        return stream_work::without_exceptions(function, [&] {
          if (stream_work::wants_reads()) {
            for (const Operand& operand : operands) {
              if (operand.is_read) {
                stream_work::reads(reads_of(operand.layout, operand.pointer));
              }
            }
          }
          work();
          return cudaSuccess;
        });
      });
  require_supported(
      error != cudaErrorNotSupported,
      "the host does not see the device's memory");
  require(
      error == cudaSuccess,
      CUDNN_STATUS_EXECUTION_FAILED,
      cudaGetErrorString(error));
}

} // namespace accelerator::dnn
