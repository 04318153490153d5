#include "runtime/libraries/fft/plans.h"

#include <unordered_map>
#include <utility>

namespace accelerator::fft {
namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<cufftHandle, std::shared_ptr<Plan>> plans;
  cufftHandle next = 1;
};

/// Lives as long as the process: programs destroy plans while they end.
Table& table() {
  static auto* const instance = new Table;
  return *instance;
}

} // namespace

cufftResult create_plan(cufftHandle* handle) {
  if (handle == nullptr) {
    return CUFFT_INVALID_VALUE;
  }
  auto plan = std::make_shared<Plan>();
  // No more of the runtime's: plans are made while streams are captured, too.
  if (cudaGetDevice(&plan->device) != cudaSuccess) {
    return CUFFT_SETUP_FAILED;
  }
  Table& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  *handle = all.next++;
  all.plans.emplace(*handle, std::move(plan));
  return CUFFT_SUCCESS;
}

std::shared_ptr<Plan> find_plan(cufftHandle handle) {
  Table& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.plans.find(handle);
  return found == all.plans.end() ? nullptr : found->second;
}

cufftResult destroy_plan(cufftHandle handle) {
  Table& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return all.plans.erase(handle) != 0 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

} // namespace accelerator::fft
