// What a load or store accesses.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "cudasim/engine/translation/translator.h"

namespace cudasim::engine {

/// One instruction's memory.
struct Translator::Place {
  std::string space; // "": that of all
  bool is_load = false;
  int count = 1; // values of each lane
  int bits = 32; // of a value
  bool is_signed = false;
  Value address; // of 64 bits; a vector where its rows are looked at
  bool is_scattered = false; // lane by lane, without a look at the rows

  /// Whether it is seen when the access is executed where the lanes are, and
  /// whether each row of them is in one piece.
  bool is_looked_at() const {
    return !shape().affine;
  }
  std::int64_t lane_bytes() const {
    return static_cast<std::int64_t>(count) * bits / 8;
  }
  const ValueShape& shape() const {
    return address.shape;
  }
  /// Whether the lanes, or the two rows, are each accessed in one piece.
  bool in_pieces() const {
    return !shape().uniform() && !shape().straight();
  }
  /// From the lowest to behind the highest byte that the warp accesses.
  std::int64_t extent() const {
    const std::int64_t piece =
        shape().stride == 0 ? lane_bytes() : lane_bytes() * kRowLanes;
    return std::abs(shape().row) + piece;
  }
};

} // namespace cudasim::engine
