// C functions with the signatures that CUDA's headers declare: what a
// definition needs to know of a function besides its name.
#pragma once

namespace accelerator::runtime {

/// The result and the parameters of a function type, which has up to 24. All
/// are members of one template, because an instance for each of them would cost
/// the compiler more than all else of an entry point.
// clang-format off
template <
    typename Result_,
    typename A0, typename A1, typename A2, typename A3, typename A4, typename A5,
    typename A6, typename A7, typename A8, typename A9, typename A10, typename A11,
    typename A12, typename A13, typename A14, typename A15, typename A16, typename A17,
    typename A18, typename A19, typename A20, typename A21, typename A22, typename A23,
    typename...>
struct Parameters {
  using Result = Result_;
  using P0 = A0; using P1 = A1; using P2 = A2; using P3 = A3;
  using P4 = A4; using P5 = A5; using P6 = A6; using P7 = A7;
  using P8 = A8; using P9 = A9; using P10 = A10; using P11 = A11;
  using P12 = A12; using P13 = A13; using P14 = A14; using P15 = A15;
  using P16 = A16; using P17 = A17; using P18 = A18; using P19 = A19;
  using P20 = A20; using P21 = A21; using P22 = A22; using P23 = A23;
};

template <typename Function>
struct Signature;
template <typename Result, typename... P>
struct Signature<Result(P...)>
    : Parameters<
          Result, P...,
          void, void, void, void, void, void, void, void,
          void, void, void, void, void, void, void, void,
          void, void, void, void, void, void, void, void> {};
// clang-format on

} // namespace accelerator::runtime

#define ACCEL_RESULT(name) \
  accelerator::runtime::Signature<decltype(name)>::Result

/// ACCEL_EACH_n(make, name) is a list of n things: make(name, 0), make(name, 1)
/// and so on. These are a function's parameters, and their names:
#define ACCEL_PARAMETER(name, index) \
  accelerator::runtime::Signature<decltype(name)>::P##index a##index
#define ACCEL_ARGUMENT(name, index) a##index

#define ACCEL_EACH_1(make, name) make(name, 0)
#define ACCEL_EACH_2(make, name) ACCEL_EACH_1(make, name), make(name, 1)
#define ACCEL_EACH_3(make, name) ACCEL_EACH_2(make, name), make(name, 2)
#define ACCEL_EACH_4(make, name) ACCEL_EACH_3(make, name), make(name, 3)
#define ACCEL_EACH_5(make, name) ACCEL_EACH_4(make, name), make(name, 4)
#define ACCEL_EACH_6(make, name) ACCEL_EACH_5(make, name), make(name, 5)
#define ACCEL_EACH_7(make, name) ACCEL_EACH_6(make, name), make(name, 6)
#define ACCEL_EACH_8(make, name) ACCEL_EACH_7(make, name), make(name, 7)
#define ACCEL_EACH_9(make, name) ACCEL_EACH_8(make, name), make(name, 8)
#define ACCEL_EACH_10(make, name) ACCEL_EACH_9(make, name), make(name, 9)
#define ACCEL_EACH_11(make, name) ACCEL_EACH_10(make, name), make(name, 10)
#define ACCEL_EACH_12(make, name) ACCEL_EACH_11(make, name), make(name, 11)
#define ACCEL_EACH_13(make, name) ACCEL_EACH_12(make, name), make(name, 12)
#define ACCEL_EACH_14(make, name) ACCEL_EACH_13(make, name), make(name, 13)
#define ACCEL_EACH_15(make, name) ACCEL_EACH_14(make, name), make(name, 14)
#define ACCEL_EACH_16(make, name) ACCEL_EACH_15(make, name), make(name, 15)
#define ACCEL_EACH_17(make, name) ACCEL_EACH_16(make, name), make(name, 16)
#define ACCEL_EACH_18(make, name) ACCEL_EACH_17(make, name), make(name, 17)
#define ACCEL_EACH_19(make, name) ACCEL_EACH_18(make, name), make(name, 18)
#define ACCEL_EACH_20(make, name) ACCEL_EACH_19(make, name), make(name, 19)
#define ACCEL_EACH_21(make, name) ACCEL_EACH_20(make, name), make(name, 20)
#define ACCEL_EACH_22(make, name) ACCEL_EACH_21(make, name), make(name, 21)
#define ACCEL_EACH_23(make, name) ACCEL_EACH_22(make, name), make(name, 22)
#define ACCEL_EACH_24(make, name) ACCEL_EACH_23(make, name), make(name, 23)
