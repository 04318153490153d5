// Writes the variant of a C function in which stream 0 is the calling thread's
// own default stream. Used by the runtime and the driver.
#pragma once

#include <cstddef>
#include <tuple>

#include "accelerator/runtime/core/machine/thread_state.h"

namespace accelerator::runtime {

/// The parameters and the result of a function type.
template <typename Function>
struct Signature;
template <typename Result_, typename... Parameters>
struct Signature<Result_(Parameters...)> {
  using Result = Result_;
  template <std::size_t kIndex>
  using Parameter = std::tuple_element_t<kIndex, std::tuple<Parameters...>>;
};

} // namespace accelerator::runtime

#define ACCEL_PARAMETER(name, index) \
  accelerator::runtime::Signature<decltype(name)>::Parameter<index>
#define ACCEL_RESULT(name) \
  accelerator::runtime::Signature<decltype(name)>::Result

/// PER_THREAD_n(name, suffix) defines name##suffix for a function `name` of n
/// parameters. Two levels, so that names that are macros are replaced first.
#define PER_THREAD_1(name, suffix) ACCEL_PER_THREAD_1(name, suffix)
#define ACCEL_PER_THREAD_1(name, suffix)                                    \
  extern "C" ACCEL_RESULT(name) name##suffix(ACCEL_PARAMETER(name, 0) a0) { \
    const accelerator::runtime::PerThreadDefault scope;                     \
    return name(a0);                                                        \
  }
#define PER_THREAD_2(name, suffix) ACCEL_PER_THREAD_2(name, suffix)
#define ACCEL_PER_THREAD_2(name, suffix)                                       \
  extern "C" ACCEL_RESULT(name)                                                \
      name##suffix(ACCEL_PARAMETER(name, 0) a0, ACCEL_PARAMETER(name, 1) a1) { \
    const accelerator::runtime::PerThreadDefault scope;                        \
    return name(a0, a1);                                                       \
  }
#define PER_THREAD_3(name, suffix) ACCEL_PER_THREAD_3(name, suffix)
#define ACCEL_PER_THREAD_3(name, suffix)                \
  extern "C" ACCEL_RESULT(name) name##suffix(           \
      ACCEL_PARAMETER(name, 0) a0,                      \
      ACCEL_PARAMETER(name, 1) a1,                      \
      ACCEL_PARAMETER(name, 2) a2) {                    \
    const accelerator::runtime::PerThreadDefault scope; \
    return name(a0, a1, a2);                            \
  }
#define PER_THREAD_4(name, suffix) ACCEL_PER_THREAD_4(name, suffix)
#define ACCEL_PER_THREAD_4(name, suffix)                \
  extern "C" ACCEL_RESULT(name) name##suffix(           \
      ACCEL_PARAMETER(name, 0) a0,                      \
      ACCEL_PARAMETER(name, 1) a1,                      \
      ACCEL_PARAMETER(name, 2) a2,                      \
      ACCEL_PARAMETER(name, 3) a3) {                    \
    const accelerator::runtime::PerThreadDefault scope; \
    return name(a0, a1, a2, a3);                        \
  }
#define PER_THREAD_5(name, suffix) ACCEL_PER_THREAD_5(name, suffix)
#define ACCEL_PER_THREAD_5(name, suffix)                \
  extern "C" ACCEL_RESULT(name) name##suffix(           \
      ACCEL_PARAMETER(name, 0) a0,                      \
      ACCEL_PARAMETER(name, 1) a1,                      \
      ACCEL_PARAMETER(name, 2) a2,                      \
      ACCEL_PARAMETER(name, 3) a3,                      \
      ACCEL_PARAMETER(name, 4) a4) {                    \
    const accelerator::runtime::PerThreadDefault scope; \
    return name(a0, a1, a2, a3, a4);                    \
  }
#define PER_THREAD_6(name, suffix) ACCEL_PER_THREAD_6(name, suffix)
#define ACCEL_PER_THREAD_6(name, suffix)                \
  extern "C" ACCEL_RESULT(name) name##suffix(           \
      ACCEL_PARAMETER(name, 0) a0,                      \
      ACCEL_PARAMETER(name, 1) a1,                      \
      ACCEL_PARAMETER(name, 2) a2,                      \
      ACCEL_PARAMETER(name, 3) a3,                      \
      ACCEL_PARAMETER(name, 4) a4,                      \
      ACCEL_PARAMETER(name, 5) a5) {                    \
    const accelerator::runtime::PerThreadDefault scope; \
    return name(a0, a1, a2, a3, a4, a5);                \
  }
