// The processor's rounding mode, which PTX's .rz, .rm and .rp need (PTX ISA
// 9.7.3).
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#elif !defined(__aarch64__)
#error "The rounding mode of this processor has to be added here."
#endif

namespace cudasim::engine {

/// Sets the rounding mode as long as it is there: that of vectors and scalars
/// alone, which takes less time than fesetround(). The compiler does not know
/// that arithmetic depends on it; it keeps loads of operands and stores of
/// results in between.
class RoundingMode {
 public:
#if defined(__x86_64__)
  // Of MXCSR.
  static constexpr unsigned kNearest = _MM_ROUND_NEAREST;
  static constexpr unsigned kToZero = _MM_ROUND_TOWARD_ZERO;
  static constexpr unsigned kDown = _MM_ROUND_DOWN;
  static constexpr unsigned kUp = _MM_ROUND_UP;
#else
  // RMode of FPCR (Arm Architecture Reference Manual, C5.2).
  static constexpr unsigned kNearest = 0;
  static constexpr unsigned kUp = 1u << 22;
  static constexpr unsigned kDown = 2u << 22;
  static constexpr unsigned kToZero = 3u << 22;
#endif

  /// @param mode one of the constants above.
  [[gnu::always_inline]] explicit RoundingMode(unsigned mode)
      : before_(read()) {
    write((before_ & ~kMask) | mode);
    keep();
  }
  [[gnu::always_inline]] ~RoundingMode() {
    keep();
    write(before_);
  }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
#if defined(__x86_64__)
  using Register = unsigned;
  static constexpr Register kMask = _MM_ROUND_MASK;
  [[gnu::always_inline]] static Register read() {
    return _mm_getcsr();
  }
  [[gnu::always_inline]] static void write(Register value) {
    _mm_setcsr(value);
  }
#else
  using Register = std::uint64_t;
  static constexpr Register kMask = 3u << 22;
  [[gnu::always_inline]] static Register read() {
    Register value = 0;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  [[gnu::always_inline]] static void write(Register value) {
    asm volatile("msr fpcr, %0" : : "r"(value) : "memory");
  }
#endif
  [[gnu::always_inline]] static void keep() {
    asm volatile("" ::: "memory");
  }
  const Register before_;
};

} // namespace cudasim::engine
