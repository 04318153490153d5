// The state of an interprocess event, in a file that the processes share.
#pragma once

#include <driver_types.h>

#include <cstdint>

namespace accelerator::runtime {

struct SharedEvent;

/// Names an event for other processes.
/// @throws Failure: cudaErrorInvalidResourceHandle for null: it is not
/// interprocess.
cudaIpcEventHandle_t export_event(const SharedEvent* event);

/// Maps the state behind an event of another (or this) process.
/// @throws Failure: cudaErrorInvalidValue when the handle names no event;
/// cudaErrorMapBufferObjectFailed when the process that made it has ended.
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
/// Whether a record will never be reached, because the process that asked for
/// it has ended.
bool shared_lost(const SharedEvent* event, std::uint64_t number);
/// @returns false when the record is lost.
bool wait_shared(const SharedEvent* event, std::uint64_t number);

} // namespace accelerator::runtime
