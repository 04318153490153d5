// The object of an mbarrier. It is opaque to programs; here
//
//   bits 0 to 19   arrivals that a phase takes
//   bits 20 to 39  arrivals that the current phase still waits for
//   bits 40 to 60  bytes that it still waits for, a number with a sign: some
//   may
//                  come before they are expected
//   bits 61 to 63  number of the current phase
//
// and the state that an arrival returns is the object before it. The warps of a
// block run on one host thread, so nothing here has to be atomic. Source: PTX
// ISA 9.7.12.15.
#pragma once

#include "cudasim/engine/instructions/addressing.h"

namespace cudasim::engine::CUDASIM_ISA {
namespace {

constexpr U64 kCountMask = (1u << 20) - 1;
constexpr U64 kBytesMask = (1u << 21) - 1;
constexpr U64 kPhaseMask = 7;
constexpr int kPendingShift = 20;
constexpr int kBytesShift = 40;
constexpr int kPhaseShift = 61;

struct Object {
  U64 expected;
  U64 pending;
  U64 pending_bytes;
  U64 phase;

  static Object read(U64 host) {
    U64 bits;
    __builtin_memcpy(&bits, reinterpret_cast<const void*>(host), 8);
    return {
        bits & kCountMask,
        bits >> kPendingShift & kCountMask,
        bits >> kBytesShift & kBytesMask,
        bits >> kPhaseShift};
  }
  U64 bits() const {
    return (expected & kCountMask) | (pending & kCountMask) << kPendingShift |
        (pending_bytes & kBytesMask) << kBytesShift |
        (phase & kPhaseMask) << kPhaseShift;
  }
  void write(U64 host) const {
    const U64 word = bits();
    __builtin_memcpy(reinterpret_cast<void*>(host), &word, 8);
  }
  void arrive(U64 count, bool drops) {
    expected -= drops ? count : 0;
    pending -= count;
    end_phase();
  }
  /// @param bytes more to come, or as many less where it is negative.
  void expect(U64 bytes) {
    pending_bytes += bytes;
    end_phase();
  }

 private:
  void end_phase() {
    if ((pending & kCountMask) == 0 && (pending_bytes & kBytesMask) == 0) {
      pending = expected;
      ++phase;
    }
  }
};

} // namespace
} // namespace cudasim::engine::CUDASIM_ISA
