// The routines of host_lapack.h, which make their own work areas, on OpenBLAS.
#include "runtime/libraries/blas/host_lapack.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <vector>

#include "runtime/libraries/blas/lapack.h"
#include "runtime/libraries/blas/lapack/symbols.h"
#include "runtime/libraries/blas/stream_work.h"

namespace accelerator::blas {
namespace {

/// Calls a routine twice: it says how large its work area should be, and gets
/// it.
/// @param call is given the area and its size.
/// @returns the area.
template <typename T, typename Call>
std::vector<T> with_work(Call call) {
  T wanted{};
  call(&wanted, -1);
  // A float holds no large integer exactly.
  const auto size = static_cast<int>(std::real(wanted) * 1.001) + 1;
  std::vector<T> work(static_cast<std::size_t>(size));
  call(work.data(), size);
  return work;
}

/// Answers for gesvd where a matrix has NaNs or infinities, since OpenBLAS's
/// may look for their singular values forever: NaNs. As in LAPACK's gesdd a NaN
/// is a failure besides.
/// @param info is written where there are such numbers.
/// @returns whether there are.
template <typename T, typename Real>
bool is_answered(
    char left,
    char right,
    int m,
    int n,
    const T* a,
    int lda,
    Real* values,
    T* u,
    int ldu,
    T* vt,
    int ldvt,
    int* info) {
  bool has_nan = false;
  bool is_finite = true;
  for (std::ptrdiff_t j = 0; j < n; ++j) {
    std::for_each(a + j * lda, a + j * lda + m, [&](const T& value) {
      for (const Real part : {std::real(value), std::imag(value)}) {
        has_nan = has_nan || std::isnan(part);
        is_finite = is_finite && std::isfinite(part);
      }
    });
  }
  if (is_finite) {
    return false;
  }
  const int least = std::min(m, n);
  const auto of_job = [least](char job, int all) {
    return job == 'A' ? all : job == 'S' ? least : 0;
  };
  constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();
  std::fill_n(values, least, kNan);
  for (std::ptrdiff_t j = 0; j < of_job(left, m); ++j) {
    std::fill_n(u + j * ldu, m, T(kNan));
  }
  for (std::ptrdiff_t j = 0; j < n; ++j) {
    std::fill_n(vt + j * ldvt, of_job(right, n), T(kNan));
  }
  *info = has_nan ? std::max(1, least - 1) : 0;
  return true;
}

// clang-format off
#define ACCEL_COMMON(letter, type, real, orthogonal, symmetric)                \
  LapackRoutines<type> letter##_common() {                                     \
    LapackRoutines<type> all{};                                                \
    all.getrf = [](int m, int n, type* a, int lda, int* pivots) {              \
      return host::getrf(m, n, a, lda, pivots);                                \
    };                                                                         \
    all.getrs = [](char operation, int n, int columns, const type* a, int lda, \
                   const int* pivots, type* b, int ldb) {                      \
      return host::getrs(operation, n, columns, a, lda, pivots, b, ldb);       \
    };                                                                         \
    all.potrf = [](char triangle, int n, type* a, int lda) {                   \
      int info = 0;                                                            \
      letter##potrf_(&triangle, &n, a, &lda, &info, 1);                        \
      return info;                                                             \
    };                                                                         \
    all.potrs = [](char triangle, int n, int columns, const type* a, int lda,  \
                   type* b, int ldb) {                                         \
      int info = 0;                                                            \
      letter##potrs_(&triangle, &n, &columns, a, &lda, b, &ldb, &info, 1);     \
      return info;                                                             \
    };                                                                         \
    all.potri = [](char triangle, int n, type* a, int lda) {                   \
      int info = 0;                                                            \
      letter##potri_(&triangle, &n, a, &lda, &info, 1);                        \
      return info;                                                             \
    };                                                                         \
    all.trtri = [](char triangle, char diagonal, int n, type* a, int lda) {    \
      int info = 0;                                                            \
      letter##trtri_(&triangle, &diagonal, &n, a, &lda, &info, 1, 1);          \
      return info;                                                             \
    };                                                                         \
    all.geqrf = [](int m, int n, type* a, int lda, type* tau) {                \
      return host::geqrf(m, n, a, lda, tau);                                   \
    };                                                                         \
    all.orgqr = [](int m, int n, int k, type* a, int lda, const type* tau) {   \
      int info = 0;                                                            \
      with_work<type>([&](type* work, int size) {                              \
        letter##orthogonal##gqr_(                                              \
            &m, &n, &k, a, &lda, tau, work, &size, &info);                     \
      });                                                                      \
      return info;                                                             \
    };                                                                         \
    all.ormqr = [](char side, char operation, int m, int n, int k,             \
                   const type* a, int lda, const type* tau, type* c,           \
                   int ldc) {                                                  \
      int info = 0;                                                            \
      with_work<type>([&](type* work, int size) {                              \
        letter##orthogonal##mqr_(                                              \
            &side, &operation, &m, &n, &k, a, &lda, tau, c, &ldc, work, &size, \
            &info, 1, 1);                                                      \
      });                                                                      \
      return info;                                                             \
    };                                                                         \
    all.sytrd = [](char triangle, int n, type* a, int lda, real* diagonal,     \
                   real* off_diagonal, type* tau) {                            \
      int info = 0;                                                            \
      with_work<type>([&](type* work, int size) {                              \
        letter##symmetric##trd_(&triangle, &n, a, &lda, diagonal,              \
                                off_diagonal, tau, work, &size, &info, 1);     \
      });                                                                      \
      return info;                                                             \
    };                                                                         \
    all.orgtr = [](char triangle, int n, type* a, int lda, const type* tau) {  \
      int info = 0;                                                            \
      with_work<type>([&](type* work, int size) {                              \
        letter##orthogonal##gtr_(                                              \
            &triangle, &n, a, &lda, tau, work, &size, &info, 1);               \
      });                                                                      \
      return info;                                                             \
    };                                                                         \
    all.ormtr = [](char side, char triangle, char operation, int m, int n,     \
                   const type* a, int lda, const type* tau, type* c,           \
                   int ldc) {                                                  \
      int info = 0;                                                            \
      with_work<type>([&](type* work, int size) {                              \
        letter##orthogonal##mtr_(                                              \
            &side, &triangle, &operation, &m, &n, a, &lda, tau, c, &ldc, work, \
            &size, &info, 1, 1, 1);                                            \
      });                                                                      \
      return info;                                                             \
    };                                                                         \
    all.sytrf = [](char triangle, int n, type* a, int lda, int* pivots) {      \
      int info = 0;                                                            \
      with_work<type>([&](type* work, int size) {                              \
        letter##sytrf_(                                                        \
            &triangle, &n, a, &lda, pivots, work, &size, &info, 1);            \
      });                                                                      \
      return info;                                                             \
    };                                                                         \
    all.sytrs = [](char triangle, int n, int columns, const type* a, int lda,  \
                   const int* pivots, type* b, int ldb) {                      \
      int info = 0;                                                            \
      letter##sytrs_(                                                          \
          &triangle, &n, &columns, a, &lda, pivots, b, &ldb, &info, 1);        \
      return info;                                                             \
    };                                                                         \
    return all;                                                                \
  }
