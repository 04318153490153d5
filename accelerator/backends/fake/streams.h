/* Streams of the fake device: each is a thread that does its work in order. */
#ifndef ACCELERATOR_BACKENDS_FAKE_STREAMS_H_
#define ACCELERATOR_BACKENDS_FAKE_STREAMS_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "accelerator/abi/device_api.h"

struct device {
  struct allocation* allocations;
  uint64_t used, allocated, pieces; /* bytes; how often; work done */
  atomic_int fault; /* accel_status; written with the lock */
};

/* An event is the work up to a ticket, of a stream or (null) of all of the
 * device's. It is reached when none of that is left; a stream that is gone has
 * none. Tickets begin at 1 and are not used twice. */
struct accel_event_object {
  struct device* device;
  accel_stream stream;
  uint64_t ticket;
};

struct work { /* one of the first four, the others are zero */
  accel_copy copy;
  accel_fill fill;
  accel_callback callback;
  accel_event event; /* to wait for, as it was when this was put in: */
  struct accel_event_object mark;
  void* data; /* the callback's */
  uint64_t ticket;
  struct work* next;
};

struct accel_stream_object {
  accel_stream next;
  struct device* device;
  struct work *first, *last; /* the first one is being done */
  pthread_cond_t given; /* signalled when the thread has something to do */
  bool destroyed;
};

/* Hidden memory is given out by addresses that nothing is mapped at. */
static const uintptr_t hidden_by = (uintptr_t)1 << 54;
static inline char* seen(const void* address) {
  return (char*)((uintptr_t)address & ~hidden_by);
}

/* Guards all state. The functions below are called with it. */
extern pthread_mutex_t lock;
/* The last one that was given to work. */
extern uint64_t last_ticket;

bool reached(const struct accel_event_object* event);
/* Until it is reached or, with `or_fault`, its device has a fault. */
void wait_until(const struct accel_event_object* event, bool or_fault);
/* Puts a copy of it behind all other work; false without memory. */
bool put(accel_stream stream, const struct work* work);
/* Starts the thread; false without one. */
bool start_stream(accel_stream stream);
/* Lets the thread end when it is done, and free the stream. */
void end_stream(accel_stream stream);
/* Drops the work of all streams and waits until they are gone. */
void end_all_streams(void);

#endif /* ACCELERATOR_BACKENDS_FAKE_STREAMS_H_ */
