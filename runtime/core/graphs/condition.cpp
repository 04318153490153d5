#include "runtime/core/graphs/condition.h"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "runtime/core/graphs/graph.h"
#include "runtime/core/machine/device.h"
#include "runtime/core/memory/memory_pool.h"

namespace accelerator::runtime {
namespace {

// CUDA 12.4's header lacks it.
constexpr int kSwitch = 2;

struct Conditions {
  std::mutex mutex;
  std::unordered_map<cudaGraphConditionalHandle, std::weak_ptr<Condition>> all;
};

Conditions& conditions() {
  static auto* all = new Conditions; // outlives static destructors
  return *all;
}

cudaGraphConditionalHandle handle_of(const Condition& condition) {
  return reinterpret_cast<cudaGraphConditionalHandle>(condition.address());
}

} // namespace

Condition::Condition(Device& device, unsigned initial, bool assign)
    : device_(device),
      pool_(device.default_pool),
      address_(pool_->allocate(sizeof(unsigned))),
      initial_(initial),
      assign_(assign) {}

Condition::~Condition() {
  {
    const std::lock_guard lock(conditions().mutex);
    conditions().all.erase(handle_of(*this));
  }
  try {
    pool_->release(address_);
  } catch (const Failure&) {
    // The device was reset.
  }
}

bool Condition::to_assign() {
  return assign_ || !std::exchange(assigned_, true);
}

cudaGraphConditionalHandle make_condition(
    Graph& graph,
    Device& device,
    unsigned initial,
    bool assign) {
  auto condition = std::make_shared<Condition>(device, initial, assign);
  condition->graph_id = graph.id();
  const cudaGraphConditionalHandle handle = handle_of(*condition);
  {
    const std::lock_guard lock(conditions().mutex);
    conditions().all[handle] = condition;
  }
  graph.keep(std::move(condition));
  return handle;
}

std::shared_ptr<Condition> resolve_condition(
    cudaGraphConditionalHandle handle) {
  const std::lock_guard lock(conditions().mutex);
  const auto found = conditions().all.find(handle);
  auto condition =
      found == conditions().all.end() ? nullptr : found->second.lock();
  require(condition != nullptr);
  return condition;
}

std::size_t ConditionalWork::chosen(unsigned value) const {
  if (static_cast<int>(type) == kSwitch) {
    return value;
  }
  return value != 0 ? 0 : 1; // the second one is that of "else"
}

ConditionalWork make_conditional(
    std::shared_ptr<Condition> condition,
    cudaGraphConditionalNodeType type,
    unsigned size) {
  require(
      type == cudaGraphCondTypeIf || type == cudaGraphCondTypeWhile ||
      static_cast<int>(type) == kSwitch);
  require(size > 0 && condition->bodies.expired());
  require(type != cudaGraphCondTypeIf || size <= 2);
  require(type != cudaGraphCondTypeWhile || size == 1);
  auto bodies = std::make_shared<ConditionalBodies>();
  for (unsigned i = 0; i < size; ++i) {
    bodies->graphs.push_back(std::make_shared<Graph>());
    bodies->handles.push_back(
        reinterpret_cast<cudaGraph_t>(bodies->graphs.back().get()));
  }
  condition->bodies = bodies;
  return {std::move(condition), type, std::move(bodies)};
}

} // namespace accelerator::runtime
