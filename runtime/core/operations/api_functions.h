// Defines C functions with the signatures that CUDA's headers declare: those of
// an operation, and the variants in which stream 0 is the calling thread's own
// default stream. Used by the runtime and the driver.
#pragma once

#include <cstddef>
#include <tuple>

#include "runtime/core/machine/thread_state.h"

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

/// API_FUNCTION(n, name, operation) defines the C function `name`, which has n
/// parameters: `perform`, the library's own, hands them on to the operation.
#define API_FUNCTION(n, name, operation)                           \
  extern "C" ACCEL_RESULT(name) name(ACCEL_PARAMETERS_##n(name)) { \
    return perform(__func__, operation, ACCEL_ARGUMENTS_##n);      \
  }

/// PER_THREAD(n, name, suffix) defines name##suffix for a function `name` of n
/// parameters. Two levels, so that names that are macros are replaced first.
#define PER_THREAD(n, name, suffix) ACCEL_PER_THREAD(n, name, suffix)
#define ACCEL_PER_THREAD(n, name, suffix)                                  \
  extern "C" ACCEL_RESULT(name) name##suffix(ACCEL_PARAMETERS_##n(name)) { \
    const accelerator::runtime::PerThreadDefault scope;                    \
    return name(ACCEL_ARGUMENTS_##n);                                      \
  }

#define ACCEL_RESULT(name) \
  accelerator::runtime::Signature<decltype(name)>::Result
#define ACCEL_PARAMETER(name, index) \
  accelerator::runtime::Signature<decltype(name)>::Parameter<index> a##index

#define ACCEL_PARAMETERS_1(f) ACCEL_PARAMETER(f, 0)
#define ACCEL_PARAMETERS_2(f) ACCEL_PARAMETERS_1(f), ACCEL_PARAMETER(f, 1)
#define ACCEL_PARAMETERS_3(f) ACCEL_PARAMETERS_2(f), ACCEL_PARAMETER(f, 2)
#define ACCEL_PARAMETERS_4(f) ACCEL_PARAMETERS_3(f), ACCEL_PARAMETER(f, 3)
#define ACCEL_PARAMETERS_5(f) ACCEL_PARAMETERS_4(f), ACCEL_PARAMETER(f, 4)
#define ACCEL_PARAMETERS_6(f) ACCEL_PARAMETERS_5(f), ACCEL_PARAMETER(f, 5)
#define ACCEL_PARAMETERS_7(f) ACCEL_PARAMETERS_6(f), ACCEL_PARAMETER(f, 6)
#define ACCEL_PARAMETERS_8(f) ACCEL_PARAMETERS_7(f), ACCEL_PARAMETER(f, 7)
#define ACCEL_PARAMETERS_9(f) ACCEL_PARAMETERS_8(f), ACCEL_PARAMETER(f, 8)
#define ACCEL_PARAMETERS_10(f) ACCEL_PARAMETERS_9(f), ACCEL_PARAMETER(f, 9)
#define ACCEL_PARAMETERS_11(f) ACCEL_PARAMETERS_10(f), ACCEL_PARAMETER(f, 10)

#define ACCEL_ARGUMENTS_1 a0
#define ACCEL_ARGUMENTS_2 ACCEL_ARGUMENTS_1, a1
#define ACCEL_ARGUMENTS_3 ACCEL_ARGUMENTS_2, a2
#define ACCEL_ARGUMENTS_4 ACCEL_ARGUMENTS_3, a3
#define ACCEL_ARGUMENTS_5 ACCEL_ARGUMENTS_4, a4
#define ACCEL_ARGUMENTS_6 ACCEL_ARGUMENTS_5, a5
#define ACCEL_ARGUMENTS_7 ACCEL_ARGUMENTS_6, a6
#define ACCEL_ARGUMENTS_8 ACCEL_ARGUMENTS_7, a7
#define ACCEL_ARGUMENTS_9 ACCEL_ARGUMENTS_8, a8
#define ACCEL_ARGUMENTS_10 ACCEL_ARGUMENTS_9, a9
#define ACCEL_ARGUMENTS_11 ACCEL_ARGUMENTS_10, a10
