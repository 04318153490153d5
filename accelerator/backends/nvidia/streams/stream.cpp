#include "accelerator/backends/nvidia/streams/stream.h"

#include <deque>
#include <utility>

#include "accelerator/backends/nvidia/devices/host_work.h"
#include "accelerator/backends/nvidia/driver/error.h"

namespace accelerator::nvidia {

// The callbacks of one stream that are due: called one after the other.
class Callbacks : public std::enable_shared_from_this<Callbacks> {
 public:
  struct Due {
    accel_callback callback;
    void* data;
    std::shared_ptr<HostBlock> block; // null: nobody waits
    std::uint32_t ticket;
  };

  void call(Due due) {
    const std::lock_guard lock(mutex_);
    due_.push_back(std::move(due));
    if (!std::exchange(running_, true)) {
      run_beside([self = shared_from_this()] { self->run(); });
    }
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!due_.empty()) {
      const Due due = std::move(due_.front());
      due_.pop_front();
      lock.unlock();
      run_unless_ended([&] { due.callback(due.data); });
      if (due.block != nullptr) {
        due.block->done().store(due.ticket, std::memory_order_release);
      }
      lock.lock();
    }
    running_ = false;
  }

  std::mutex mutex_;
  std::deque<Due> due_;
  bool running_ = false;
};

namespace {

struct Record {
  std::shared_ptr<Callbacks> callbacks;
  Callbacks::Due due;
};

// The driver's, which tells of faults so that nobody waits for ever.
void CUDA_CB hand_over(CUstream, CUresult, void* data) {
  const std::unique_ptr<Record> record(static_cast<Record*>(data));
  record->callbacks->call(std::move(record->due));
}

void CUDA_CB run_host_work(void* data) {
  const std::unique_ptr<std::function<void()>> function(
      static_cast<std::function<void()>*>(data));
  run_unless_ended(*function);
}

} // namespace

Stream::Stream(Device& device, int priority)
    : device_(device), callbacks_(std::make_shared<Callbacks>()) {
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

void Stream::add_callback(accel_callback callback, void* data) {
  const std::lock_guard lock(mutex_);
  Callbacks::Due due{callback, data, nullptr, 0};
  if (native_ == nullptr || device_.fault() != ACCEL_OK) {
    callbacks_->call(std::move(due));
    return;
  }
  const Current current(device_);
  due.block = block();
  due.ticket = ++given_;
  const std::uint32_t ticket = due.ticket;
  const auto* done = &due.block->done();
  auto record = std::make_unique<Record>(Record{callbacks_, std::move(due)});
  const CUresult result =
      driver().cuStreamAddCallback(native_, hand_over, record.get(), 0);
  if (ACCEL_IS_FAULT(status_of(result))) {
    note_fault(device_.number(), status_of(result));
    hand_over(native_, result, record.release());
    return;
  }
  check(result, "cuStreamAddCallback");
  record.release();
  const CUresult waits = driver().cuStreamWaitValue32(
      native_,
      reinterpret_cast<CUdeviceptr>(done),
      ticket,
      CU_STREAM_WAIT_VALUE_GEQ);
  // The callback is called all the same on a device at fault.
  if (!ACCEL_IS_FAULT(status_of(waits))) {
    check(waits, "cuStreamWaitValue32");
  }
}

void Stream::add_host_work(std::function<void()> function) {
  auto own = std::make_unique<std::function<void()>>(std::move(function));
  ACCEL_DRIVER(cuLaunchHostFunc, native(), run_host_work, own.get());
  own.release();
}

Stream& stream_of(accel_stream stream) {
  require(stream != nullptr, ACCEL_INVALID_ARGUMENT, "stream is null");
  concern(stream->stream.device().number());
  return stream->stream;
}

} // namespace accelerator::nvidia
