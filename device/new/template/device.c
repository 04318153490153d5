/*
 * The device "acme": a library of the device ABI with the required functions
 * and no optional group. As it comes, the device is the host: its memory is the
 * process's, and its streams are threads that do their work in order
 * (device/host_streams). Take the bodies out one by one and put
 * the device's driver in their place; where the driver has no streams, keep
 * these. The contract tests (BUILD.bazel) say whether it still is what the ABI
 * asks for.
 *
 * device_api.h says what each function has to do.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "device/abi/device_api.h"
#define DEVICE_LIBRARY "acme"
#include "device/errors/fail.h"
#include "device/host_streams/host_streams.h"

#define MEMORY (UINT64_C(16) << 30) /* bytes that the device has */

#define NEED_DEVICE(number) \
  if ((number) != 0)        \
  FAIL(ACCEL_NO_DEVICE, "no device %d, there is 0", (int)(number))

/* ---- The library and its device ---- */

static accel_status initialize(const char* options) {
  if (*options)
    FAIL(ACCEL_INVALID_ARGUMENT, "option %s: there are none", options);
  return ACCEL_OK;
}

static accel_status device_count(int32_t* count) {
  *count = 1;
  return ACCEL_OK;
}

static accel_status device_properties(int32_t device, accel_properties* to) {
  NEED_DEVICE(device);
  const accel_properties all = {
      .struct_size = to->struct_size,
      .name = "acme",
      .uuid = "accel acme",
      /* The host sees its memory, so that the CPU's kernels serve what has no
       * kernel of its own. */
      .capabilities = ACCEL_CAP_HOST_VISIBLE | ACCEL_CAP_CALLS_IN_CALLBACKS,
      .total_memory = MEMORY,
      .major = 8};
  memcpy(to, &all, to->struct_size < sizeof all ? to->struct_size : sizeof all);
  return ACCEL_OK;
}

static accel_status device_status(int32_t device) {
  NEED_DEVICE(device);
  return answer(__func__, device, host_device_fault(device));
}

/* ---- Work: what a stream's thread calls when its turn comes ---- */

/* A call of the driver may wait here. If it fails, the device is at fault from
 * then on: host_device_fail(device, ACCEL_DEVICE_LOST). */
static void do_copy(int32_t device, void* argument) {
  if (!host_device_fault(device))
    host_copy(argument);
}

static void do_fill(int32_t device, void* argument) {
  if (!host_device_fault(device))
    host_fill(argument);
}

struct call {
  accel_callback callback;
  void* data;
};

/* Also of a device at fault: somebody waits for what it does. */
static void do_call(int32_t device, void* argument) {
  (void)device;
  const struct call* call = argument;
  call->callback(call->data);
}

/* Ends the function when there was no memory to put work into a stream. */
#define NEED_ROOM(done) \
  if (!(done))          \
  FAIL(ACCEL_OUT_OF_MEMORY, "device 0: no memory of the host for work")

static accel_status copy(accel_stream stream, const accel_copy* copy) {
  NEED_BOX(0, copy);
  NEED_DEVICE(copy->to_device == ACCEL_HOST ? 0 : copy->to_device);
  NEED_DEVICE(copy->from_device == ACCEL_HOST ? 0 : copy->from_device);
  NEED_ROOM(host_stream_put(stream, do_copy, copy, sizeof *copy));
  return ACCEL_OK;
}

static accel_status fill(accel_stream stream, const accel_fill* fill) {
  const uint32_t size = fill->element_size;
  NEED(0, size, size == 1 || size == 2 || size == 4);
  NEED_BOX(0, fill);
  NEED(0, (uintptr_t)fill->to, (uintptr_t)fill->to % size == 0);
  NEED(0, fill->pitch, fill->pitch % size == 0);
  NEED(0, fill->slice, fill->slice % size == 0);
  NEED_ROOM(host_stream_put(stream, do_fill, fill, sizeof *fill));
  return ACCEL_OK;
}

static accel_status stream_callback(
    accel_stream stream,
    accel_callback callback,
    void* data) {
  const struct call call = {callback, data};
  NEED_ROOM(host_stream_put(stream, do_call, &call, sizeof call));
  return ACCEL_OK;
}

static accel_status device_synchronize(int32_t device) {
  NEED_DEVICE(device);
  return answer(__func__, device, host_device_status(device, true));
}

/* ---- Memory ---- */

