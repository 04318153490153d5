#include "runtime/core/graphs/capture.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "runtime/core/graphs/graph.h"
#include "runtime/core/machine/device.h"
#include "runtime/core/machine/thread_state.h"
#include "runtime/core/streams/event.h"
#include "runtime/core/streams/stream.h"
#include "runtime/core/streams/work/submit.h"

namespace accelerator::runtime {
namespace {

// Guards all sessions and what streams and events keep of them.
std::mutex& capture_mutex() {
  static auto* mutex = new std::mutex; // outlives static destructors
  return *mutex;
}

// Sessions that have not ended; the_capturer says whether there are any.
std::vector<std::shared_ptr<CaptureSession>>& active_sessions() {
  static auto* sessions = new std::vector<std::shared_ptr<CaptureSession>>;
  return *sessions;
}

[[noreturn]] void invalidate(CaptureSession& session, Status status) {
  session.invalid = true;
  throw Failure(status);
}

void add_unique(std::vector<Node*>& nodes, const std::vector<Node*>& more) {
  for (Node* node : more) {
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
      nodes.push_back(node);
    }
  }
}

// A capture whose work the stream's next work would wait for, or null. Work in
// the legacy default stream waits for that of blocking streams, and captured
// work is not going to run.
CaptureSession* implicit_dependency(const Stream& stream) {
  if (stream.kind() != Stream::Kind::kLegacy) {
    return nullptr;
  }
  for (const auto& other : stream.device().streams()) {
    if (other->kind() == Stream::Kind::kBlocking && other->capture != nullptr) {
      return other->capture.get();
    }
  }
  return nullptr;
}

void require_no_implicit_dependency(const Stream& stream) {
  if (CaptureSession* other = implicit_dependency(stream)) {
    invalidate(*other, cudaErrorStreamCaptureImplicit);
  }
}

// Whether all work of the other members leads to the origin's last nodes.
bool joined(const CaptureSession& session, const Stream& origin) {
  std::unordered_set<const Node*> before;
  std::vector<const Node*> open(
      origin.capture_dependencies.begin(), origin.capture_dependencies.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (before.insert(node).second) {
      open.insert(
          open.end(), node->dependencies().begin(), node->dependencies().end());
    }
  }
  const auto is_before = [&](const Node* node) {
    return before.count(node) > 0;
  };
  const auto are_before = [&](const auto& nodes) {
    return std::all_of(nodes.begin(), nodes.end(), is_before);
  };
  return are_before(session.left) &&
      std::all_of(
             session.members.begin(),
             session.members.end(),
             [&](const std::weak_ptr<Stream>& weak) {
               const auto member = weak.lock();
               return member == nullptr || member.get() == &origin ||
                   are_before(member->capture_dependencies);
             });
}

// Whether a device of it is at fault: it can neither go on nor be ended, and
// calls answer the fault.
bool is_lost(const CaptureSession& session) {
  return std::any_of(
      session.members.begin(), session.members.end(), [](const auto& weak) {
        const auto member = weak.lock();
        return member != nullptr && member->device().fault() != cudaSuccess;
      });
}

// Its streams are no longer captured.
void end(const std::shared_ptr<CaptureSession>& session) {
  for (const auto& weak : session->members) {
    if (const auto member = weak.lock()) {
      member->capture = nullptr;
      member->capture_dependencies.clear();
    }
  }
  session->ended = true;
  auto& sessions = active_sessions();
  sessions.erase(std::find(sessions.begin(), sessions.end(), session));
  if (sessions.empty()) {
    the_capturer = nullptr;
  }
}

// With the mutex; null unless the stream is captured.
CaptureSession* session_to_add_to(Stream& stream) {
  if (stream.capture == nullptr) {
    require_no_implicit_dependency(stream);
    return nullptr;
  }
  require(!stream.capture->invalid, cudaErrorStreamCaptureInvalidated);
  return stream.capture.get();
}

void add(CaptureSession& session, Stream& stream, Work work) {
  Node& node = session.graph->add(
      std::move(work), stream.device(), stream.capture_dependencies);
  stream.capture_dependencies = {&node};
}

class CapturerOfGraphs final : public Capturer {
 public:
  bool take(Stream& stream, StreamWork& work) override {
    const std::lock_guard lock(capture_mutex());
    CaptureSession* const session = session_to_add_to(stream);
    if (session == nullptr) {
      return false;
    }
    std::visit(
        [&](auto& parts) { add(*session, stream, std::move(parts)); }, work);
    return true;
  }
  void lose(const Stream& stream) override {
    const std::lock_guard lock(capture_mutex());
    if (stream.capture != nullptr) {
      stream.capture->invalid = true;
    }
  }
} capturer_of_graphs;

} // namespace

