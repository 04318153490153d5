// What the source of a torch.cuda.jiterator function may use, on the host:
// CUDA's words and mathematics, and what stops a computation that C++ leaves
// undefined and a processor ends with a signal. It is compiled by itself,
// before the user's source. No header of PyTorch is needed.
#pragma once

#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#ifdef TORCH_CUDA_COMPLEX
#include <complex>
#endif

// Last: of C++'s library, whose overloads they bring into the global namespace.
#include <math.h>
#include <stdlib.h>

#define __device__
#define __host__
#define __forceinline__ inline

#define POS_INFINITY INFINITY
#define NEG_INFINITY (-INFINITY)

// CUDA's 64-bit integers are long long, and the host's may be long: what asks
// for the type of T has to find it.
typedef long long torch_cuda_int64;
#define int64_t torch_cuda_int64

namespace torch_cuda_prelude {

// What `guarded` returns.
enum Fault {
  kNone = 0,
  kDivision = 1,
  kShift = 2,
  kConversion = 3,
  kReturn = 4
};

static thread_local std::jmp_buf way_out;

// One call for each element. It is apart from what calls setjmp, so that it may
// be compiled freely.
template <typename Body>
__attribute__((noinline)) void each(long long count, const Body& body) {
  for (long long i = 0; i < count; ++i) {
    body(i);
  }
}

// Calls a function for each element, until one is at fault.
template <typename Body>
int guarded(long long count, const Body& body) {
  if (const int fault = setjmp(way_out)) {
    return fault;
  }
  each(count, body);
  return kNone;
}

// A call in a CUDA graph, as _graphs.py makes it.
struct Replay {
  int (*entry)(long long, void* const*, const long long*);
  long long count;
  void* const* at;
  const long long* step;
  // Of the runtime, which puts the device at fault.
  int (*fail)(int device, int status);
  int device;
  const char* name;
  // What is said of each fault.
  const char* const* faults;
};

} // namespace torch_cuda_prelude

// What the compiler's checks call (-fsanitize=…):
// the names are GCC's and Clang's. A jump, because the compiler takes them for
// functions that do not throw.
extern "C" {
__attribute__((visibility("hidden"), used, noreturn)) void
__ubsan_handle_divrem_overflow(void*, std::uintptr_t, std::uintptr_t) {
  std::longjmp(torch_cuda_prelude::way_out, torch_cuda_prelude::kDivision);
}
__attribute__((visibility("hidden"), used, noreturn)) void
__ubsan_handle_shift_out_of_bounds(void*, std::uintptr_t, std::uintptr_t) {
  std::longjmp(torch_cuda_prelude::way_out, torch_cuda_prelude::kShift);
}
__attribute__((visibility("hidden"), used, noreturn)) void
__ubsan_handle_float_cast_overflow(void*, std::uintptr_t) {
  std::longjmp(torch_cuda_prelude::way_out, torch_cuda_prelude::kConversion);
}
__attribute__((visibility("hidden"), used, noreturn)) void
__ubsan_handle_missing_return(void*) {
  std::longjmp(torch_cuda_prelude::way_out, torch_cuda_prelude::kReturn);
}

// Clang asks of sums and products, too, where only the quotient is meant: they
// wrap around.
__attribute__((visibility("hidden"), used)) void __ubsan_handle_add_overflow(
    void*,
    std::uintptr_t,
    std::uintptr_t) {}
__attribute__((visibility("hidden"), used)) void __ubsan_handle_sub_overflow(
    void*,
    std::uintptr_t,
    std::uintptr_t) {}
__attribute__((visibility("hidden"), used)) void __ubsan_handle_mul_overflow(
    void*,
    std::uintptr_t,
    std::uintptr_t) {}
__attribute__((visibility("hidden"), used)) void __ubsan_handle_negate_overflow(
    void*,
    std::uintptr_t) {}
}

// What a graph calls at each replay.
extern "C" __attribute__((visibility("default"))) void torch_cuda_replay(
    void* data) {
  const auto& replay = *static_cast<torch_cuda_prelude::Replay*>(data);
  const int fault = replay.entry(replay.count, replay.at, replay.step);
  if (fault != torch_cuda_prelude::kNone) {
    std::fprintf(
        stderr,
        "torch_cuda: torch.cuda.jiterator: %s failed in a CUDA graph on cuda:%d: "
        "it %s\n",
        replay.name,
        replay.device,
        replay.faults[fault]);
    replay.fail(replay.device, 710); // cudaErrorAssert
  }
}