ACCEL_COMMON(s, float, float, or, sy)
ACCEL_COMMON(d, double, double, or, sy)
ACCEL_COMMON(c, Complex64, float, un, he)
ACCEL_COMMON(z, Complex128, double, un, he)
#undef ACCEL_COMMON

#define ACCEL_REAL(letter, type)                                               \
  LapackRoutines<type> letter##_routines() {                                   \
    auto all = letter##_common();                                              \
    all.syevd = [](char vectors, char triangle, int n, type* a, int lda,       \
                   type* values) {                                             \
      int info = 0;                                                            \
      int wanted = 0, query = -1;                                              \
      type ignored{};                                                          \
      letter##syevd_(&vectors, &triangle, &n, a, &lda, values, &ignored,       \
                     &query, &wanted, &query, &info, 1, 1);                    \
      std::vector<int> integers(std::max(1, wanted));                          \
      with_work<type>([&](type* work, int size) {                              \
        const int integer_size = size == -1 ? -1 : wanted;                     \
        letter##syevd_(&vectors, &triangle, &n, a, &lda, values, work, &size,  \
                       integers.data(), &integer_size, &info, 1, 1);           \
      });                                                                      \
      return info;                                                             \
    };                                                                         \
    all.sygvd = [](int itype, char vectors, char triangle, int n, type* a,     \
                   int lda, type* b, int ldb, type* values) {                  \
      int info = 0;                                                            \
      int wanted = 0, query = -1;                                              \
      type ignored{};                                                          \
      letter##sygvd_(&itype, &vectors, &triangle, &n, a, &lda, b, &ldb,        \
                     values, &ignored, &query, &wanted, &query, &info, 1, 1);  \
      std::vector<int> integers(std::max(1, wanted));                          \
      with_work<type>([&](type* work, int size) {                              \
        const int integer_size = size == -1 ? -1 : wanted;                     \
        letter##sygvd_(&itype, &vectors, &triangle, &n, a, &lda, b, &ldb,      \
                       values, work, &size, integers.data(), &integer_size,    \
                       &info, 1, 1);                                           \
      });                                                                      \
      return info;                                                             \
    };                                                                         \
    all.geev = [](char left, char right, int n, type* a, int lda,              \
                  std::complex<type>* values, type* vl, int ldvl, type* vr,    \
                  int ldvr) {                                                  \
      int info = 0;                                                            \
      std::vector<type> parts(2 * static_cast<std::size_t>(n) + 1);            \
      type* const imaginary = parts.data() + n;                                \
      with_work<type>([&](type* work, int size) {                              \
        letter##geev_(&left, &right, &n, a, &lda, parts.data(), imaginary, vl, \
                      &ldvl, vr, &ldvr, work, &size, &info, 1, 1);             \
      });                                                                      \
      for (int i = 0; i < n; ++i) {                                            \
        values[i] = {parts[i], imaginary[i]};                                  \
      }                                                                        \
      return info;                                                             \
    };                                                                         \
    all.gesvd = [](char left, char right, int m, int n, type* a, int lda,      \
                   type* values, type* u, int ldu, type* vt, int ldvt,         \
                   type* unconverged) {                                        \
      int info = 0;                                                            \
      if (is_answered(left, right, m, n, a, lda, values, u, ldu, vt, ldvt,     \
                      &info)) {                                                \
        return info;                                                           \
      }                                                                        \
      const auto area = with_work<type>([&](type* work, int size) {            \
        letter##gesvd_(&left, &right, &m, &n, a, &lda, values, u, &ldu, vt,    \
                       &ldvt, work, &size, &info, 1, 1);                       \
      });                                                                      \
      if (unconverged != nullptr && std::min(m, n) > 1) {                      \
        std::copy_n(area.begin() + 1, std::min(m, n) - 1, unconverged);        \
      }                                                                        \
      return info;                                                             \
    };                                                                         \
    return all;                                                                \
  }
