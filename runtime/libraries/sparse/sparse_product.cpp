#include "runtime/libraries/sparse/sparse_product.h"

#include <algorithm>

namespace accelerator::sparse {
namespace {

/// Where each row of a matrix in CSR begins among its entries.
std::vector<std::size_t> row_begins(const Pattern& pattern, std::int64_t rows) {
  std::vector<std::size_t> begins(rows + 1, pattern.size());
  std::size_t k = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    while (k < pattern.size() && pattern.rows[k] < row) {
      ++k;
    }
    begins[row] = k;
  }
  return begins;
}

/// One row of a result, which is added up column by column.
class RowSum {
 public:
  explicit RowSum(std::int64_t columns) : sums_(columns), is_there_(columns) {}
  void add(std::int64_t column, const Complex& value) {
    if (!is_there_[column]) {
      is_there_[column] = true;
      columns_.push_back(column);
    }
    sums_[column] += value;
  }
  void move_to(Csr& result) {
    std::sort(columns_.begin(), columns_.end());
    for (const std::int64_t column : columns_) {
      result.columns.push_back(column);
      result.values.push_back(sums_[column]);
      sums_[column] = {};
      is_there_[column] = false;
    }
    columns_.clear();
    result.offsets.push_back(result.nnz());
  }

 private:
  std::vector<Complex> sums_;
  std::vector<bool> is_there_;
  std::vector<std::int64_t> columns_;
};

} // namespace

bool multiply(
    const char* function,
    const cusparseSpMatDescr& a,
    const cusparseSpMatDescr& b,
    Csr* result,
    std::int64_t* products) {
  Pattern left, right;
  if (!read_pattern(function, a, 0, &left) ||
      !read_pattern(function, b, 0, &right)) {
    return false;
  }
  const auto left_values = read_values<Complex>(a, 0, left);
  const auto right_values = read_values<Complex>(b, 0, right);
  const auto left_begins = row_begins(left, a.rows);
  const auto right_begins = row_begins(right, b.rows);
  *result = {};
  result->offsets.push_back(0);
  *products = 0;
  RowSum sum(b.columns);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::size_t k = left_begins[row]; k < left_begins[row + 1]; ++k) {
      const std::int64_t inner = left.columns[k];
      for (std::size_t l = right_begins[inner]; l < right_begins[inner + 1];
           ++l) {
        sum.add(right.columns[l], left_values[k] * right_values[l]);
        ++*products;
      }
    }
    sum.move_to(*result);
  }
  return true;
}

} // namespace accelerator::sparse
