/*
 * The fake device with optional groups, as simple as they can be, so that their
 * contract tests are run: pinned, managed, stream-ordered, peer, submit.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#include "device/abi/device_api.h"

/* The build calls the fake's entry point so; this file has the name itself. */
#undef accel_get_api
const accel_api* fake_get_api(uint32_t runtime_version);

enum { PAGE = 4096, MOST = 64 };

static accel_api api;
/* Of the thread's last error in this file, until it has been shown. */
static _Thread_local const char* text;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* registered[MOST];

static accel_status fail(accel_status status, const char* what) {
  text = what;
  return status;
}

static const char* last_error(void) {
  const char* mine = text;
  text = NULL;
  return mine ? mine : fake_get_api(ACCEL_ABI_VERSION)->last_error();
}

static accel_status properties(int32_t device, accel_properties* to) {
  const accel_api* fake = fake_get_api(ACCEL_ABI_VERSION);
  accel_status status = fake->device_properties(device, to);
  if (status == ACCEL_OK &&
      ACCEL_HAS_MEMBER(accel_properties, to->struct_size, capabilities))
    to->capabilities |= ACCEL_CAP_PINNED | ACCEL_CAP_MANAGED |
        ACCEL_CAP_STREAM_ORDERED | ACCEL_CAP_PEER | ACCEL_CAP_SUBMIT;
  return status;
}

static accel_status host_allocate(uint64_t bytes, void** address) {
  *address = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
  return *address ? ACCEL_OK
                  : fail(ACCEL_OUT_OF_MEMORY, "host_allocate: no memory");
}

static accel_status host_free(void* address) {
  free(address);
  return ACCEL_OK;
}

/* Puts one address in the place of another. */
static accel_status replace(void* old, void* new, accel_status otherwise) {
  accel_status status = otherwise;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST && status != ACCEL_OK; ++i)
    if (registered[i] == old) {
      registered[i] = new;
      status = ACCEL_OK;
    }
  pthread_mutex_unlock(&lock);
  return status;
}

static accel_status host_register(void* address, uint64_t bytes) {
  (void)bytes;
  if (replace(address, address, ACCEL_NOT_FOUND) == ACCEL_OK)
    return fail(ACCEL_ALREADY, "host_register: registered already");
  return replace(NULL, address, ACCEL_OUT_OF_MEMORY) == ACCEL_OK
      ? ACCEL_OK
      : fail(ACCEL_OUT_OF_MEMORY, "host_register: too many");
}

static accel_status host_unregister(void* address) {
  return replace(address, NULL, ACCEL_INVALID_ARGUMENT) == ACCEL_OK
      ? ACCEL_OK
      : fail(ACCEL_INVALID_ARGUMENT, "host_unregister: not registered");
}

static accel_status managed_allocate(
    int32_t device,
    uint64_t bytes,
    void** address) {
  return api.memory_allocate(device, bytes, 0, address);
}

static accel_status managed_free(void* address) {
  return api.memory_free(0, address);
}

static accel_status memory_allocate_async(
    accel_stream stream,
    uint64_t bytes,
    void** address) {
  (void)stream;
  return api.memory_allocate(0, bytes, 0, address);
}

static void free_now(void* address) {
  api.memory_free(0, address);
}

static accel_status memory_free_async(accel_stream stream, void* address) {
  return api.stream_callback(stream, free_now, address);
}

static accel_status peer_possible(int32_t from, int32_t to, int32_t* possible) {
  *possible = from != to;
  return ACCEL_OK;
}

static accel_status peer_enable(int32_t from, int32_t to, int32_t enabled) {
  (void)from, (void)to, (void)enabled;
  return ACCEL_OK;
}

static accel_status memory_share(void* at, int32_t device, int32_t enabled) {
  (void)at, (void)device, (void)enabled;
  return ACCEL_OK;
}

static accel_status stream_submit(
    accel_stream stream,
    accel_status (*function)(void* native_stream, void* data),
    void* data) {
  return function(stream, data);
}

static void fill_in(void) {
  api = *fake_get_api(ACCEL_ABI_VERSION);
  api.name = "fake_groups";
  api.last_error = last_error;
  api.device_properties = properties;
  api.host_allocate = host_allocate;
  api.host_free = host_free;
  api.host_register = host_register;
  api.host_unregister = host_unregister;
  api.managed_allocate = managed_allocate;
  api.managed_free = managed_free;
  api.memory_allocate_async = memory_allocate_async;
  api.memory_free_async = memory_free_async;
  api.peer_possible = peer_possible;
  api.peer_enable = peer_enable;
  api.memory_share = memory_share;
  api.stream_submit = stream_submit;
}

const accel_api* accel_get_api(uint32_t runtime_version) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, fill_in);
  return runtime_version == ACCEL_ABI_VERSION ? &api : NULL;
}
