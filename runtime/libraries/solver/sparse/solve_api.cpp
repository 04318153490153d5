// Solutions of sparse systems in one call (csrlsvqr, csrlsvchol, csrlsvlu), and
// eigenvalues near a number (csreigvsi). Systems that NVIDIA's functions solve
// by LU are solved by QR. Source: cuSOLVER API, "cuSolverSP: Sparse LAPACK
// Function Reference".
#include <cusolverSp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "runtime/libraries/solver/sparse/cholesky.h"
#include "runtime/libraries/solver/sparse/csr.h"
#include "runtime/libraries/solver/sparse/ordering.h"
#include "runtime/libraries/solver/sparse/place.h"
#include "runtime/libraries/solver/sparse/qr.h"

namespace accelerator::solver::sparse {
namespace {

/// What `reorder` can be.
enum Reordering { kNatural, kCuthillMcKee, kMinimumDegree, kNestedDissection };

template <typename W>
std::vector<int> order_of(const Csr<W>& matrix, int reordering) {
  if (reordering == kNatural) {
    return natural_order(matrix.rows);
  }
  const Graph graph = make_graph(matrix.offsets, matrix.indices);
  return reordering == kCuthillMcKee ? reverse_cuthill_mckee(graph)
      : reordering == kMinimumDegree ? minimum_degree(graph)
                                     : nested_dissection(graph);
}

template <typename W>
struct Solution {
  /// The first pivot, in the order of the factorization, that is too small; or
  /// -1.
  int zero = -1;
  /// There is none without a Cholesky factorization.
  std::optional<std::vector<W>> x;
};

/// Solves A * x = b, by way of A in another order.
/// @param is_definite whether A is Hermitian with positive eigenvalues, of
/// which its lower triangle counts.
template <typename W>
Solution<W> solve_in_order(
    const Csr<W>& given,
    bool is_definite,
    int reordering,
    double tolerance,
    const std::vector<W>& b) {
  const Csr<W> whole = is_definite ? from_lower_triangle(given) : Csr<W>();
  const Csr<W>& matrix = is_definite ? whole : given;
  const std::vector<int> order = order_of(matrix, reordering);
  const Csr<W> ordered = permuted(matrix, order);
  std::vector<W> sides, found;
  sides.reserve(b.size());
  for (const int row : order) {
    sides.push_back(b[row]);
  }
  Solution<W> solution;
  if (is_definite) {
    const SparseCholesky<W> factors(ordered);
    solution.zero = factors.first_zero(tolerance);
    if (!factors.is_complete()) {
      return solution;
    }
    found = factors.solve(sides);
  } else {
    const SparseQr<W> factors(ordered);
    solution.zero = factors.first_zero(tolerance);
    found = factors.solve(sides);
  }
  solution.x.emplace(b.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    (*solution.x)[order[i]] = found[i];
  }
  return solution;
}

/// One function for each of these.
struct SolveOnce {
  Place place;
  bool is_definite;

