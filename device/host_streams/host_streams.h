/*
 * Streams and events for the library of a device that has none of its own: a
 * stream is a thread of the host that does its work in order, an event is a
 * mark in it. The library of the device says what a piece of work is; that may
 * be a call of a driver that waits. All work of a stream is called on its
 * thread, so that what a driver wants set in each thread can be set there.
 *
 * The functions may be called from any thread, also from within work, so that
 * such a device has ACCEL_CAP_CALLS_IN_CALLBACKS; but work that waits for its
 * own stream or device, or finalizes, waits for ever. What comes from outside,
 * such as numbers of devices, the library of the device checks before.
 */
#ifndef ACCELERATOR_BACKENDS_HOST_STREAMS_HOST_STREAMS_H_
#define ACCELERATOR_BACKENDS_HOST_STREAMS_HOST_STREAMS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/abi/device_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Devices are numbered from 0 on, below this. */
enum { MOST_HOST_DEVICES = 64 };

/* The work up to a ticket, of a stream or (null) of all of the device's. It is
 * reached when none of that is left; a stream that is gone has none. Tickets
 * begin at 1 and are not used twice. */
struct accel_event_object {
  int32_t device;
  accel_stream stream;
  uint64_t ticket;
};

/* A piece of work. It is called also when the device has a fault: callbacks are
 * called then; copies, fills and the like ask host_device_fault and leave it.
 * `argument`: what was put in, 16-byte aligned. */
typedef void (*host_work)(int32_t device, void* argument);

/* Starts a thread; null without one, without memory, or where the device's
 * number is too large. */
accel_stream host_stream_create(int32_t device);
/* Lets the thread end when it has done what it was given; not waited for. */
void host_stream_destroy(accel_stream stream);
int32_t host_stream_device(accel_stream stream);
/* Puts work behind all other, with a copy of `bytes` bytes of its argument;
 * false without memory. */
bool host_stream_put(
    accel_stream stream,
    host_work work,
    const void* argument,
    size_t bytes);
/* Work that waits for what the event marks as this is called; false without
 * memory. A device with a fault does not wait. */
bool host_stream_wait_event(accel_stream stream, accel_event event);

/* An event that marks nothing; null without memory. */
accel_event host_event_create(int32_t device);
/* Who waits for it still does. */
void host_event_destroy(accel_event event);
/* Marks the work that the stream has been given. Faults are those of the
 * event's device: device_api.h wants one event's streams to be of one. */
void host_event_record(accel_event event, accel_stream stream);

/* Of the work of a stream, before an event, of all streams of a device: the
 * fault of the device, else ACCEL_OK if it is done, else ACCEL_NOT_READY.
 * `wait`: once it is done, or the device has a fault. */
accel_status host_stream_status(accel_stream stream, bool wait);
accel_status host_event_status(accel_event event, bool wait);
accel_status host_device_status(int32_t device, bool wait);

/* Gives the device a fault (ACCEL_IS_FAULT), such as ACCEL_DEVICE_LOST: who
 * waits for it gets that. The first fault stays. */
void host_device_fail(int32_t device, accel_status fault);
/* ACCEL_OK while it has none. */
accel_status host_device_fault(int32_t device);
/* Waits until all work that the device was given is done or, by work that asks
 * for a fault, dropped. */
void host_device_drain(int32_t device);
/* Takes the fault away. A reset of the device drains it, frees its memory, and
 * does this last: who sees no fault uses it at once. */
void host_device_recover(int32_t device);

/* Drops the work of all streams, waits for what is being done, and destroys
 * the streams. */
void host_streams_finalize(void);

/* The copy and the fill of device_api.h where the host sees both sides. */
void host_copy(const accel_copy* copy);
void host_fill(const accel_fill* fill);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ACCELERATOR_BACKENDS_HOST_STREAMS_HOST_STREAMS_H_ */
