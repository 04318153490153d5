// Stream capture: what is given to a stream becomes nodes of a graph instead of
// being done (CUDA programming guide, creating a graph using stream capture).
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/core/graphs/work.h"
#include "runtime/core/status/status.h"

namespace accelerator::runtime {

class Event;
class Graph;
class Node;
class Stream;

/// One capture, from its begin to its end, over all streams that joined.
struct CaptureSession {
  std::uint64_t id = 0;
  std::shared_ptr<Graph> graph;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  const Stream* origin = nullptr;
  std::vector<std::weak_ptr<Stream>> members;
  /// The last nodes of members that were destroyed.
  std::vector<const Node*> left;
  bool invalid = false;
  bool ended = false;
};

/// What cudaStreamGetCaptureInfo tells.
struct CaptureInfo {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  std::uint64_t id = 0;
  std::shared_ptr<Graph> graph;
  std::vector<Node*> dependencies;
};

/// Begins to capture a stream, into a new graph or behind nodes of an existing
/// one.
/// @throws Failure: cudaErrorStreamCaptureUnsupported for the legacy default
/// stream, cudaErrorIllegalState when it is being captured already.
void begin_capture(
    Stream& stream,
    cudaStreamCaptureMode mode,
    std::shared_ptr<Graph> graph = nullptr,
    std::vector<Node*> dependencies = {});

/// Ends it and gives the graph.
/// @throws Failure: cudaErrorStreamCaptureUnmatched, …WrongThread, …Unjoined,
/// …Invalidated, cudaErrorIllegalState when there is no capture.
std::shared_ptr<Graph> end_capture(Stream& stream);

/// The capture that a stream is in.
/// @param to_use the stream is about to be used, not only asked about.
/// @throws Failure: cudaErrorStreamCaptureImplicit for the legacy stream while
/// a blocking stream is captured; with `to_use` that capture is invalid from
/// then on.
CaptureInfo capture_info(const Stream& stream, bool to_use = true);

/// Makes a node of what only graphs have, in a stream that is being captured.
/// @throws Failure: cudaErrorStreamCaptureInvalidated; cudaErrorIllegalState
/// when the capture has ended.
void capture_node(Stream& stream, Work work);

/// Records an event, captured or not.
/// @param external make a node that records the event when the graph runs.
void record_event(Stream& stream, std::shared_ptr<Event> event, bool external);

/// Lets a stream wait for an event, captured or not; a stream that waits for
/// captured work joins the capture.
/// @throws Failure: cudaErrorCapturedEvent when that capture has ended.
void wait_event(Stream& stream, std::shared_ptr<Event> event, bool external);

/// Replaces or adds to the nodes that the stream's next work depends on.
void update_capture_dependencies(
    Stream& stream,
    std::vector<Node*> nodes,
    bool replace);

/// To be called where a call would synchronize or is unsafe while streams are
/// captured, by the calling thread's mode.
/// @throws Failure: cudaErrorStreamCaptureUnsupported; captures that the call
/// breaks are invalid from then on.
void require_no_unsafe_capture();

/// Ends the captures that streams of a device take part in, whose graphs are
/// lost: the device is about to be reset.
void abandon_captures(const Device& device);

/// To be called before a stream is destroyed. One that the capture has been
/// forked to leaves it; its work has to be joined all the same.
/// @throws Failure as require_not_capturing() for the stream that began it.
void leave_capture(Stream& stream);

/// To be called where a captured stream cannot be used, as for waiting.
/// @throws Failure: cudaErrorStreamCaptureUnsupported, and the capture is
/// invalid from then on.
void require_not_capturing(const Stream& stream);

/// To be called where an event is asked about that may have been recorded in a
/// capture last, which may have ended. One that goes on is invalid then.
/// @throws Failure: cudaErrorCapturedEvent.
void require_not_captured(const Event& event);

/// To be called before a node of a graph, or the graph, is destroyed, which no
/// capture into it allows: streams and events keep its last nodes.
/// @throws Failure: cudaErrorInvalidValue.
void require_not_captured_into(const Graph& graph);

/// The same for all streams of a device.
void require_device_not_capturing(const Device& device);

} // namespace accelerator::runtime
