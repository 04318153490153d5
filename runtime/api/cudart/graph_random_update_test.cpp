// Random graphs, and random changes of them that no update may bring.
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/api/cudart/testing/graph_updates.h"

namespace accelerator::cudart::testing {
namespace {

/// A graph as a program makes it, with child graphs.
struct Recipe {
  struct Item {
    bool counts = false; // or is empty
    std::vector<int> before;
    std::vector<Recipe> child; // one or none
  };
  std::vector<Item> items;
};

class RandomUpdates : public GraphUpdates {
 protected:
  int below(int bound) {
    return static_cast<int>(random_() % static_cast<unsigned>(bound));
  }

  Recipe make(int depth) {
    Recipe recipe;
    const int size = 2 + below(5);
    for (int i = 0; i < size; ++i) {
      Recipe::Item item;
      item.counts = below(2) == 0;
      for (int j = 0; j < i; ++j) {
        if (below(3) == 0) {
          item.before.push_back(j);
        }
      }
      if (depth > 0 && below(3) == 0) {
        item.child.push_back(make(depth - 1));
      }
      recipe.items.push_back(std::move(item));
    }
    return recipe;
  }

  /// Changes the number of nodes, of edges, or of nodes of a type, somewhere.
  std::string change(Recipe& recipe) {
    std::vector<Recipe*> children;
    for (auto& item : recipe.items) {
      if (!item.child.empty()) {
        children.push_back(&item.child[0]);
      }
    }
    if (!children.empty() && below(3) > 0) {
      return "in a child: " +
          change(*children[static_cast<std::size_t>(
              below(static_cast<int>(children.size())))]);
    }
    auto& items = recipe.items;
    const int size = static_cast<int>(items.size());
    auto& last = items.back();
    switch (below(4)) {
      case 0:
        items.push_back({true, {below(size)}, {}});
        return "a node more";
      case 1:
        items.pop_back();
        return "a node less";
      case 2:
        if (!last.before.empty()) {
          last.before.pop_back();
          return "an edge less";
        }
        last.before.push_back(below(size - 1));
        return "an edge more";
      default:
        if (last.child.empty()) {
          last.counts = !last.counts;
          return "another type";
        }
        last.child.clear();
        return "no child";
    }
  }

  void build(cudaGraph_t to, const Recipe& recipe) {
    Nodes nodes;
    for (const auto& item : recipe.items) {
      Nodes before;
      for (const int i : item.before) {
        before.push_back(nodes[static_cast<std::size_t>(i)]);
      }
      if (!item.child.empty()) {
        cudaGraph_t child = nullptr;
        ASSERT_OK(cudaGraphCreate(&child, 0));
        build(child, item.child[0]);
        nodes.push_back(add_child(to, child, before));
        ASSERT_OK(cudaGraphDestroy(child));
      } else if (item.counts) {
        nodes.push_back(add_count(to, counts[0], before));
      } else {
        nodes.push_back(add_empty(to, before));
      }
    }
  }

 private:
  std::mt19937 random_{7};
};

TEST_F(RandomUpdates, SucceedWithTheSameGraphOnly) {
  for (int round = 0; round < 400; ++round) {
    const Recipe recipe = make(2);
    Recipe changed = recipe;
    const std::string what = change(changed);
    ASSERT_OK(cudaGraphDestroy(graph));
    ASSERT_OK(cudaGraphCreate(&graph, 0));
    build(graph, recipe);
    const cudaGraphExec_t exec = instantiate();
    for (const bool same : {false, true}) {
      ASSERT_OK(cudaGraphDestroy(other));
      ASSERT_OK(cudaGraphCreate(&other, 0));
      build(other, same ? recipe : changed);
      EXPECT_EQ(update(exec).result == cudaGraphExecUpdateSuccess, same)
          << "round " << round << ": " << what;
    }
    EXPECT_OK(cudaGraphExecDestroy(exec));
  }
}

} // namespace
} // namespace accelerator::cudart::testing
