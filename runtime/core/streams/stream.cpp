#include "runtime/core/streams/stream.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <thread>

#include "runtime/core/streams/stream_set.h"

namespace accelerator::runtime {
namespace {

std::uint64_t next_stream_id() {
  static std::atomic<std::uint64_t> ids{1};
  return ids++;
}

// A task on its way through a device's stream.
struct Job {
  StreamSet& set;
  Stream::Task task;
  bool always;
};

void run(Job& job) noexcept {
  if (!job.always && job.set.fault() != cudaSuccess) {
    return;
  }
  Status status = cudaErrorUnknown;
  try {
    status = job.task();
  } catch (const Failure& failure) {
    report(failure.message());
    status = failure.status();
  } catch (const std::bad_alloc&) {
    status = cudaErrorMemoryAllocation;
  } catch (const std::exception& error) {
    report(error.what());
  }
  if (status != cudaSuccess) {
    job.set.set_fault(status);
  }
}

void run_and_forget(void* data) {
  const std::unique_ptr<Job> job(static_cast<Job*>(data));
  run(*job);
}

// For devices whose callbacks must not call them: the task may. Where the host
// has no thread for it the task is not done, which is the device's fault; what
// is done always is no work of the device's.
void run_elsewhere(void* data) noexcept {
  try {
    std::thread(run_and_forget, data).join();
  } catch (const std::exception& error) {
    report(
        std::string("cannot start a thread for a host function of a stream: ") +
        error.what());
    static_cast<Job*>(data)->set.set_host_fault(cudaErrorOperatingSystem);
    run_and_forget(data);
  }
}

} // namespace

Stream::Stream(StreamSet& set, Kind kind, unsigned flags, int priority)
    : set_(set),
      kind_(kind),
      flags_(flags),
      priority_(priority),
      id_(next_stream_id()) {
  check(api(), api().stream_create(set_.slot().index, priority, &native_));
}

Stream::~Stream() {
  if (mark_ != nullptr) {
    api().event_destroy(mark_);
  }
  api().stream_destroy(native_);
}

Device& Stream::device() const {
  return set_.device();
}

const accel_api& Stream::api() const {
  return *set_.slot().api;
}

void Stream::enqueue(Task task, bool always) {
  auto job = std::make_unique<Job>(Job{set_, std::move(task), always});
  give([&](accel_stream native) {
    const accel_status status = api().stream_callback(
        native,
        set_.calls_in_callbacks() ? run_and_forget : run_elsewhere,
        job.get());
    if (status == ACCEL_OK) {
      // The callback deletes it.
      static_cast<void>(job.release());
    }
    return status;
  });
}

// Between looking at the other streams and joining the queue none of them may
// do the same, so the lock is kept until then.
std::unique_lock<std::mutex> Stream::join() {
  if (kind_ == Kind::kNonBlocking) {
    return {};
  }
  std::unique_lock lock(set_.order_mutex());
  // A blocking stream that another thread makes now joins after this.
  if (kind_ == Kind::kLegacy && !set_.had_blocking()) {
    return lock;
  }
  for (const auto& other : set_.all()) {
    const bool related = kind_ == Kind::kLegacy
        ? other->kind_ == Kind::kBlocking
        : other->kind_ == Kind::kLegacy;
    if (related && other.get() != this && !other->idle()) {
      wait_for(*other);
    }
  }
  return lock;
}

void Stream::wait_for(Stream& other) {
  if (other.mark_ == nullptr) {
    check(api(), api().event_create(set_.slot().index, false, &other.mark_));
  }
  check(api(), api().event_record(other.mark_, other.native_));
  check(api(), api().stream_wait_event(native_, other.mark_));
}

bool Stream::idle() const {
  return api().stream_query(native_) != ACCEL_NOT_READY;
}

void Stream::synchronize() {
  // A fault is the device's, and asked for there.
  api().stream_synchronize(native_);
}

bool Stream::idle_in_order() const {
  const auto others = before_next();
  return idle() &&
      std::all_of(others.begin(), others.end(), [](const auto& other) {
           return other->idle();
         });
}

void Stream::synchronize_in_order() {
  synchronize();
  for (const auto& other : before_next()) {
    other->synchronize();
  }
}

std::vector<std::shared_ptr<Stream>> Stream::before_next() const {
  if (kind_ != Kind::kLegacy || !set_.had_blocking()) {
    return {};
  }
  auto others = set_.all();
  others.erase(
      std::remove_if(
          others.begin(),
          others.end(),
          [](const auto& other) { return other->kind_ != Kind::kBlocking; }),
      others.end());
  return others;
}

} // namespace accelerator::runtime
