#include "distributed/tensorpipe/staged_channel.h"

#include <ATen/cuda/CachingHostAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>

#include <exception>
#include <utility>

namespace torch_cuda_distributed {

using tensorpipe::Buffer;
using tensorpipe::CpuBuffer;
using tensorpipe::CudaBuffer;
using tensorpipe::Error;

namespace {

class StagingError final : public tensorpipe::BaseError {
 public:
  explicit StagingError(std::string what) : what_(std::move(what)) {}
  std::string what() const override {
    return what_;
  }

 private:
  std::string what_;
};

/// Refuses tensors without elements: torch gives them to the CPU when they have
/// arrived, then finds them on the wrong device and ends the process.
at::DataPtr pinned_memory(std::size_t length) {
  TORCH_CHECK(
      length != 0,
      "found a CUDA tensor without elements, which RPC cannot carry; send it "
      "from the CPU, or None in its place");
  return at::cuda::getCachingHostAllocator()->allocate(length);
}

void copy(
    const CudaBuffer& on_device,
    const at::DataPtr& on_host,
    std::size_t length,
    cudaMemcpyKind direction) {
  const bool to_host = direction == cudaMemcpyDeviceToHost;
  C10_CUDA_CHECK(cudaMemcpyAsync(
      to_host ? on_host.get() : on_device.ptr,
      to_host ? on_device.ptr : on_host.get(),
      length,
      direction,
      on_device.stream));
}

c10::DeviceIndex index_of(const CudaBuffer& buffer) {
  return static_cast<c10::DeviceIndex>(buffer.getDevice().index);
}

} // namespace

struct StagedChannel::Outgoing {
  at::DataPtr staging;
  std::size_t length = 0;
  tensorpipe::channel::TSendCallback callback;
  bool ready = false;
  std::string failure; // why it was not copied
};

/// What the stream holds on to until the copy is made.
struct StagedChannel::Copied {
  std::shared_ptr<StagedChannel> channel;
  std::shared_ptr<Outgoing> outgoing;
};

StagedChannel::StagedChannel(std::shared_ptr<Channel> host)
    : host_(std::move(host)) {}

void StagedChannel::send(
    Buffer buffer,
    std::size_t length,
    tensorpipe::channel::TSendCallback callback) {
  const auto outgoing = std::make_shared<Outgoing>();
  outgoing->length = length;
  outgoing->callback = std::move(callback);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    outgoing_.push_back(outgoing);
  }
  try {
    const auto& memory = buffer.unwrap<CudaBuffer>();
    const c10::cuda::CUDAGuard guard(index_of(memory));
    outgoing->staging = pinned_memory(length);
    copy(memory, outgoing->staging, length, cudaMemcpyDeviceToHost);
    auto copied =
        std::make_unique<Copied>(Copied{shared_from_this(), outgoing});
    C10_CUDA_CHECK(cudaLaunchHostFunc(
        memory.stream,
        [](void* data) {
          const std::unique_ptr<Copied> done(static_cast<Copied*>(data));
          {
            const std::lock_guard<std::mutex> lock(done->channel->mutex_);
            done->outgoing->ready = true;
          }
          done->channel->send_what_is_ready();
        },
        copied.get()));
    copied.release(); // the stream has it
  } catch (const std::exception& error) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      outgoing->failure = error.what();
      outgoing->ready = true;
    }
    send_what_is_ready();
  }
}

// The host's channel may call back from inside its send(), and whoever is
// called back may send again: so nothing is held while it is called, and who
// comes second leaves the work to who is at it.
void StagedChannel::send_what_is_ready() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (sending_) {
    return;
  }
  sending_ = true;
  while (!outgoing_.empty() && outgoing_.front()->ready) {
    const std::shared_ptr<Outgoing> next = std::move(outgoing_.front());
    outgoing_.pop_front();
    lock.unlock();
    hand_over(next);
    lock.lock();
  }
  sending_ = false;
}

void StagedChannel::hand_over(const std::shared_ptr<Outgoing>& outgoing) {
  if (!outgoing->failure.empty()) {
    fail(outgoing->callback, outgoing->failure);
    return;
  }
  host_->send(
      CpuBuffer{outgoing->staging.get()},
      outgoing->length,
      [outgoing](const Error& error) {
        outgoing->staging.clear();
        outgoing->callback(error);
      });
}

void StagedChannel::recv(
    Buffer buffer,
    std::size_t length,
    tensorpipe::channel::TRecvCallback callback) {
  auto staging = std::make_shared<at::DataPtr>();
  CudaBuffer memory;
  try {
    memory = buffer.unwrap<CudaBuffer>();
    const c10::cuda::CUDAGuard guard(index_of(memory));
    *staging = pinned_memory(length);
  } catch (const std::exception& error) {
    fail(callback, error.what());
    return;
  }
  const CpuBuffer on_host{staging->get()};
  host_->recv(
      on_host,
      length,
      [self = shared_from_this(),
       memory,
       length,
       staging = std::move(staging),
       callback = std::move(callback)](const Error& error) {
        if (error) {
          callback(error);
          return;
        }
        try {
          const c10::DeviceIndex device = index_of(memory);
          const c10::cuda::CUDAGuard guard(device);
          copy(memory, *staging, length, cudaMemcpyHostToDevice);
          // Nobody else gets the pinned memory before the copy is made.
          at::cuda::CachingHostAllocator_recordEvent(
              staging->get(),
              staging->get_context(),
              c10::cuda::getStreamFromExternal(memory.stream, device));
          staging->clear();
        } catch (const std::exception& failure) {
          self->fail(callback, failure.what());
          return;
        }
        callback(Error::kSuccess);
      });
}

void StagedChannel::setId(std::string id) {
  host_->setId(id + ".host");
}

void StagedChannel::close() {
  host_->close();
}

// The other end waits for what does not come: it learns that from the channel's
// end.
void StagedChannel::fail(
    const std::function<void(const Error&)>& callback,
    const std::string& what) {
  host_->close();
  callback(Error(std::make_shared<StagingError>(what), __FILE__, __LINE__));
}

} // namespace torch_cuda_distributed
