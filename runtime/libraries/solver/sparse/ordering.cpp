#include "runtime/libraries/solver/sparse/ordering.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace accelerator::solver::sparse {
namespace {

/// Rows of a piece small enough to need no separator.
constexpr std::size_t kSmallPiece = 32;

using Levels = std::vector<std::vector<int>>;

/// A set of nodes that shrinks.
class Piece {
 public:
  explicit Piece(const Graph& graph) : graph_(graph), of_(graph.size(), 0) {}

  int piece_of(int node) const {
    return of_[node];
  }
  /// Makes nodes another piece than all there are.
  void split_off(const std::vector<int>& nodes) {
    ++last_;
    for (const int node : nodes) {
      of_[node] = last_;
    }
  }
  /// Nodes of the same piece by their distance from the first.
  Levels levels(int first) {
    const int piece = of_[first];
    Levels found{{first}};
    of_[first] = kSeen;
    for (;;) {
      std::vector<int> next;
      for (const int node : found.back()) {
        for (const int other : graph_[node]) {
          if (of_[other] == piece) {
            of_[other] = kSeen;
            next.push_back(other);
          }
        }
      }
      if (next.empty()) {
        break;
      }
      found.push_back(std::move(next));
    }
    for (const auto& level : found) {
      for (const int node : level) {
        of_[node] = piece;
      }
    }
    return found;
  }
  /// Levels from a node at an end of the piece.
  Levels long_levels(int first) {
    Levels best = levels(first);
    for (;;) {
      const auto& last = best.back();
      const int end =
          *std::min_element(last.begin(), last.end(), [this](int a, int b) {
            return graph_[a].size() < graph_[b].size();
          });
      Levels other = levels(end);
      if (other.size() <= best.size()) {
        return best;
      }
      best = std::move(other);
    }
  }

 private:
  static constexpr int kSeen = -1;

  const Graph& graph_;
  std::vector<int> of_;
  int last_ = 0;
};

/// Orders the pieces that are left of `nodes`, separators last.
void dissect(
    Piece& pieces,
    const std::vector<int>& nodes,
    std::vector<int>& order) {
  pieces.split_off(nodes);
  const int piece = nodes.empty() ? 0 : pieces.piece_of(nodes.front());
  for (const int node : nodes) {
    // Those of other components have gone to pieces of their own.
    if (pieces.piece_of(node) != piece) {
      continue;
    }
    const Levels levels = pieces.long_levels(node);
    std::vector<int> all;
    for (const auto& level : levels) {
      all.insert(all.end(), level.begin(), level.end());
    }
    if (all.size() <= kSmallPiece || levels.size() < 3) {
      pieces.split_off(all);
      order.insert(order.end(), all.rbegin(), all.rend());
      continue;
    }
    std::size_t middle = 0, before = 0;
    while (before + levels[middle].size() < all.size() / 2) {
      before += levels[middle++].size();
    }
    if (middle == 0) {
      before = levels[middle++].size();
    } else if (middle + 1 == levels.size()) {
      before -= levels[--middle].size();
    }
    const auto& separator = levels[middle];
    const auto begin = all.begin();
    const auto cut = static_cast<std::ptrdiff_t>(before);
    const auto end = cut + static_cast<std::ptrdiff_t>(separator.size());
    dissect(pieces, {begin, begin + cut}, order);
    pieces.split_off(separator);
    dissect(pieces, {begin + end, all.end()}, order);
    order.insert(order.end(), separator.begin(), separator.end());
  }
}

/// What minimum_degree() knows of a graph of which nodes have been taken. An
/// element has the number of the node whose neighbours it joins.
class Quotient {
 public:
  explicit Quotient(const Graph& graph)
      : neighbours_(graph),
        elements_of_(graph.size()),
        members_(graph.size()),
        degrees_(graph.size()),
        marks_(graph.size(), kNobody) {
    for (int node = 0; node < size(); ++node) {
      degrees_[node] = neighbours_[node].size();
      waiting_.emplace(degrees_[node], node);
    }
  }
  int size() const {
    return static_cast<int>(neighbours_.size());
  }
  /// Takes the node with the fewest neighbours.
  int take() {
    const int node = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    std::vector<int> joined;
    marks_[node] = node;
    const auto join = [&](int other) {
      if (marks_[other] != node) {
        marks_[other] = node;
        joined.push_back(other);
      }
    };
    for (const int other : neighbours_[node]) {
      join(other);
    }
    for (const int element : elements_of_[node]) {
      for (const int other : members_[element]) {
        join(other);
      }
      // What it joins, the new element joins.
      members_[element].clear();
    }
    members_[node] = joined;
    for (const int other : joined) {
      update(other, node, joined.size() - 1);
    }
    neighbours_[node].clear();
    return node;
  }

