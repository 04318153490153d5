#include "runtime/nccl/group.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/nccl/launch.h"
#include "runtime/nccl/thread.h"

namespace accelerator::nccl {
namespace {

const char* const kAborted = "the communicator has been aborted";

struct Group {
  int depth = 0;
  ncclResult_t result = ncclSuccess; // the first that was none
  std::vector<Job> jobs;
  std::vector<Plan> plans; // one for each communicator
};

Group& current() {
  thread_local Group group;
  return group;
}

/// Does a job; how it went is its communicator's state from then on.
ncclResult_t finish(const Job& job) noexcept {
  Communicator& communicator = *job.communicator;
  return call([&] {
    try {
      const DeviceGuard device(communicator.device());
      job.work();
    } catch (const Aborted&) {
      communicator.fail(ncclInvalidUsage, kAborted);
      throw Error(ncclInvalidUsage, kAborted);
    } catch (const Error& error) {
      communicator.fail(error.result(), error.what());
      throw;
    } catch (const std::exception& error) {
      communicator.fail(ncclInternalError, error.what());
      throw;
    }
    communicator.set_state(ncclSuccess);
    return communicator.state();
  });
}

ncclResult_t run_jobs(const std::vector<Job>& jobs) {
  std::vector<ncclResult_t> results(jobs.size(), ncclSuccess);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    if (!job.communicator->blocking()) {
      const std::lock_guard lock(job.communicator->mutex);
      if (job.communicator->background.joinable()) {
        job.communicator->background.join();
      }
      job.communicator->background = start_thread([job] { finish(job); });
      results[i] = ncclInProgress;
    } else if (jobs.size() == 1) {
      results[i] = finish(job);
    } else {
      threads.push_back(start_thread([&, i] { results[i] = finish(jobs[i]); }));
    }
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  // An error says more than that something goes on.
  const auto worst = std::max_element(
      results.begin(), results.end(), [](ncclResult_t a, ncclResult_t b) {
        const auto weight = [](ncclResult_t result) {
          return result == ncclSuccess ? 0 : result == ncclInProgress ? 1 : 2;
        };
        return weight(a) < weight(b);
      });
  return worst == results.end() ? ncclSuccess : *worst;
}

/// A send to oneself that nobody receives would never end.
void require_matching_self_sends(const Plan& plan) {
  std::ptrdiff_t open = 0;
  for (const Operation& operation : plan.operations) {
    const Signature& what = operation.signature;
    if (what.other == plan.communicator->rank()) {
      open += what.kind == Kind::kSend ? 1 : 0;
      open -= what.kind == Kind::kReceive ? 1 : 0;
    }
  }
  require(
      open == 0,
      ncclInvalidUsage,
      open > 0 ? "Trying to send to self without a matching recv"
               : "Trying to recv from self without a matching send");
}

} // namespace

void start_group() noexcept {
  ++current().depth;
}

ncclResult_t end_group() noexcept {
  Group& group = current();
  if (group.depth == 0) {
    set_last_error("ncclGroupEnd: not in a group call.");
    return ncclInvalidUsage;
  }
  if (--group.depth > 0) {
    return ncclSuccess;
  }
  Group all = std::exchange(group, Group{});
  if (all.result != ncclSuccess) {
    for (const Job& job : all.jobs) {
      job.communicator->set_state(all.result);
    }
    return all.result;
  }
  return call([&] {
    ncclResult_t result = run_jobs(all.jobs);
    if (all.plans.empty() ||
        (result != ncclSuccess && result != ncclInProgress)) {
      return result;
    }
    for (const Plan& plan : all.plans) {
      plan.communicator->require_ready();
      require_matching_self_sends(plan);
    }
    launch(std::move(all.plans));
    return result;
  });
}

ncclResult_t drop_group(
    const std::function<void(const std::vector<Plan>&)>& look) noexcept {
  return call([&] {
    Group& group = current();
    require(
        group.depth > 0,
        ncclInvalidUsage,
        "ncclGroupEnd: not in a group call.");
    if (--group.depth > 0) {
      look({});
      return ncclSuccess;
    }
    const Group all = std::exchange(group, Group{});
    if (!all.jobs.empty()) {
      for (const Job& job : all.jobs) {
        job.communicator->set_state(ncclInvalidUsage);
      }
      throw Error(
          ncclInvalidUsage,
          "a group that brings up or ends communicators cannot be simulated");
    }
    if (all.result != ncclSuccess) {
      return all.result;
    }
    look(all.plans);
    return ncclSuccess;
  });
}

ncclResult_t in_group(const std::function<void()>& work) noexcept {
  start_group();
  const ncclResult_t result = call([&] {
    work();
    return ncclSuccess;
  });
  Group& group = current();
  if (result != ncclSuccess && group.result == ncclSuccess) {
    group.result = result;
  }
  if (group.depth > 1) {
    end_group();
    return result;
  }
  return end_group();
}

void add(Operation operation, std::shared_ptr<Communicator> communicator) {
  std::vector<Plan>& plans = current().plans;
  auto plan = std::find_if(plans.begin(), plans.end(), [&](const Plan& plan) {
    return plan.communicator == communicator;
  });
  if (plan == plans.end()) {
    plans.push_back({std::move(communicator), {}});
    plan = plans.end() - 1;
  }
  plan->operations.push_back(std::move(operation));
}

void add(Job job) {
  current().jobs.push_back(std::move(job));
}

} // namespace accelerator::nccl
