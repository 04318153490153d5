// The decomposition of gesvdj and gesvda, which have V, by LAPACK's gesvd.
#pragma once

#include <cmath>
#include <vector>

#include "runtime/libraries/solver/submit.h"

namespace accelerator::solver {

/// Where a decomposition goes.
template <typename T>
struct Output {
  RealOf<T>* values;
  T* u;
  int ldu;
  T* v;
  int ldv;
};

/// A copy without gaps.
template <typename T>
std::vector<T> dense(const T* a, int rows, int columns, int lda) {
  std::vector<T> copy(static_cast<std::size_t>(rows) * columns);
  for (int j = 0; j < columns; ++j) {
    std::copy_n(
        a + static_cast<std::ptrdiff_t>(j) * lda,
        rows,
        copy.begin() + static_cast<std::ptrdiff_t>(j) * rows);
  }
  return copy;
}

template <typename T>
T conjugate(T value) {
  if constexpr (kIsComplex<T>) {
    return std::conj(value);
  } else {
    return value;
  }
}

/// Decomposes with V where LAPACK has its conjugate transpose.
/// @param a is copied.
/// @param u_count, v_count how many of the vectors are written; min(rows,
/// columns) are computed, or all, if more are wanted.
/// @param residual the norm of A V - U S, or null.
/// @returns LAPACK's info.
template <typename T>
int decompose(
    const Routines<T>& lapack,
    int rows,
    int columns,
    const T* a,
    int lda,
    const Output<T>& output,
    int u_count,
    int v_count,
    double* residual) {
  const int least = std::min(rows, columns);
  const bool is_all = u_count > least || v_count > least;
  const int u_columns = is_all ? rows : least;
  const int vt_rows = is_all ? columns : least;
  reads({matrix_read(a, rows, columns, lda)});
  const std::vector<T> before = dense(a, rows, columns, lda);
  std::vector<T> destroyed = before;
  std::vector<T> u(static_cast<std::size_t>(rows) * u_columns + 1);
  std::vector<T> vt(static_cast<std::size_t>(vt_rows) * columns + 1);
  const char job = is_all ? 'A' : 'S';
  const int info = lapack.gesvd(
      job,
      job,
      rows,
      columns,
      destroyed.data(),
      std::max(1, rows),
      output.values,
      u.data(),
      std::max(1, rows),
      vt.data(),
      std::max(1, vt_rows),
      nullptr);
  for (int j = 0; j < u_count; ++j) {
    std::copy_n(
        u.begin() + static_cast<std::ptrdiff_t>(j) * rows,
        rows,
        output.u + static_cast<std::ptrdiff_t>(j) * output.ldu);
  }
  const auto v = [&](int i, int j) {
    return conjugate(vt[static_cast<std::size_t>(i) * vt_rows + j]);
  };
  for (int j = 0; j < v_count; ++j) {
    for (int i = 0; i < columns; ++i) {
      output.v[static_cast<std::ptrdiff_t>(j) * output.ldv + i] = v(i, j);
    }
  }
  if (residual == nullptr) {
    return info;
  }
  double sum = 0;
  for (int k = 0; k < least; ++k) {
    for (int i = 0; i < rows; ++i) {
      std::complex<double> difference = -static_cast<double>(output.values[k]) *
          std::complex<double>(u[static_cast<std::size_t>(k) * rows + i]);
      for (int j = 0; j < columns; ++j) {
        difference += std::complex<double>(
                          before[static_cast<std::size_t>(j) * rows + i]) *
            std::complex<double>(v(j, k));
      }
      sum += std::norm(difference);
    }
  }
  *residual = std::sqrt(sum);
  return info;
}

/// Of gesvdj and gesvda, which say of all failures the same.
inline int info_of(int failed, int rows, int columns) {
  return failed > 0 ? std::min(rows, columns) + 1 : failed;
}

inline bool is_gesvdj(
    cusolverEigMode_t mode,
    int rows,
    int columns,
    int lda,
    int ldu,
    int ldv) {
  const bool is_wanted = mode == CUSOLVER_EIG_MODE_VECTOR;
  return is_mode(mode) && is_matrix(rows, columns, lda) &&
      ldu >= (is_wanted ? std::max(1, rows) : 1) &&
      ldv >= (is_wanted ? std::max(1, columns) : 1);
}

} // namespace accelerator::solver