void begin_capture(
    Stream& stream,
    cudaStreamCaptureMode mode,
    std::shared_ptr<Graph> graph,
    std::vector<Node*> dependencies) {
  static std::uint64_t ids = 0;
  require(
      mode >= cudaStreamCaptureModeGlobal &&
      mode <= cudaStreamCaptureModeRelaxed);
  require(
      stream.kind() != Stream::Kind::kLegacy,
      cudaErrorStreamCaptureUnsupported);
  for (const Node* node : dependencies) {
    require(graph != nullptr && graph->owns(node));
  }
  const std::lock_guard lock(capture_mutex());
  require(stream.capture == nullptr, cudaErrorIllegalState);
  auto session = std::make_shared<CaptureSession>();
  session->id = ++ids;
  session->graph =
      graph != nullptr ? std::move(graph) : std::make_shared<Graph>();
  session->mode = mode;
  session->thread = std::this_thread::get_id();
  session->origin = &stream;
  session->members.push_back(stream.weak_from_this());
  stream.capture = session;
  stream.capture_dependencies = std::move(dependencies);
  active_sessions().push_back(std::move(session));
  the_capturer = &capturer_of_graphs;
}

std::shared_ptr<Graph> end_capture(Stream& stream) {
  const std::lock_guard lock(capture_mutex());
  const std::shared_ptr<CaptureSession> session = stream.capture;
  require(session != nullptr, cudaErrorIllegalState);
  if (session->origin != &stream) {
    invalidate(*session, cudaErrorStreamCaptureUnmatched);
  }
  require(
      session->mode == cudaStreamCaptureModeRelaxed ||
          session->thread == std::this_thread::get_id(),
      cudaErrorStreamCaptureWrongThread);
  const bool complete = joined(*session, stream);
  end(session);
  require(!session->invalid, cudaErrorStreamCaptureInvalidated);
  require(complete, cudaErrorStreamCaptureUnjoined);
  return session->graph;
}

CaptureInfo capture_info(const Stream& stream, bool to_use) {
  CaptureInfo info;
  if (the_capturer == nullptr) {
    return info;
  }
  const std::lock_guard lock(capture_mutex());
  if (stream.capture == nullptr) {
    if (CaptureSession* other = implicit_dependency(stream)) {
      other->invalid = other->invalid || to_use;
      throw Failure(cudaErrorStreamCaptureImplicit);
    }
    return info;
  }
  info.status = stream.capture->invalid ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
  info.id = stream.capture->id;
  info.graph = stream.capture->graph;
  info.dependencies = stream.capture_dependencies;
  return info;
}

void capture_node(Stream& stream, Work work) {
  const std::lock_guard lock(capture_mutex());
  CaptureSession* const session = session_to_add_to(stream);
  require(session != nullptr, cudaErrorIllegalState);
  add(*session, stream, std::move(work));
}

void record_event(Stream& stream, std::shared_ptr<Event> event, bool external) {
  if (the_capturer != nullptr || event->captured) {
    const std::unique_lock lock(capture_mutex());
    if (stream.capture != nullptr) {
      CaptureSession& session = *stream.capture;
      require(!session.invalid, cudaErrorStreamCaptureInvalidated);
      if (external) {
        add(session, stream, EventRecordWork{std::move(event)});
      } else {
        event->captured = true;
        event->capture = stream.capture;
        event->capture_nodes = stream.capture_dependencies;
      }
      return;
    }
    require_no_implicit_dependency(stream);
    event->captured = false;
    event->capture = nullptr;
  }
  event->record(stream);
}

