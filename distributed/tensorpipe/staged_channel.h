// A channel for memory of CUDA devices: through pinned memory of the host and a
// channel for that.
#pragma once

#include <tensorpipe/tensorpipe_cuda.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "distributed/tensorpipe/channel.h"

namespace torch_cuda_distributed {

class StagedChannel final : public tensorpipe::channel::Channel,
                            public std::enable_shared_from_this<StagedChannel> {
 public:
  explicit StagedChannel(std::shared_ptr<tensorpipe::channel::Channel> host);

  /// Copies to the host once the buffer's stream gets there, then sends.
  void send(
      tensorpipe::Buffer buffer,
      std::size_t length,
      tensorpipe::channel::TSendCallback callback) override;
  /// Receives, then copies to the device in the order of the buffer's stream;
  /// the callback comes when that copy is in the stream.
  void recv(
      tensorpipe::Buffer buffer,
      std::size_t length,
      tensorpipe::channel::TRecvCallback callback) override;
  void setId(std::string id) override;
  void close() override;

 private:
  struct Outgoing;
  struct Copied;

  /// Sends, in the order of the calls, all that has been copied.
  void send_what_is_ready();
  void hand_over(const std::shared_ptr<Outgoing>& outgoing);
  void fail(
      const std::function<void(const tensorpipe::Error&)>& callback,
      const std::string& what);

  std::shared_ptr<tensorpipe::channel::Channel> host_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<Outgoing>> outgoing_; // in the order of the calls
  bool sending_ = false; // whether a thread is in send_what_is_ready()
};

} // namespace torch_cuda_distributed