struct allocation {
  struct allocation* next;
  void* begin;
  uint64_t bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of these two: */
static struct allocation* allocations;
static uint64_t used; /* bytes */

static void unlock(pthread_mutex_t** held) {
  pthread_mutex_unlock(*held);
}

/* Holds the lock from here to the end of the block. */
#define LOCK                                                      \
  __attribute__((cleanup(unlock))) pthread_mutex_t* held = &lock; \
  pthread_mutex_lock(held)

/* Frees the allocation at an address, or (null) all; false: there is none. */
static bool release(const void* only) {
  bool found = false;
  for (struct allocation **link = &allocations, *at; (at = *link);) {
    if (only && at->begin != only) {
      link = &at->next;
      continue;
    }
    found = true;
    *link = at->next;
    used -= at->bytes;
    free(at->begin);
    free(at);
  }
  return found;
}

static accel_status memory_allocate(
    int32_t device,
    uint64_t bytes,
    uint64_t alignment,
    void** address) {
  NEED_DEVICE(device);
  NEED(0, bytes, bytes > 0);
  NEED(0, alignment, (alignment & (alignment - 1)) == 0);
  const accel_status fault = host_device_fault(device);
  if (fault)
    return answer(__func__, device, fault);
  LOCK;
  struct allocation* made = malloc(sizeof *made);
  void* begin = NULL;
  if (!made || bytes > MEMORY - used ||
      posix_memalign(&begin, alignment > 256 ? alignment : 256, bytes) != 0) {
    free(made);
    FAIL(
        ACCEL_OUT_OF_MEMORY,
        "device 0: no %" PRIu64 " bytes; free are %" PRIu64,
        bytes,
        MEMORY - used);
  }
  *made = (struct allocation){allocations, begin, bytes};
  allocations = made;
  used += bytes;
  *address = begin;
  return ACCEL_OK;
}

static accel_status memory_free(int32_t device, void* address) {
  NEED_DEVICE(device);
  LOCK;
  if (!address || !release(address))
    FAIL(ACCEL_INVALID_ARGUMENT, "device 0: no memory begins at %p", address);
  return ACCEL_OK;
}

static accel_status memory_info(
    int32_t device,
    uint64_t* free_bytes,
    uint64_t* total_bytes) {
  NEED_DEVICE(device);
  LOCK;
  *free_bytes = MEMORY - used;
  *total_bytes = MEMORY;
  return ACCEL_OK;
}

static accel_status device_reset(int32_t device) {
  NEED_DEVICE(device);
  host_device_drain(device);
  LOCK;
  release(NULL);
  host_device_recover(device); /* the last: others allocate from here on */
  return ACCEL_OK;
}

/* ---- Streams ---- */

static accel_status stream_create(
    int32_t device,
    int32_t priority,
    accel_stream* stream) {
  (void)priority;
  NEED_DEVICE(device);
  *stream = host_stream_create(device);
  if (!*stream)
    FAIL(ACCEL_OUT_OF_MEMORY, "no thread for device 0");
  return ACCEL_OK;
}

static accel_status stream_destroy(accel_stream stream) {
  host_stream_destroy(stream);
  return ACCEL_OK;
}

static accel_status stream_query(accel_stream stream) {
  return answer(__func__, 0, host_stream_status(stream, false));
}

static accel_status stream_synchronize(accel_stream stream) {
  return answer(__func__, 0, host_stream_status(stream, true));
}

static accel_status stream_wait_event(accel_stream stream, accel_event event) {
  NEED_ROOM(host_stream_wait_event(stream, event));
  return ACCEL_OK;
}

/* ---- Events ---- */

static accel_status event_create(
    int32_t device,
    int32_t timing,
    accel_event* event) {
  (void)timing;
  NEED_DEVICE(device);
  *event = host_event_create(device);
  if (!*event)
    FAIL(ACCEL_OUT_OF_MEMORY, "device 0: no memory of the host for an event");
  return ACCEL_OK;
}

static accel_status event_destroy(accel_event event) {
  host_event_destroy(event);
  return ACCEL_OK;
}

static accel_status event_record(accel_event event, accel_stream stream) {
  host_event_record(event, stream);
  return ACCEL_OK;
}

static accel_status event_query(accel_event event) {
  return answer(__func__, 0, host_event_status(event, false));
}

static accel_status event_synchronize(accel_event event) {
  return answer(__func__, 0, host_event_status(event, true));
}

/* ---- The struct ---- */

static accel_status finalize(void) {
  host_streams_finalize();
  LOCK;
  release(NULL);
  return ACCEL_OK;
}

static const accel_api api = {
    .struct_size = sizeof(accel_api),
    .abi_version = ACCEL_ABI_VERSION,
    .name = "acme",
    .last_error = last_error,
    .initialize = initialize,
    .finalize = finalize,
    .device_count = device_count,
    .device_properties = device_properties,
    .device_synchronize = device_synchronize,
    .device_status = device_status,
    .device_reset = device_reset,
    .memory_allocate = memory_allocate,
    .memory_free = memory_free,
    .memory_info = memory_info,
    .copy = copy,
    .fill = fill,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_query = stream_query,
    .stream_synchronize = stream_synchronize,
    .stream_wait_event = stream_wait_event,
    .stream_callback = stream_callback,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_query = event_query,
    .event_synchronize = event_synchronize};

const accel_api* accel_get_api(uint32_t runtime_version) {
  return runtime_version == ACCEL_ABI_VERSION ? &api : NULL;
}
