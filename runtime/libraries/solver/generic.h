// The functions of matrices of 64-bit sizes, whose types are arguments: those
// of one type of numbers, once the type is known.
#pragma once

#include <cusolverDn.h>

#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "runtime/libraries/solver/submit.h"

namespace accelerator::solver {

/// Whether LAPACK can count it: its sizes have 32 bits.
inline bool is_countable(std::initializer_list<std::int64_t> sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) {
    return size <= std::numeric_limits<int>::max();
  });
}

/// What a size is where it is too small for 32 bits: as wrong.
inline int narrow(std::int64_t size) {
  return size < 0 ? -1 : static_cast<int>(size);
}

inline cudaDataType real_of(cudaDataType type) {
  return type == CUDA_C_32F ? CUDA_R_32F
      : type == CUDA_C_64F  ? CUDA_R_64F
                            : type;
}

/// Calls with a number of the type that all of a matrix's are.
/// @param same other types of the call, which are to be the same.
template <typename Call>
cusolverStatus_t dispatch(
    cusolverDnHandle_t handle,
    cudaDataType type,
    std::initializer_list<cudaDataType> same,
    std::initializer_list<std::int64_t> sizes,
    Call call) {
  const bool are_same = std::all_of(
      same.begin(), same.end(), [&](cudaDataType its) { return its == type; });
  if (const auto status = check(handle, {are_same});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  if (!is_countable(sizes)) {
    return CUSOLVER_STATUS_NOT_SUPPORTED;
  }
  switch (type) {
    case CUDA_R_32F:
      return call(0.0F);
    case CUDA_R_64F:
      return call(0.0);
    case CUDA_C_32F:
      return call(std::complex<float>());
    case CUDA_C_64F:
      return call(std::complex<double>());
    default:
      return CUSOLVER_STATUS_INVALID_VALUE;
  }
}

/// dispatch() for functions that are given a work area.
template <typename Call>
cusolverStatus_t dispatch_with_work(
    cusolverDnHandle_t handle,
    cudaDataType type,
    std::initializer_list<cudaDataType> same,
    std::initializer_list<std::int64_t> sizes,
    std::size_t work_bytes,
    Call call) {
  return dispatch(handle, type, same, sizes, [&](auto zero) {
    return work_bytes < kWorkSize * sizeof(zero) ? CUSOLVER_STATUS_INVALID_VALUE
                                                 : call(zero);
  });
}

/// An array whose type is an argument, for a function that knows the type.
template <typename Void>
struct Untyped {
  Void* array;

  template <typename T>
  operator T*() const {
    return static_cast<T*>(array);
  }
};

/// What an argument of a generic function is for one of one type of numbers.
template <typename T, typename Argument>
auto typed(Argument argument) {
  if constexpr (std::is_same_v<Argument, std::int64_t>) {
    return narrow(argument);
  } else if constexpr (std::is_same_v<Argument, std::size_t>) {
    // Of a work area, which the other function is told in elements.
    return static_cast<int>(
        std::min<std::size_t>(argument / sizeof(T), kWorkSize));
  } else if constexpr (std::is_void_v<std::remove_pointer_t<Argument>>) {
    return Untyped<std::remove_pointer_t<Argument>>{argument};
  } else {
    return argument;
  }
}

/// Arguments by their places; a std::tuple costs more to compile.
template <std::size_t kIndex, typename Argument>
struct Placed {
  Argument value;
};
template <typename Places, typename... Arguments>
struct All;
template <std::size_t... kIndex, typename... Arguments>
struct All<std::index_sequence<kIndex...>, Arguments...>
    : Placed<kIndex, Arguments>... {};

template <std::size_t kIndex, typename Argument>
Argument at(const Placed<kIndex, Argument>& placed) {
  return placed.value;
}

/// The arguments of a generic function that one of one type of numbers has,
/// too: all but types, parameters, and what is behind the size of the device's
/// work area and about the host's.
template <typename... Arguments>
struct Kept {
  std::array<std::size_t, sizeof...(Arguments)> indices{};
  std::size_t count = 0;

  constexpr Kept() {
    constexpr bool kIsSize[] = {std::is_same_v<Arguments, std::size_t>...};
    constexpr bool kIsAddress[] = {std::is_same_v<Arguments, void*>...};
    constexpr bool kIsGeneric[] = {
        (std::is_same_v<Arguments, cudaDataType> ||
         std::is_same_v<Arguments, cusolverDnParams_t>)...};
    bool is_behind = false;
    for (std::size_t i = 0; i < sizeof...(Arguments); ++i) {
      const bool is_host = is_behind && (kIsSize[i] || kIsAddress[i]);
      if (!kIsGeneric[i] && !is_host) {
        indices[count++] = i;
      }
      is_behind = is_behind || kIsSize[i];
    }
  }
};

/// What a generic function's second type is that of.
enum class SecondType { kSame, kRealValues };

/// What is looked at before the function of a type is called.
class GenericCall {
 public:
  explicit GenericCall(SecondType second) : second_(second) {}

  void see(cudaDataType type) {
    ++types_;
    if (types_ == 1) {
      type_ = type;
    } else if (types_ == 2 && second_ == SecondType::kRealValues) {
      has_good_values_ = type == real_of(type_);
    } else {
      are_same_ = are_same_ && type == type_;
    }
  }
  void see(std::int64_t size) {
    is_countable_ = is_countable_ && is_countable({size});
  }
  template <typename Other>
  void see(Other) {}

  cusolverStatus_t check_for(cusolverDnHandle_t handle) const {
    const cusolverStatus_t status = check(handle, {are_same_});
    return status == CUSOLVER_STATUS_SUCCESS && !is_countable_
        ? CUSOLVER_STATUS_NOT_SUPPORTED
        : status;
  }
  cudaDataType type() const {
    return type_;
  }
  bool has_good_values() const {
    return has_good_values_;
  }

 private:
  SecondType second_;
  int types_ = 0;
  cudaDataType type_{};
  bool are_same_ = true;
  bool has_good_values_ = true;
  bool is_countable_ = true;
};

template <
    typename Kept,
    std::size_t... kPlace,
    typename Operation,
    typename T,
    typename All>
cusolverStatus_t call_with(
    std::index_sequence<kPlace...>,
    Operation operation,
    T zero,
    cusolverDnHandle_t handle,
    const All& all) {
  constexpr Kept kKept;
  return operation(zero, handle, typed<T>(at<kKept.indices[kPlace]>(all))...);
}

/// Calls the function of the type of numbers that a generic function is given.
/// All its types have to be the same, or the second one the real one.
/// @param operation is given a number of that type, and the arguments.
template <typename Operation, typename... Arguments>
cusolverStatus_t with_type(
    SecondType second,
    Operation operation,
    cusolverDnHandle_t handle,
    Arguments... arguments) {
  GenericCall generic(second);
  (generic.see(arguments), ...);
  if (const auto status = generic.check_for(handle);
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  return dispatch(handle, generic.type(), {}, {}, [&](auto zero) {
    return generic.has_good_values()
        ? call_with<Kept<Arguments...>>(
              std::make_index_sequence<Kept<Arguments...>().count>(),
              operation,
              zero,
              handle,
              All<std::index_sequence_for<Arguments...>, Arguments...>{
                  {arguments}...})
        : CUSOLVER_STATUS_INVALID_VALUE;
  });
}

} // namespace accelerator::solver

/// Defines a generic function, whose types are arguments, by a function
/// template for one type of numbers, as ENTRY_POINT defines functions. The
/// template's parameters are the generic function's without types, parameters
/// (cusolverDnParams_t) and the work area on the host.
#define GENERIC_ENTRY_POINT(n, name, operation) \
  ACCEL_GENERIC(n, name, operation, kSame)

/// The same where the second type is that of real values.
#define GENERIC_ENTRY_POINT_OF_VALUES(n, name, operation) \
  ACCEL_GENERIC(n, name, operation, kRealValues)

#define ACCEL_GENERIC(n, name, operation, second)                             \
  extern "C" ACCEL_RESULT(name) name(ACCEL_EACH_##n(ACCEL_PARAMETER, name)) { \
    return accelerator::solver::with_type(                                    \
        accelerator::solver::SecondType::second,                              \
        [](auto zero, auto... its) {                                          \
          return operation<decltype(zero)>(#name, its...);                    \
        },                                                                    \
        ACCEL_EACH_##n(ACCEL_ARGUMENT, name));                                \
  }