// The smaller and the larger of two numbers. As in CUDA no template, so that a
// program may have one.
#define TORCH_CUDA_ORDER(T) \
  inline T min(T a, T b) {  \
    return b < a ? b : a;   \
  }                         \
  inline T max(T a, T b) {  \
    return a < b ? b : a;   \
  }
TORCH_CUDA_ORDER(int)
TORCH_CUDA_ORDER(unsigned int)
TORCH_CUDA_ORDER(long)
TORCH_CUDA_ORDER(unsigned long)
TORCH_CUDA_ORDER(long long)
TORCH_CUDA_ORDER(unsigned long long)
#undef TORCH_CUDA_ORDER
inline float min(float a, float b) {
  return fminf(a, b);
}
inline float max(float a, float b) {
  return fmaxf(a, b);
}
inline double min(double a, double b) {
  return fmin(a, b);
}
inline double max(double a, double b) {
  return fmax(a, b);
}
inline double min(float a, double b) {
  return fmin(a, b);
}
inline double max(float a, double b) {
  return fmax(a, b);
}
inline double min(double a, float b) {
  return fmin(a, b);
}
inline double max(double a, float b) {
  return fmax(a, b);
}

// To the nearest integer. The C library's functions give the least integer
// where the result does not fit; here that is at fault, as other conversions
// are.
#define TORCH_CUDA_NEAREST(name, Integer, function)                \
  inline Integer torch_cuda_##name(double x) {                     \
    return static_cast<Integer>(function(x));                      \
  }                                                                \
  inline Integer torch_cuda_##name(float x) {                      \
    return static_cast<Integer>(function(static_cast<double>(x))); \
  }                                                                \
  inline Integer torch_cuda_##name##f(float x) {                   \
    return torch_cuda_##name(x);                                   \
  }                                                                \
  namespace std {                                                  \
  using ::torch_cuda_##name;                                       \
  using ::torch_cuda_##name##f;                                    \
  }
TORCH_CUDA_NEAREST(lrint, long, std::rint)
TORCH_CUDA_NEAREST(llrint, long long, std::rint)
TORCH_CUDA_NEAREST(lround, long, std::round)
TORCH_CUDA_NEAREST(llround, long long, std::round)
#undef TORCH_CUDA_NEAREST
#define lrint torch_cuda_lrint
#define lrintf torch_cuda_lrintf
#define llrint torch_cuda_llrint
#define llrintf torch_cuda_llrintf
#define lround torch_cuda_lround
#define lroundf torch_cuda_lroundf
#define llround torch_cuda_llround
#define llroundf torch_cuda_llroundf

// Newer C libraries have some of CUDA's functions, of double.
#if defined(__GLIBC_PREREQ)
#define TORCH_CUDA_GLIBC(major, minor) __GLIBC_PREREQ(major, minor)
#else
#define TORCH_CUDA_GLIBC(major, minor) 0
#endif

namespace torch_cuda_prelude {

constexpr double kPi = 3.14159265358979323846;

// The sine of pi x, exactly zero where x is an integer.
inline double sine_of_pi(double x) {
  const double turn = std::remainder(x, 2.0); // [-1, 1]
  const double size = std::fabs(turn);
  if (size == 0.0 || size == 1.0) {
    return std::copysign(0.0, x);
  }
  return std::copysign(
      size > 0.25 && size < 0.75
          ? std::cos(kPi * (size - 0.5))
          : std::sin(kPi * (size > 0.5 ? 1.0 - size : size)),
      turn);
}

inline double cosine_of_pi(double x) {
  const double size = std::fabs(std::remainder(x, 2.0));
  return size == 0.5 ? 0.0 : sine_of_pi(0.5 - size);
}

} // namespace torch_cuda_prelude