#define PER_THREAD_7(name, suffix) ACCEL_PER_THREAD_7(name, suffix)
#define ACCEL_PER_THREAD_7(name, suffix)                \
  extern "C" ACCEL_RESULT(name) name##suffix(           \
      ACCEL_PARAMETER(name, 0) a0,                      \
      ACCEL_PARAMETER(name, 1) a1,                      \
      ACCEL_PARAMETER(name, 2) a2,                      \
      ACCEL_PARAMETER(name, 3) a3,                      \
      ACCEL_PARAMETER(name, 4) a4,                      \
      ACCEL_PARAMETER(name, 5) a5,                      \
      ACCEL_PARAMETER(name, 6) a6) {                    \
    const accelerator::runtime::PerThreadDefault scope; \
    return name(a0, a1, a2, a3, a4, a5, a6);            \
  }
#define PER_THREAD_8(name, suffix) ACCEL_PER_THREAD_8(name, suffix)
#define ACCEL_PER_THREAD_8(name, suffix)                \
  extern "C" ACCEL_RESULT(name) name##suffix(           \
      ACCEL_PARAMETER(name, 0) a0,                      \
      ACCEL_PARAMETER(name, 1) a1,                      \
      ACCEL_PARAMETER(name, 2) a2,                      \
      ACCEL_PARAMETER(name, 3) a3,                      \
      ACCEL_PARAMETER(name, 4) a4,                      \
      ACCEL_PARAMETER(name, 5) a5,                      \
      ACCEL_PARAMETER(name, 6) a6,                      \
      ACCEL_PARAMETER(name, 7) a7) {                    \
    const accelerator::runtime::PerThreadDefault scope; \
    return name(a0, a1, a2, a3, a4, a5, a6, a7);        \
  }
#define PER_THREAD_9(name, suffix) ACCEL_PER_THREAD_9(name, suffix)
#define ACCEL_PER_THREAD_9(name, suffix)                \
  extern "C" ACCEL_RESULT(name) name##suffix(           \
      ACCEL_PARAMETER(name, 0) a0,                      \
      ACCEL_PARAMETER(name, 1) a1,                      \
      ACCEL_PARAMETER(name, 2) a2,                      \
      ACCEL_PARAMETER(name, 3) a3,                      \
      ACCEL_PARAMETER(name, 4) a4,                      \
      ACCEL_PARAMETER(name, 5) a5,                      \
      ACCEL_PARAMETER(name, 6) a6,                      \
      ACCEL_PARAMETER(name, 7) a7,                      \
      ACCEL_PARAMETER(name, 8) a8) {                    \
    const accelerator::runtime::PerThreadDefault scope; \
    return name(a0, a1, a2, a3, a4, a5, a6, a7, a8);    \
  }
#define PER_THREAD_10(name, suffix) ACCEL_PER_THREAD_10(name, suffix)
#define ACCEL_PER_THREAD_10(name, suffix)                \
  extern "C" ACCEL_RESULT(name) name##suffix(            \
      ACCEL_PARAMETER(name, 0) a0,                       \
      ACCEL_PARAMETER(name, 1) a1,                       \
      ACCEL_PARAMETER(name, 2) a2,                       \
      ACCEL_PARAMETER(name, 3) a3,                       \
      ACCEL_PARAMETER(name, 4) a4,                       \
      ACCEL_PARAMETER(name, 5) a5,                       \
      ACCEL_PARAMETER(name, 6) a6,                       \
      ACCEL_PARAMETER(name, 7) a7,                       \
      ACCEL_PARAMETER(name, 8) a8,                       \
      ACCEL_PARAMETER(name, 9) a9) {                     \
    const accelerator::runtime::PerThreadDefault scope;  \
    return name(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9); \
  }
#define PER_THREAD_11(name, suffix) ACCEL_PER_THREAD_11(name, suffix)
#define ACCEL_PER_THREAD_11(name, suffix)                     \
  extern "C" ACCEL_RESULT(name) name##suffix(                 \
      ACCEL_PARAMETER(name, 0) a0,                            \
      ACCEL_PARAMETER(name, 1) a1,                            \
      ACCEL_PARAMETER(name, 2) a2,                            \
      ACCEL_PARAMETER(name, 3) a3,                            \
      ACCEL_PARAMETER(name, 4) a4,                            \
      ACCEL_PARAMETER(name, 5) a5,                            \
      ACCEL_PARAMETER(name, 6) a6,                            \
      ACCEL_PARAMETER(name, 7) a7,                            \
      ACCEL_PARAMETER(name, 8) a8,                            \
      ACCEL_PARAMETER(name, 9) a9,                            \
      ACCEL_PARAMETER(name, 10) a10) {                        \
    const accelerator::runtime::PerThreadDefault scope;       \
    return name(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10); \
  }