void wait_event(Stream& stream, std::shared_ptr<Event> event, bool external) {
  if (the_capturer != nullptr || event->captured) {
    const std::unique_lock lock(capture_mutex());
    const std::shared_ptr<CaptureSession> captured =
        event->captured && !event->capture->ended ? event->capture : nullptr;
    if (captured != nullptr) {
      require(!captured->invalid, cudaErrorStreamCaptureInvalidated);
      if (stream.capture == nullptr) {
        if (stream.kind() == Stream::Kind::kLegacy) {
          invalidate(*captured, cudaErrorStreamCaptureImplicit);
        }
        stream.capture = captured;
        stream.capture_dependencies.clear();
        captured->members.push_back(stream.weak_from_this());
      } else if (stream.capture != captured) {
        stream.capture->invalid = true;
        invalidate(*captured, cudaErrorStreamCaptureMerge);
      }
      add_unique(stream.capture_dependencies, event->capture_nodes);
      return;
    }
    if (stream.capture != nullptr) {
      CaptureSession& session = *stream.capture;
      require(!session.invalid, cudaErrorStreamCaptureInvalidated);
      if (!external) {
        invalidate(session, cudaErrorStreamCaptureIsolation);
      }
      add(session, stream, EventWaitWork{std::move(event)});
      return;
    }
    require_no_implicit_dependency(stream);
    require(!event->captured, cudaErrorCapturedEvent);
  }
  event->make_wait(stream);
}

void update_capture_dependencies(
    Stream& stream,
    std::vector<Node*> nodes,
    bool replace) {
  const std::lock_guard lock(capture_mutex());
  require(stream.capture != nullptr, cudaErrorIllegalState);
  require(!stream.capture->invalid, cudaErrorStreamCaptureInvalidated);
  for (const Node* node : nodes) {
    require(stream.capture->graph->owns(node));
  }
  if (replace) {
    stream.capture_dependencies = std::move(nodes);
  } else {
    add_unique(stream.capture_dependencies, nodes);
  }
}

void require_no_unsafe_capture() {
  if (the_capturer == nullptr) {
    return;
  }
  const cudaStreamCaptureMode mode = thread_state().capture_mode;
  if (mode == cudaStreamCaptureModeRelaxed) {
    return;
  }
  const std::lock_guard lock(capture_mutex());
  bool broken = false;
  for (const auto& session : active_sessions()) {
    const bool own = session->thread == std::this_thread::get_id();
    const bool forbidden = own ? session->mode != cudaStreamCaptureModeRelaxed
                               : session->mode == cudaStreamCaptureModeGlobal &&
            mode == cudaStreamCaptureModeGlobal;
    if (forbidden && !is_lost(*session)) {
      session->invalid = true;
      broken = true;
    }
  }
  require(!broken, cudaErrorStreamCaptureUnsupported);
}

void abandon_captures(const Device& device) {
  if (the_capturer == nullptr) {
    return;
  }
  const std::lock_guard lock(capture_mutex());
  for (const auto& stream : device.streams()) {
    if (stream->capture != nullptr) {
      end(std::shared_ptr<CaptureSession>(stream->capture));
    }
  }
}

void leave_capture(Stream& stream) {
  if (the_capturer == nullptr) {
    return;
  }
  const std::lock_guard lock(capture_mutex());
  if (stream.capture == nullptr) {
    return;
  }
  CaptureSession& session = *stream.capture;
  if (session.origin == &stream) {
    invalidate(session, cudaErrorStreamCaptureUnsupported);
  }
  session.left.insert(
      session.left.end(),
      stream.capture_dependencies.begin(),
      stream.capture_dependencies.end());
  stream.capture_dependencies.clear();
  stream.capture = nullptr;
}

void require_not_capturing(const Stream& stream) {
  if (the_capturer == nullptr) {
    return;
  }
  const std::lock_guard lock(capture_mutex());
  if (stream.capture != nullptr) {
    invalidate(*stream.capture, cudaErrorStreamCaptureUnsupported);
  }
  require_no_implicit_dependency(stream);
}

void require_not_captured(const Event& event) {
  if (!event.captured) {
    return;
  }
  const std::lock_guard lock(capture_mutex());
  if (event.captured) {
    invalidate(*event.capture, cudaErrorCapturedEvent);
  }
}

void require_not_captured_into(const Graph& graph) {
  if (the_capturer == nullptr) {
    return;
  }
  const std::lock_guard lock(capture_mutex());
  for (const auto& session : active_sessions()) {
    require(session->graph.get() != &graph);
  }
}

void require_device_not_capturing(const Device& device) {
  if (the_capturer == nullptr) {
    return;
  }
  const std::lock_guard lock(capture_mutex());
  for (const auto& stream : device.streams()) {
    if (stream->capture != nullptr) {
      invalidate(*stream->capture, cudaErrorStreamCaptureUnsupported);
    }
  }
}

} // namespace accelerator::runtime
