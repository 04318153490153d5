// Geometry, and comparison.
#include "router/operators/tensors/write_back.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace torch_cuda::operators {
namespace {

struct Dimension {
  std::size_t size;
  std::size_t stride; // bytes
};

// Those that lead from one element to another, the nearest one first.
std::vector<Dimension> dimensions(const c10::TensorImpl& tensor) {
  const auto item = static_cast<std::size_t>(tensor.dtype().itemsize());
  std::vector<Dimension> found;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) > 1 && tensor.stride(i) != 0) {
      found.push_back(
          {static_cast<std::size_t>(tensor.size(i)),
           static_cast<std::size_t>(tensor.stride(i)) * item});
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.stride < b.stride;
  });
  return found;
}

// Puts a row behind the others: into the last ones, if it continues them.
void append(std::vector<Rows>& rows, std::size_t begin, std::size_t width) {
  if (!rows.empty() && rows.back().width == width) {
    auto& last = rows.back();
    const std::size_t end = last.begin + (last.count - 1) * last.pitch;
    if (last.count == 1 || begin - end == last.pitch) {
      last.pitch = begin - end;
      ++last.count;
      return;
    }
  }
  rows.push_back({begin, width, width, 1});
}

} // namespace

std::vector<Rows> rows_of(const c10::TensorImpl& tensor, std::size_t bytes) {
  if (tensor.numel() == 0) {
    return {};
  }
  const auto item = static_cast<std::size_t>(tensor.dtype().itemsize());
  Rows first{
      static_cast<std::size_t>(tensor.storage_offset()) * item, item, item, 1};
  std::vector<Dimension> outer;
  for (const auto& [size, stride] : dimensions(tensor)) {
    if (outer.empty() && first.count == 1 && stride <= first.width) {
      first.width += (size - 1) * stride;
      first.pitch = first.width;
    } else if (outer.empty() && first.count == 1) {
      first.pitch = stride;
      first.count = size;
    } else {
      outer.push_back({size, stride});
    }
  }
  std::vector<Rows> rows{first};
  for (const auto& [size, stride] : outer) {
    const std::size_t inner = rows.size();
    rows.reserve(inner * size);
    for (std::size_t i = 1; i < size; ++i) {
      for (std::size_t k = 0; k < inner; ++k) {
        Rows moved = rows[k];
        moved.begin += i * stride;
        rows.push_back(moved);
      }
    }
  }
  // A kernel refuses tensors that reach beyond their storage by itself.
  rows.erase(
      std::remove_if(
          rows.begin(),
          rows.end(),
          [&](const Rows& r) {
            return r.begin + (r.count - 1) * r.pitch + r.width > bytes;
          }),
      rows.end());
  return rows;
}

std::vector<Rows> changed_rows(
    const char* before,
    const char* after,
    std::size_t begin,
    std::size_t end,
    std::size_t item) {
  constexpr std::size_t items_of_block = 256;
  const std::size_t block = item * items_of_block;
  std::vector<Rows> rows;
  const auto differs = [&](std::size_t at, std::size_t bytes) {
    return std::memcmp(before + at, after + at, bytes) != 0;
  };
  std::size_t row = end; // where a row of changed elements began
  for (std::size_t at = begin; at < end; at += item) {
    if (row == end && (at - begin) % block == 0) {
      while (end - at >= block && !differs(at, block)) {
        at += block;
      }
      if (at >= end) {
        break;
      }
    }
    const std::size_t bytes = std::min(item, end - at);
    if (differs(at, bytes)) {
      row = row == end ? at : row;
    } else if (row != end) {
      append(rows, row, at - row);
      row = end;
    }
  }
  if (row != end) {
    append(rows, row, end - row);
  }
  return rows;
}

} // namespace torch_cuda::operators
