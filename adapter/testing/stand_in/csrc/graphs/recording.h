// What is done while a graph is captured, to be done again.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <mutex>
#include <vector>

namespace torch_stand_in {

/// The steps of a graph. One at a time is recorded in a process: all that its
/// threads put into streams, and all operators, whichever their stream.
class Recording {
 public:
  using Step = std::function<void()>;

  /// The one that is being recorded, or null.
  static Recording* active();
  /// @throws c10::Error when another is being recorded.
  void begin();
  void end();

  void add(Step step);
  /// Keeps a tensor's memory as long as the recording.
  void keep(const at::Tensor& tensor);
  /// Does all steps again, in the calling thread's current streams.
  void replay() const;
  void clear();

  /// While one lives, what this thread does belongs to a step that is recorded
  /// as a whole.
  class Whole {
   public:
    Whole();
    ~Whole();
    Whole(const Whole&) = delete;
    Whole& operator=(const Whole&) = delete;
  };

 private:
  std::mutex mutex_;
  std::vector<Step> steps_;
  std::vector<at::Tensor> kept_;
};

} // namespace torch_stand_in
