// Memory and events of one process used by another on the same machine. A
// handle says process and file descriptor; the other one opens that file
// through /proc, which the kernel allows to the same user.
#pragma once

#include <driver_types.h>

#include <cstdint>

namespace cudasim::device {

class Machine;
class Device;
class Event;
struct SharedEvent;

/// Names the allocation that begins at `memory` for other processes.
/// @throws Failure: cudaErrorInvalidValue when nothing begins there.
cudaIpcMemHandle_t export_memory(Machine& machine, const void* memory);

/// Maps the memory of another process; the same handle opened twice gives the
/// same address.
/// @throws Failure: cudaErrorDeviceUninitialized for a handle of this process,
/// as CUDA answers; cudaErrorMapBufferObjectFailed when the other is gone.
void* import_memory(
    Machine& machine,
    Device& device,
    const cudaIpcMemHandle_t& handle);

/// Ends what import_memory() began, once it was called as often.
/// @throws Failure: cudaErrorInvalidValue.
void close_memory(Machine& machine, void* memory);

/// @throws Failure: cudaErrorInvalidResourceHandle when it is not interprocess.
cudaIpcEventHandle_t export_event(const Event& event);

/// Maps the state behind an event of another (or this) process.
SharedEvent* import_event(const cudaIpcEventHandle_t& handle);

SharedEvent* create_shared_event();
SharedEvent* retain_shared_event(SharedEvent* event);
void release_shared_event(SharedEvent* event);
/// Counts a record that has been asked for and returns its number.
std::uint64_t begin_shared_record(SharedEvent* event);
/// That record has been reached.
void end_shared_record(SharedEvent* event, std::uint64_t number);
/// The number of the last record asked for, by any process.
std::uint64_t shared_recorded(const SharedEvent* event);
bool shared_reached(const SharedEvent* event, std::uint64_t number);
void wait_shared(const SharedEvent* event, std::uint64_t number);

} // namespace cudasim::device