 private:
  static constexpr int kNobody = -1;

  void update(int node, int element, std::size_t in_element) {
    auto& direct = neighbours_[node];
    direct.erase(
        std::remove_if(
            direct.begin(),
            direct.end(),
            [&](int other) { return marks_[other] == element; }),
        direct.end());
    auto& elements = elements_of_[node];
    elements.erase(
        std::remove_if(
            elements.begin(),
            elements.end(),
            [&](int other) { return members_[other].empty(); }),
        elements.end());
    std::size_t degree = direct.size() + in_element;
    for (const int other : elements) {
      auto& members = members_[other];
      // Nodes that were taken are gone from all elements but those.
      degree += members.size() - 1;
    }
    elements.push_back(element);
    waiting_.erase({degrees_[node], node});
    degrees_[node] = std::min(degree, waiting_.size());
    waiting_.emplace(degrees_[node], node);
  }

  Graph neighbours_;
  Graph elements_of_;
  Graph members_;
  std::vector<std::size_t> degrees_;
  std::vector<int> marks_;
  std::set<std::pair<std::size_t, int>> waiting_;
};

} // namespace

Graph make_graph(
    const std::vector<int>& offsets,
    const std::vector<int>& indices) {
  Graph graph(offsets.size() - 1);
  for (int row = 0; row + 1 < static_cast<int>(offsets.size()); ++row) {
    for (int k = offsets[row]; k < offsets[row + 1]; ++k) {
      if (indices[k] != row) {
        graph[row].push_back(indices[k]);
        graph[indices[k]].push_back(row);
      }
    }
  }
  for (auto& line : graph) {
    std::sort(line.begin(), line.end());
    line.erase(std::unique(line.begin(), line.end()), line.end());
  }
  return graph;
}

std::vector<int> reverse_cuthill_mckee(const Graph& graph) {
  const auto has_fewer = [&](int a, int b) {
    return graph[a].size() < graph[b].size();
  };
  std::vector<int> starts = natural_order(static_cast<int>(graph.size()));
  std::stable_sort(starts.begin(), starts.end(), has_fewer);
  Piece pieces(graph);
  std::vector<bool> is_ordered(graph.size());
  std::vector<int> order;
  for (const int start : starts) {
    if (is_ordered[start]) {
      continue;
    }
    order.push_back(pieces.long_levels(start).front().front());
    is_ordered[order.back()] = true;
    for (std::size_t i = order.size() - 1; i < order.size(); ++i) {
      std::vector<int> next;
      for (const int node : graph[order[i]]) {
        if (!is_ordered[node]) {
          is_ordered[node] = true;
          next.push_back(node);
        }
      }
      std::stable_sort(next.begin(), next.end(), has_fewer);
      order.insert(order.end(), next.begin(), next.end());
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<int> minimum_degree(const Graph& graph) {
  Quotient quotient(graph);
  std::vector<int> order;
  for (int step = 0; step < quotient.size(); ++step) {
    order.push_back(quotient.take());
  }
  return order;
}

std::vector<int> nested_dissection(const Graph& graph) {
  Piece pieces(graph);
  std::vector<int> order;
  dissect(pieces, natural_order(static_cast<int>(graph.size())), order);
  return order;
}

std::vector<int> natural_order(int size) {
  std::vector<int> order(size);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

} // namespace accelerator::solver::sparse
