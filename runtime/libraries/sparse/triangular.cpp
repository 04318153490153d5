#include "runtime/libraries/sparse/triangular.h"

#include <numeric>

namespace accelerator::sparse {
namespace {

template <typename W>
W narrow(const Complex& value) {
  if constexpr (std::is_same_v<W, Complex>) {
    return value;
  } else {
    return value.real();
  }
}

/// op(matrix) by rows: entry numbers, and where those of each row begin.
struct Rows {
  std::vector<std::size_t> begin;
  std::vector<std::size_t> entries;

  Rows(const std::vector<std::int64_t>& rows, std::int64_t count)
      : begin(count + 1), entries(rows.size()) {
    for (const std::int64_t row : rows) {
      ++begin[row + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::size_t> next(begin);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      entries[next[rows[k]]++] = k;
    }
  }
};

} // namespace

template <typename W>
void solve(const Entries& entries, const Triangle& triangle, Dense<W>& x) {
  const Pattern& pattern = entries.pattern;
  const bool is_turned = triangle.operation != CUSPARSE_OPERATION_NON_TRANSPOSE;
  const bool is_conjugate =
      triangle.operation == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
  const bool is_lower = triangle.fill_mode == CUSPARSE_FILL_MODE_LOWER;
  const auto& rows = is_turned ? pattern.columns : pattern.rows;
  const auto& columns = is_turned ? pattern.rows : pattern.columns;
  const bool goes_down = is_lower != is_turned;
  const Rows by_row(rows, x.rows);
  for (std::int64_t step = 0; step < x.rows; ++step) {
    const std::int64_t row = goes_down ? step : x.rows - 1 - step;
    W* const its = x.row(row);
    W divisor{};
    for (std::size_t i = by_row.begin[row]; i < by_row.begin[row + 1]; ++i) {
      const std::size_t k = by_row.entries[i];
      const W stored = narrow<W>(entries.values[k]);
      const W value = is_conjugate ? conjugate(stored) : stored;
      if (columns[k] == row) {
        divisor += value;
      } else if ((columns[k] < row) == goes_down) {
        const W* const known = x.row(columns[k]);
        for (std::int64_t j = 0; j < x.columns; ++j) {
          its[j] -= value * known[j];
        }
      }
    }
    for (std::int64_t j = 0;
         triangle.diagonal == CUSPARSE_DIAG_TYPE_NON_UNIT && j < x.columns;
         ++j) {
      its[j] /= divisor;
    }
  }
}

template void solve<double>(const Entries&, const Triangle&, Dense<double>&);
template void solve<Complex>(const Entries&, const Triangle&, Dense<Complex>&);

} // namespace accelerator::sparse