#if !TORCH_CUDA_GLIBC(2, 42)
inline double rsqrt(double x) {
  return 1.0 / sqrt(x);
}
inline float rsqrtf(float x) {
  return static_cast<float>(1.0 / sqrt(static_cast<double>(x)));
}
#endif
inline float rsqrt(float x) {
  return rsqrtf(x);
}
inline double rcbrt(double x) {
  return 1.0 / cbrt(x);
}
inline float rcbrtf(float x) {
  return static_cast<float>(1.0 / cbrt(static_cast<double>(x)));
}
inline float rcbrt(float x) {
  return rcbrtf(x);
}
#if !TORCH_CUDA_GLIBC(2, 41)
inline double sinpi(double x) {
  return torch_cuda_prelude::sine_of_pi(x);
}
inline double cospi(double x) {
  return torch_cuda_prelude::cosine_of_pi(x);
}
inline float sinpif(float x) {
  return static_cast<float>(sinpi(static_cast<double>(x)));
}
inline float cospif(float x) {
  return static_cast<float>(cospi(static_cast<double>(x)));
}
#endif
inline float sinpi(float x) {
  return sinpif(x);
}
inline float cospi(float x) {
  return cospif(x);
}
inline float exp10(float x) {
  return exp10f(x);
}
inline void sincos(float x, float* sine, float* cosine) {
  sincosf(x, sine, cosine);
}
inline float j0(float x) {
  return j0f(x);
}
inline float j1(float x) {
  return j1f(x);
}
inline float jn(int n, float x) {
  return jnf(n, x);
}
inline float y0(float x) {
  return y0f(x);
}
inline float y1(float x) {
  return y1f(x);
}
inline float yn(int n, float x) {
  return ynf(n, x);
}
inline double normcdf(double x) {
  return 0.5 * erfc(-x * 0.70710678118654752440);
}
inline float normcdff(float x) {
  return static_cast<float>(normcdf(static_cast<double>(x)));
}
inline float normcdf(float x) {
  return normcdff(x);
}
inline double rhypot(double x, double y) {
  return 1.0 / hypot(x, y);
}
inline float rhypotf(float x, float y) {
  return 1.0f / hypotf(x, y);
}
inline float rhypot(float x, float y) {
  return rhypotf(x, y);
}
inline float fdividef(float x, float y) {
  return x / y;
}
inline float fdivide(float x, float y) {
  return x / y;
}
inline double fdivide(double x, double y) {
  return x / y;
}

// CUDA's intrinsics. What it computes with less precision is computed with that
// of the host.
inline float __saturatef(float x) {
  return fminf(fmaxf(x, 0.0f), 1.0f);
}
// Zero, or NaN of an infinity, where the divisor is greater than 2^126.
inline float __fdividef(float x, float y) {
  return fabsf(y) > 0x1p126f && !isinf(y) ? copysignf(0.0f, y) * x : x / y;
}
inline float __expf(float x) {
  return expf(x);
}
inline float __exp10f(float x) {
  return exp10f(x);
}
inline float __logf(float x) {
  return logf(x);
}
inline float __log2f(float x) {
  return log2f(x);
}
inline float __log10f(float x) {
  return log10f(x);
}
inline float __sinf(float x) {
  return sinf(x);
}
inline float __cosf(float x) {
  return cosf(x);
}
inline float __tanf(float x) {
  return tanf(x);
}
// By the logarithm, which negative numbers do not have.
inline float __powf(float x, float y) {
  return exp2f(y * log2f(x));
}
inline float __fadd_rn(float x, float y) {
  return x + y;
}
inline float __fsub_rn(float x, float y) {
  return x - y;
}
inline float __fmul_rn(float x, float y) {
  return x * y;
}
inline float __fdiv_rn(float x, float y) {
  return x / y;
}
inline float __frcp_rn(float x) {
  return 1.0f / x;
}
inline float __fsqrt_rn(float x) {
  return sqrtf(x);
}
inline float __frsqrt_rn(float x) {
  return rsqrtf(x);
}
inline float __fmaf_rn(float x, float y, float z) {
  return fmaf(x, y, z);
}
inline double __dadd_rn(double x, double y) {
  return x + y;
}
inline double __dsub_rn(double x, double y) {
  return x - y;
}
inline double __dmul_rn(double x, double y) {
  return x * y;
}
inline double __ddiv_rn(double x, double y) {
  return x / y;
}
inline double __drcp_rn(double x) {
  return 1.0 / x;
}
inline double __dsqrt_rn(double x) {
  return sqrt(x);
}
inline double __fma_rn(double x, double y, double z) {
  return fma(x, y, z);
}

namespace torch_cuda_prelude {

// The same bits as another type.
template <typename To, typename From>
inline To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "of one size");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

} // namespace torch_cuda_prelude

inline int __float_as_int(float x) {
  return torch_cuda_prelude::bits<int>(x);
}
inline unsigned int __float_as_uint(float x) {
  return torch_cuda_prelude::bits<unsigned int>(x);
}
inline float __int_as_float(int x) {
  return torch_cuda_prelude::bits<float>(x);
}
inline float __uint_as_float(unsigned int x) {
  return torch_cuda_prelude::bits<float>(x);
}
inline long long __double_as_longlong(double x) {
  return torch_cuda_prelude::bits<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return torch_cuda_prelude::bits<double>(x);
}
inline int __popc(unsigned int x) {
  return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
  return __builtin_popcountll(x);
}
inline int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned int>(x));
}
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
  return __builtin_ffsll(x);
}
inline int __mulhi(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) * y) >> 32);
}
inline unsigned int __umulhi(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>(
      (static_cast<unsigned long long>(x) * y) >> 32);
}
