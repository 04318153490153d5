// The C functions of a library of numbers, a line each: ENTRY_POINT names the
// function and what does it. Parameters and result are those that CUDA's header
// declares.
#pragma once

#include <cuComplex.h>
#include <library_types.h>

#include <complex>
#include <type_traits>

#include "runtime/signatures/signature.h"

namespace accelerator {

/// What a type of CUDA's is for C++: complex numbers are C++'s own, also where
/// pointers lead to them.
template <typename T>
struct Counterpart {
  using Type = T;
};
template <>
struct Counterpart<cuComplex> {
  using Type = std::complex<float>;
};
template <>
struct Counterpart<cuDoubleComplex> {
  using Type = std::complex<double>;
};
template <typename T>
struct Counterpart<const T> {
  using Type = const typename Counterpart<T>::Type;
};
template <typename T>
struct Counterpart<T*> {
  using Type = typename Counterpart<T>::Type*;
};

/// An argument as the library has it.
template <typename T>
typename Counterpart<T>::Type counterpart(T value) {
  using Type = typename Counterpart<T>::Type;
  if constexpr (std::is_same_v<T, Type>) {
    return value;
  } else if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<Type>(value);
  } else {
    return {value.x, value.y};
  }
}

} // namespace accelerator

/// ENTRY_POINT(n, name, operation) defines the C function `name`, which has n
/// parameters: the operation is given the name, for reports, and the arguments.
/// Names that are macros (cublasSgemm) are replaced in what is defined, not in
/// what is reported.
#define ENTRY_POINT(n, name, ...)                                             \
  extern "C" ACCEL_RESULT(name) name(ACCEL_EACH_##n(ACCEL_PARAMETER, name)) { \
    return __VA_ARGS__(#name, ACCEL_EACH_##n(ACCEL_COUNTERPART, name));       \
  }
#define ACCEL_COUNTERPART(name, index) accelerator::counterpart(a##index)

/// ENTRY_POINT_WITH(n, name, more, operation) does so for an operation that is
/// given more, before the arguments: what sets functions of it apart.
#define ENTRY_POINT_WITH(n, name, more, ...)                                  \
  extern "C" ACCEL_RESULT(name) name(ACCEL_EACH_##n(ACCEL_PARAMETER, name)) { \
    return __VA_ARGS__(#name, more, ACCEL_EACH_##n(ACCEL_COUNTERPART, name)); \
  }

/// ENTRY_POINTS(n, library, function, operation) does so for the functions of
/// each type of numbers, whose letter stands between the others: cublas, S,
/// gemm.
#define ENTRY_POINTS(n, library, function, ...)        \
  ENTRY_POINTS_REAL(n, library, function, __VA_ARGS__) \
  ENTRY_POINTS_COMPLEX(n, library, function, __VA_ARGS__)
#define ENTRY_POINTS_REAL(n, library, function, ...) \
  ENTRY_POINT(n, library##S##function, __VA_ARGS__)  \
  ENTRY_POINT(n, library##D##function, __VA_ARGS__)
#define ENTRY_POINTS_COMPLEX(n, library, function, ...) \
  ENTRY_POINT(n, library##C##function, __VA_ARGS__)     \
  ENTRY_POINT(n, library##Z##function, __VA_ARGS__)

/// The same where no argument tells the type: it is the operation's, a
/// template's.
#define TYPED_ENTRY_POINTS(n, library, function, operation)            \
  ENTRY_POINT(n, library##S##function, operation<float>)               \
  ENTRY_POINT(n, library##D##function, operation<double>)              \
  ENTRY_POINT(n, library##C##function, operation<std::complex<float>>) \
  ENTRY_POINT(n, library##Z##function, operation<std::complex<double>>)

/// The same for an operation that is no template: it is given the type before
/// the arguments.
#define UNTYPED_ENTRY_POINTS(n, library, function, ...)              \
  ENTRY_POINT_WITH(n, library##S##function, CUDA_R_32F, __VA_ARGS__) \
  ENTRY_POINT_WITH(n, library##D##function, CUDA_R_64F, __VA_ARGS__) \
  ENTRY_POINT_WITH(n, library##C##function, CUDA_C_32F, __VA_ARGS__) \
  ENTRY_POINT_WITH(n, library##Z##function, CUDA_C_64F, __VA_ARGS__)
