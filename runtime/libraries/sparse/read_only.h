// Second names of functions, for objects that are only read.
#pragma once

#include <type_traits>

namespace accelerator::sparse {

/// A type without `const`, at any depth of pointers; a function's type without
/// it in its parameters.
template <typename T>
struct Changeable {
  using type = T;
};
template <typename T>
struct Changeable<const T> : Changeable<T> {};
template <typename T>
struct Changeable<T*> {
  using type = typename Changeable<T>::type*;
};
template <typename Result, typename... Parameters>
struct Changeable<Result(Parameters...)> {
  using type = Result(typename Changeable<Parameters>::type...);
};

} // namespace accelerator::sparse

/// Gives `function` of this file a second name, which the header declares with
/// parameters that differ in `const` alone: calls do not see the difference.
#define ACCEL_READ_ONLY(name, function)                                      \
  static_assert(std::is_same_v<                                              \
                accelerator::sparse::Changeable<decltype(name)>::type,       \
                accelerator::sparse::Changeable<decltype(function)>::type>); \
  extern decltype(name) name __attribute__((alias(#function)));