  template <typename T>
  cusolverStatus_t operator()(
      const char* function,
      cusolverSpHandle_t handle,
      int rows,
      int nnz,
      cusparseMatDescr_t description,
      const T* values,
      const int* offsets,
      const int* indices,
      const T* b,
      RealOf<T> tolerance,
      int reordering,
      T* x,
      int* singularity) const {
    Form form;
    auto status = make_form(
        handle, rows, rows, nnz, description, offsets, indices, &form);
    if (status == CUSOLVER_STATUS_SUCCESS) {
      status = check_sparse(
          handle,
          {nnz == 0 || values != nullptr,
           rows == 0 || (b != nullptr && x != nullptr),
           reordering >= kNatural && reordering <= kNestedDissection,
           singularity != nullptr});
    }
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
    std::vector<Extent> inputs = memory_of(form);
    inputs.push_back(vector(values, nnz));
    inputs.push_back(vector(b, rows));
    return perform_and_wait(
        function,
        handle,
        place,
        inputs,
        {vector(x, rows)},
        [=, is_definite = is_definite] {
          using W = WideOf<T>;
          Csr<W> matrix;
          if (!read_matrix(function, form, values, &matrix)) {
            return false;
          }
          const Solution<W> solution = solve_in_order(
              matrix,
              is_definite,
              reordering,
              std::max(0.0, double{tolerance}),
              widened<T>(b, rows));
          if (solution.x) {
            narrow_to(*solution.x, x);
          }
          *singularity = solution.zero;
          return true;
        });
  }
};

template <typename W>
double norm_of(const std::vector<W>& x) {
  double sum = 0;
  for (const W& value : x) {
    sum += std::norm(value);
  }
  return std::sqrt(sum);
}

template <typename W>
void scale(std::vector<W>& x, double factor) {
  for (W& value : x) {
    value *= factor;
  }
}

/// Finds an eigenvalue near `mu` by inverse iteration.
/// @param x the first vector, in whose place the eigenvector comes.
/// @returns the eigenvalue as of the last step: that in which the residual was
/// below the tolerance, or the last that is allowed.
template <typename W>
W iterate_inversely(
    const Csr<W>& matrix,
    W mu,
    int most_steps,
    double tolerance,
    std::vector<W>& x) {
  SparseQr<W> factors(shifted(matrix, mu));
  if (factors.first_zero(0) >= 0) {
    // An eigenvalue itself cannot be divided by, one beside it can.
    double largest = std::abs(mu);
    for (const W& value : matrix.values) {
      largest = std::max(largest, std::abs(value));
    }
    factors = SparseQr<W>(shifted(
        matrix, mu + W(largest * std::numeric_limits<double>::epsilon())));
  }
  scale(x, 1 / norm_of(x));
  for (int step = 0; step < most_steps; ++step) {
    x = factors.solve(x);
    scale(x, 1 / norm_of(x));
    std::vector<W> image = product(matrix, x);
    mu = W();
    for (std::size_t i = 0; i < x.size(); ++i) {
      mu += conjugate(x[i]) * image[i];
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      image[i] -= mu * x[i];
    }
    if (norm_of(image) < tolerance) {
      break;
    }
  }
  return mu;
}

struct FindEigenvalue {
  Place place;

  template <typename T>
  cusolverStatus_t operator()(
      const char* function,
      cusolverSpHandle_t handle,
      int rows,
      int nnz,
      cusparseMatDescr_t description,
      const T* values,
      const int* offsets,
      const int* indices,
      T mu0,
      const T* x0,
      int most_steps,
      RealOf<T> tolerance,
      T* mu,
      T* x) const {
    Form form;
    auto status = make_form(
        handle, rows, rows, nnz, description, offsets, indices, &form);
    if (status == CUSOLVER_STATUS_SUCCESS) {
      status = check_sparse(
          handle,
          {nnz == 0 || values != nullptr,
           rows >= 1,
           x0 != nullptr && mu != nullptr && x != nullptr,
           most_steps >= 1});
    }
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
    std::vector<Extent> inputs = memory_of(form);
    inputs.push_back(vector(values, nnz));
    inputs.push_back(vector(x0, rows));
    return perform_and_wait(
        function, handle, place, inputs, {vector(mu, 1), vector(x, rows)}, [=] {
          using W = WideOf<T>;
          Csr<W> matrix;
          if (!read_matrix(function, form, values, &matrix)) {
            return false;
          }
          std::vector<W> vector_of = widened<T>(x0, rows);
          *mu = narrow_value<T>(iterate_inversely(
              matrix, W(mu0), most_steps, tolerance, vector_of));
          narrow_to(vector_of, x);
          return true;
        });
  }
};

constexpr auto kHost = Place::kHost;
constexpr auto kDevice = Place::kDevice;

} // namespace

ENTRY_POINTS(12, cusolverSp, csrlsvqr, SolveOnce{kDevice, false})
ENTRY_POINTS(12, cusolverSp, csrlsvqrHost, SolveOnce{kHost, false})
ENTRY_POINTS(12, cusolverSp, csrlsvluHost, SolveOnce{kHost, false})
ENTRY_POINTS(12, cusolverSp, csrlsvchol, SolveOnce{kDevice, true})
ENTRY_POINTS(12, cusolverSp, csrlsvcholHost, SolveOnce{kHost, true})
ENTRY_POINTS(13, cusolverSp, csreigvsi, FindEigenvalue{kDevice})
ENTRY_POINTS(13, cusolverSp, csreigvsiHost, FindEigenvalue{kHost})

} // namespace accelerator::solver::sparse
