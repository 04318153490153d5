#include "device/nvidia/streams/stream.h"

#include <deque>
#include <utility>

#include "device/nvidia/devices/host_work.h"
#include "device/nvidia/driver/error.h"

namespace accelerator::nvidia {
namespace {

void CUDA_CB run_host_work(void* data) {
  const std::unique_ptr<std::function<void()>> function(
      static_cast<std::function<void()>*>(data));
  run_unless_ended(*function);
}

} // namespace

Stream::Stream(Device& device, int priority) : device_(device) {
  if (device.fault() != ACCEL_OK) {
    return;
  }
  const Current current(device);
  ACCEL_DRIVER(
      cuStreamCreateWithPriority, &native_, CU_STREAM_NON_BLOCKING, priority);
}

Stream::~Stream() {
  if (native_ == nullptr) {
    return;
  }
  if (driver().cuCtxPushCurrent(device_.context()) != CUDA_SUCCESS) {
    return;
  }
  in_flight_.clear();
  if (block_ != nullptr) {
    // The block goes when the last work is done: never, on a device at fault.
    auto last = std::make_unique<std::function<void()>>([block = block_] {});
    driver().cuLaunchHostFunc(native_, run_host_work, last.get());
    last.release();
  }
  driver().cuStreamDestroy(native_);
  driver().cuCtxPopCurrent(nullptr);
}

const std::shared_ptr<HostBlock>& Stream::block() {
  if (block_ == nullptr) {
    block_ = take_host_block();
  }
  return block_;
}

// A program's callback, from when it is put in to when it is done.
struct Stream::Call {
  std::shared_ptr<Stream> stream;
  accel_callback callback;
  void* data;
};

// The driver's, which tells of faults so that nobody waits for ever.
void CUDA_CB Stream::reach(CUstream, CUresult, void* data) {
  run_beside([call = static_cast<Call*>(data)] {
    const std::unique_ptr<Call> own(call);
    run_unless_ended([&] { own->callback(own->data); });
    own->stream->end_callback();
  });
}

void Stream::add_callback(accel_callback callback, void* data) {
  const std::lock_guard lock(mutex_);
  const auto has_room = [this] {
    if (native_ == nullptr || device_.fault() != ACCEL_OK) {
      return true;
    }
    const Current current(device_);
    return in_flight_.has_room();
  };
  if (is_behind() || !has_room()) {
    const auto work = [this, callback, data] {
      try {
        put_callback(callback, data);
      } catch (const Error&) {
        // Nobody can be told, and it is to be called all the same.
        note_fault(device_.number(), ACCEL_LAUNCH_FAILURE);
        put_callback(callback, data);
      }
    };
    queue({work, nullptr, nullptr, 1});
  } else {
    put_callback(callback, data);
    in_flight_.add(1);
    device_.add_behind(shared_from_this());
  }
  ++callbacks_;
}

void Stream::put_callback(accel_callback callback, void* data) {
  auto call = std::make_unique<Call>(Call{shared_from_this(), callback, data});
  if (native_ != nullptr && device_.fault() == ACCEL_OK) {
    const Current current(device_);
    in_flight_.mark(native_);
    const CUresult result =
        driver().cuStreamAddCallback(native_, reach, call.get(), 0);
    if (!ACCEL_IS_FAULT(status_of(result))) {
      check(result, "cuStreamAddCallback");
      call.release();
      is_held_ = true;
      return;
    }
    note_fault(device_.number(), status_of(result));
  }
  // It is called all the same on a device at fault.
  reach(nullptr, CUDA_SUCCESS, call.release());
  is_held_ = true;
}

void Stream::end_callback() {
  std::unique_lock lock(mutex_);
  is_held_ = false;
  ++callbacks_done_;
  progress_.notify_all();
  hand_on(lock);
}

void Stream::add_host_work(std::function<void()> function) {
  put([function = std::move(function)](CUstream native) {
    auto own = std::make_unique<std::function<void()>>(function);
    ACCEL_DRIVER(cuLaunchHostFunc, native, run_host_work, own.get());
    own.release();
  });
}

void Stream::put_later(
    std::function<void(CUstream)> work,
    std::shared_ptr<Mark> after,
    std::shared_ptr<Mark> gives) {
  queue(
      {[this, work = std::move(work)] {
         const Current current(device_);
         put_now(work, 0);
       },
       std::move(after),
       std::move(gives),
       1});
}

void Stream::queue(Queued work) {
  if (!is_behind()) {
    device_.add_behind(shared_from_this());
  }
  queue_.push_back(std::move(work));
  if (queue_.size() == 1 && !is_held_) {
    run_beside([self = shared_from_this()]() mutable {
      {
        std::unique_lock lock(self->mutex_);
        self->hand_on(lock);
      }
      self.reset(); // it may end here
    });
  }
}

void Stream::hand_on(std::unique_lock<std::mutex>& lock) {
  while (!queue_.empty() && !is_held_) {
    if (const auto after = queue_.front().after;
        after != nullptr && !after->is_given()) {
      lock.unlock();
      after->wait_until_given();
      lock.lock();
    }
    wait_for_room(lock);
    // Stays the first one until it is handed on, so that nothing overtakes it.
    const Queued& first = queue_.front();
    run_unless_ended([&] {
      try {
        first.work();
        in_flight_.add(first.pieces);
      } catch (const Error& error) {
        note_fault(
            device_.number(),
            ACCEL_IS_FAULT(error.status()) ? error.status()
                                           : ACCEL_LAUNCH_FAILURE);
      } catch (const std::exception&) {
        note_fault(device_.number(), ACCEL_LAUNCH_FAILURE);
      }
    });
    if (first.gives != nullptr) {
      first.gives->give();
    }
    queue_.pop_front();
    ++handed_on_;
    progress_.notify_all();
  }
  if (!is_behind()) {
    device_.remove_behind(this);
  }
}

void Stream::wait_for_room(std::unique_lock<std::mutex>& lock) {
  if (driver().cuCtxPushCurrent(device_.context()) != CUDA_SUCCESS) {
    return;
  }
  while (!in_flight_.has_room()) {
    CUevent oldest = in_flight_.oldest();
    lock.unlock();
    const CUresult result = driver().cuEventSynchronize(oldest);
    lock.lock();
    if (result != CUDA_SUCCESS) {
      in_flight_.forget();
    }
  }
  driver().cuCtxPopCurrent(nullptr);
}

void Stream::note_submitted() {
  constexpr unsigned kLikely = 8;
  const std::lock_guard lock(mutex_);
  in_flight_.add(kLikely);
}

bool Stream::is_handed_on() {
  const std::lock_guard lock(mutex_);
  return !is_behind();
}

void Stream::wait_until_handed_on() {
  std::unique_lock lock(mutex_);
  const std::uint64_t all = handed_on_ + queue_.size();
  const std::uint64_t callbacks = callbacks_;
  const auto is_done = [&] {
    return handed_on_ >= all && callbacks_done_ >= callbacks;
  };
  while (!progress_.wait_for(lock, kLookAtFaults, is_done)) {
    device_.fault();
    device_.require_health(); // nobody waits for what is dropped
  }
}

Stream& stream_of(accel_stream stream) {
  require(stream != nullptr, ACCEL_INVALID_ARGUMENT, "stream is null");
  concern(stream->stream->device().number());
  return *stream->stream;
}

} // namespace accelerator::nvidia
