// Sends and receives: the sender shows its buffer in a message, the receiver
// copies from it. Small messages carry the bytes themselves.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "runtime/nccl/describe.h"
#include "runtime/nccl/error.h"
#include "runtime/nccl/memory.h"
#include "runtime/nccl/operation.h"

namespace accelerator::nccl {
namespace {

/// Once in a process, since a program may do it with every message.
void tell_that_bytes_are_dropped(
    std::size_t bytes,
    std::size_t sent,
    int sender,
    int receiver) {
  static std::atomic_flag told = ATOMIC_FLAG_INIT;
  if (!told.test_and_set()) {
    const std::string text = "torch_cuda: NCCL: rank " +
        std::to_string(receiver) + " receives " + std::to_string(bytes) +
        " of the " + std::to_string(sent) + " bytes that rank " +
        std::to_string(sender) + " sends; the others are dropped\n";
    std::fputs(text.c_str(), stderr);
  }
}

class Exchange {
 public:
  Exchange(Communicator& own, const std::vector<Operation>& operations)
      : own_(own) {
    for (const Operation& operation : operations) {
      auto& queues =
          operation.signature.kind == Kind::kSend ? sends_ : receives_;
      queues[operation.signature.other].push_back(&operation);
    }
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  ~Exchange() {
    // Nobody may read this rank's memory after it has been aborted.
    for (auto& [peer, numbers] : sent_) {
      for (const std::uint64_t number : numbers) {
        withdraw(peer, number);
      }
    }
  }

  void run() {
    own_.wait(
        [this] {
          while (get_on()) {
          }
          note_where();
          return done();
        },
        [this](int rank) {
          return sends_.count(rank) + sent_.count(rank) +
              receives_.count(rank) >
              0;
        });
  }

 private:
  using Queue = std::deque<const Operation*>;

  /// Does what can be done now; false when that is nothing.
  bool get_on() {
    bool any = false;
    // Neighbours first, so that not all ranks turn to the same one.
    for (int i = 0; i < own_.ranks(); ++i) {
      const int peer = (own_.rank() + i) % own_.ranks();
      any |= send_next(peer) | finish_sent(peer) | receive_next(peer);
    }
    return any;
  }

  bool done() const {
    return sends_.empty() && sent_.empty() && receives_.empty();
  }

  bool send_next(int peer) {
    const auto queue = sends_.find(peer);
    if (queue == sends_.end()) {
      return false;
    }
    std::uint64_t& number = own_.sent[static_cast<std::size_t>(peer)];
    Message& message = own_.board().message(own_.rank(), peer, number);
    if (message.state != Message::kFree) {
      return false;
    }
    const Operation& operation = *queue->second.front();
    const std::size_t bytes = bytes_to_send(own_, operation);
    message.signature = operation.signature;
    message.eager = bytes <= kEagerBytes ? 1 : 0;
    if (message.eager != 0) {
      copy(message.bytes, operation.send, bytes);
    } else if (!expose(
                   operation.send, bytes, own_.elsewhere(), &message.data)) {
      void* staged = own_.staging.get(staged_++, bytes, &message.data);
      copy(staged, operation.send, bytes);
    }
    message.state = Message::kSent;
    if (message.eager == 0) {
      sent_[peer].push_back(number);
    }
    ++number;
    own_.board().ring(peer);
    pop(sends_, queue);
    return true;
  }

  bool finish_sent(int peer) {
    const auto numbers = sent_.find(peer);
    if (numbers == sent_.end()) {
      return false;
    }
    Message& message =
        own_.board().message(own_.rank(), peer, numbers->second.front());
    if (message.state != Message::kTaken) {
      return false;
    }
    message.state = Message::kFree;
    pop(sent_, numbers);
    return true;
  }

  bool receive_next(int peer) {
    const auto queue = receives_.find(peer);
    if (queue == receives_.end()) {
      return false;
    }
    std::uint64_t& number = own_.received[static_cast<std::size_t>(peer)];
    Message& message = own_.board().message(peer, own_.rank(), number);
    const Operation& operation = *queue->second.front();
    if (message.state != Message::kSent) {
      return false;
    }
    const std::size_t bytes = bytes_to_receive(own_, operation);
    const std::size_t sent =
        message.signature.count * size_of(message.signature.type);
    // NCCL takes the first bytes of a small message, on which PyTorch 2.9
    // depends: its pipelines connect by an int64 that arrives as a float.
    if (message.eager != 0 && bytes < sent) {
      tell_that_bytes_are_dropped(bytes, sent, peer, own_.rank());
    } else if (bytes != sent) {
      note_where();
      own_.tell_where_ranks_are("a send and its receive do not fit together");
      own_.wait_for_abort();
    }
    std::uint32_t state = Message::kSent;
    if (!message.state.compare_exchange_strong(state, Message::kCopying)) {
      own_.wait_for_abort(); // withdrawn
    }
    const bool eager = message.eager != 0;
    try {
      copy(
          operation.receive,
          eager ? message.bytes : reach(message.data, own_.peer_staging),
          bytes);
    } catch (const Error&) {
      message.state = Message::kTaken;
      throw;
    }
    message.state = eager ? Message::kFree : Message::kTaken;
    ++number;
    own_.board().ring(peer);
    pop(receives_, queue);
    return true;
  }

  void withdraw(int peer, std::uint64_t number) {
    Message& message = own_.board().message(own_.rank(), peer, number);
    std::uint32_t state = Message::kSent;
    message.state.compare_exchange_strong(state, Message::kWithdrawn);
    if (state == Message::kCopying) {
      own_.wait_for_work(
          peer, [&] { return message.state != Message::kCopying; });
    }
  }

  void note_where() {
    for (auto* queues : {&receives_, &sends_}) {
      if (!queues->empty()) {
        own_.own_place().waiting_at =
            queues->begin()->second.front()->signature;
        return;
      }
    }
  }

  template <typename Queues>
  static void pop(Queues& queues, typename Queues::iterator queue) {
    queue->second.pop_front();
    if (queue->second.empty()) {
      queues.erase(queue);
    }
  }

  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes != 0 && to != from) {
      std::memmove(to, from, bytes);
    }
  }

  Communicator& own_;
  // By peer, in the order of the calls:
  std::map<int, Queue> sends_; // not begun
  std::map<int, std::deque<std::uint64_t>> sent_; // not taken
  std::map<int, Queue> receives_;
  std::size_t staged_ = 0;
};

} // namespace

void run_point_to_point(
    Communicator& own,
    const std::vector<Operation>& operations) {
  Exchange(own, operations).run();
}

} // namespace accelerator::nccl
