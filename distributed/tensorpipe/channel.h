// The interface of TensorPipe's channels. Its own header for it is not
// installed; that channels have it is what TensorPipe's contexts hand out and
// take. Source: TensorPipe of 2022-05-13; the order of the functions is that of
// the table of virtual functions in its library (channel_test.cpp).
#pragma once

#include <tensorpipe/common/buffer.h>
#include <tensorpipe/common/error.h>

#include <cstddef>
#include <functional>
#include <string>

namespace tensorpipe::channel {

using TSendCallback = std::function<void(const Error&)>;
using TRecvCallback = std::function<void(const Error&)>;

/// One end. What one end sends, the other receives, in the order of the calls.
class Channel {
 public:
  /// @param callback is called when the memory may be used again.
  virtual void send(
      Buffer buffer,
      std::size_t length,
      TSendCallback callback) = 0;
  /// @param callback is called when the memory has what was sent.
  virtual void recv(
      Buffer buffer,
      std::size_t length,
      TRecvCallback callback) = 0;
  /// For messages.
  virtual void setId(std::string id) = 0;
  /// Ends what is under way with an error.
  virtual void close() = 0;
  virtual ~Channel() = default;
};

} // namespace tensorpipe::channel
