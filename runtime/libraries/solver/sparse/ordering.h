// Orders of rows and columns in which factorizations of a sparse matrix stay
// sparse.
#pragma once

#include <vector>

namespace accelerator::solver::sparse {

/// Who is beside whom in the graph of a symmetric matrix.
using Graph = std::vector<std::vector<int>>;

/// The graph of a square matrix and its transpose, by offsets and indices of
/// rows.
Graph make_graph(
    const std::vector<int>& offsets,
    const std::vector<int>& indices);

/// Reverse Cuthill-McKee: rows near the diagonal.
/// Source: A. George, J. Liu, Computer Solution of Large Sparse Positive
/// Definite Systems, chapter 4.
std::vector<int> reverse_cuthill_mckee(const Graph& graph);

/// Minimum degree, with elements instead of fill, and bounds for degrees.
/// Source: P. Amestoy, T. Davis, I. Duff, An Approximate Minimum Degree
/// Ordering Algorithm, SIAM J. Matrix Anal. Appl. 17 (1996).
std::vector<int> minimum_degree(const Graph& graph);

/// Nested dissection, with levels of the graph as separators.
/// Source: A. George, J. Liu, as above, chapter 8.
std::vector<int> nested_dissection(const Graph& graph);

/// 0 to size - 1.
std::vector<int> natural_order(int size);

} // namespace accelerator::solver::sparse
