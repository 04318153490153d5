// The floating-point environment of a host thread while it works for a device.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>

#include <cfenv>
#elif defined(__aarch64__)
#include <cstdint>
#else
#error "The floating-point environment of this processor has to be added here."
#endif

namespace cudasim::engine {

/// Rounds to nearest and keeps denormal numbers, whatever the program has set
/// for the thread (torch.set_flush_denormal, fesetround) or it was born with;
/// the end of the scope gives the thread its own environment back. A device has
/// no part in the host's.
///
/// Kernels and copies of small pieces are shorter than fegetenv and fesetenv,
/// so those are for a thread whose x87 unit is set otherwise than by default,
/// or is used in the scope.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;
#if defined(__x86_64__)
  DefaultFloatEnvironment() : vectors_(_mm_getcsr()), x87_(read_x87()) {
    _mm_setcsr(kDefaultVectors);
    if (x87_ != kDefaultX87) {
      std::fegetenv(&before_);
      std::fesetenv(FE_DFL_ENV);
    }
  }
  ~DefaultFloatEnvironment() {
    if (x87_ != kDefaultX87) {
      std::fesetenv(&before_);
    } else if (read_x87() != kDefaultX87) {
      std::fesetenv(FE_DFL_ENV);
    }
    _mm_setcsr(vectors_);
  }

 private:
  static constexpr unsigned kDefaultVectors = 0x1f80; // of MXCSR
  static constexpr unsigned kDefaultX87 = 0x37f; // control; no exceptions

  // The control word, and above it the exceptions of the status word.
  static unsigned read_x87() {
    unsigned short control = 0;
    unsigned short status = 0;
    asm volatile("fnstcw %0" : "=m"(control));
    asm volatile("fnstsw %0" : "=a"(status));
    return control | (status & 0x3fu) << 16;
  }

  unsigned vectors_;
  unsigned x87_;
  std::fenv_t before_;
#else
  DefaultFloatEnvironment() {
    asm volatile("mrs %0, fpcr" : "=r"(control_));
    asm volatile("mrs %0, fpsr" : "=r"(status_));
    asm volatile("msr fpcr, %0" : : "r"(std::uint64_t{0}) : "memory");
  }
  ~DefaultFloatEnvironment() {
    asm volatile("msr fpcr, %0" : : "r"(control_) : "memory");
    asm volatile("msr fpsr, %0" : : "r"(status_) : "memory");
  }

 private:
  std::uint64_t control_;
  std::uint64_t status_;
#endif
};

} // namespace cudasim::engine