ACCEL_REAL(s, float)
ACCEL_REAL(d, double)
#undef ACCEL_REAL

#define ACCEL_COMPLEX(letter, type, real)                                      \
  LapackRoutines<type> letter##_routines() {                                   \
    auto all = letter##_common();                                              \
    all.syevd = [](char vectors, char triangle, int n, type* a, int lda,       \
                   real* values) {                                             \
      int info = 0;                                                            \
      int wanted = 0, query = -1;                                              \
      real wanted_reals{};                                                     \
      type ignored{};                                                          \
      letter##heevd_(&vectors, &triangle, &n, a, &lda, values, &ignored,       \
                     &query, &wanted_reals, &query, &wanted, &query, &info, 1, \
                     1);                                                       \
      std::vector<int> integers(std::max(1, wanted));                          \
      const auto count = static_cast<int>(wanted_reals * 1.001F) + 1;          \
      std::vector<real> reals(static_cast<std::size_t>(count));                \
      with_work<type>([&](type* work, int size) {                              \
        const int real_size = size == -1 ? -1 : count;                         \
        const int integer_size = size == -1 ? -1 : wanted;                     \
        letter##heevd_(&vectors, &triangle, &n, a, &lda, values, work, &size,  \
                       reals.data(), &real_size, integers.data(),              \
                       &integer_size, &info, 1, 1);                            \
      });                                                                      \
      return info;                                                             \
    };                                                                         \
    all.sygvd = [](int itype, char vectors, char triangle, int n, type* a,     \
                   int lda, type* b, int ldb, real* values) {                  \
      int info = 0;                                                            \
      int wanted = 0, query = -1;                                              \
      real wanted_reals{};                                                     \
      type ignored{};                                                          \
      letter##hegvd_(&itype, &vectors, &triangle, &n, a, &lda, b, &ldb,        \
                     values, &ignored, &query, &wanted_reals, &query, &wanted, \
                     &query, &info, 1, 1);                                     \
      std::vector<int> integers(std::max(1, wanted));                          \
      const auto count = static_cast<int>(wanted_reals * 1.001F) + 1;          \
      std::vector<real> reals(static_cast<std::size_t>(count));                \
      with_work<type>([&](type* work, int size) {                              \
        const int real_size = size == -1 ? -1 : count;                         \
        const int integer_size = size == -1 ? -1 : wanted;                     \
        letter##hegvd_(&itype, &vectors, &triangle, &n, a, &lda, b, &ldb,      \
                       values, work, &size, reals.data(), &real_size,          \
                       integers.data(), &integer_size, &info, 1, 1);           \
      });                                                                      \
      return info;                                                             \
    };                                                                         \
    all.geev = [](char left, char right, int n, type* a, int lda,              \
                  type* values, type* vl, int ldvl, type* vr, int ldvr) {      \
      int info = 0;                                                            \
      std::vector<real> reals(2 * static_cast<std::size_t>(n) + 1);            \
      with_work<type>([&](type* work, int size) {                              \
        letter##geev_(&left, &right, &n, a, &lda, values, vl, &ldvl, vr,       \
                      &ldvr, work, &size, reals.data(), &info, 1, 1);          \
      });                                                                      \
      return info;                                                             \
    };                                                                         \
    all.gesvd = [](char left, char right, int m, int n, type* a, int lda,      \
                   real* values, type* u, int ldu, type* vt, int ldvt,         \
                   real* unconverged) {                                        \
      int info = 0;                                                            \
      if (is_answered(left, right, m, n, a, lda, values, u, ldu, vt, ldvt,     \
                      &info)) {                                                \
        return info;                                                           \
      }                                                                        \
      std::vector<real> reals(                                                 \
          std::max<std::size_t>(1, 5 * static_cast<std::size_t>(std::min(m, n)))); \
      with_work<type>([&](type* work, int size) {                              \
        letter##gesvd_(&left, &right, &m, &n, a, &lda, values, u, &ldu, vt,    \
                       &ldvt, work, &size, reals.data(), &info, 1, 1);         \
      });                                                                      \
      if (unconverged != nullptr && std::min(m, n) > 1) {                      \
        std::copy_n(reals.begin(), std::min(m, n) - 1, unconverged);           \
      }                                                                        \
      return info;                                                             \
    };                                                                         \
    return all;                                                                \
  }
ACCEL_COMPLEX(c, Complex64, float)
ACCEL_COMPLEX(z, Complex128, double)
#undef ACCEL_COMPLEX
// clang-format on

} // namespace
} // namespace accelerator::blas

extern "C" const accelerator::blas::HostLapack* accel_host_lapack() {
  using namespace accelerator::blas;
  static const HostLapack all = {
      s_routines(), d_routines(), c_routines(), z_routines()};
  renew_threads();
  return &all;
}
