// The processor's rounding mode, which PTX's .rz, .rm and .rp need (PTX ISA
// 9.7.3).
#pragma once

#include <immintrin.h>

namespace cudasim::engine {

/// Sets the rounding mode as long as it is there: that of SSE and AVX alone,
/// which takes less time than fesetround(). The compiler does not know that
/// arithmetic depends on it; it keeps loads of operands and stores of results
/// in between.
class RoundingMode {
 public:
  /// @param mode such as _MM_ROUND_DOWN.
  [[gnu::always_inline]] explicit RoundingMode(unsigned mode)
      : before_(_mm_getcsr()) {
    _mm_setcsr((before_ & ~_MM_ROUND_MASK) | mode);
    keep();
  }
  [[gnu::always_inline]] ~RoundingMode() {
    keep();
    _mm_setcsr(before_);
  }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  [[gnu::always_inline]] static void keep() {
    asm volatile("" ::: "memory");
  }
  const unsigned before_;
};

} // namespace cudasim::engine
