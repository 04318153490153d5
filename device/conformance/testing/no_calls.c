/*
 * The fake device without ACCEL_CAP_CALLS_IN_CALLBACKS: its callbacks must not
 * call it, as those of a device with a driver of its own.
 */
#include <pthread.h>
#include <stddef.h>

#include "device/abi/device_api.h"

/* The build calls the fake's entry point so; this file has the name itself. */
#undef accel_get_api
const accel_api* fake_get_api(uint32_t runtime_version);

static accel_api api;

static accel_status properties(int32_t device, accel_properties* to) {
  accel_status status =
      fake_get_api(ACCEL_ABI_VERSION)->device_properties(device, to);
  if (status == ACCEL_OK &&
      ACCEL_HAS_MEMBER(accel_properties, to->struct_size, capabilities))
    to->capabilities &= ~(uint64_t)ACCEL_CAP_CALLS_IN_CALLBACKS;
  return status;
}

static void fill_in(void) {
  api = *fake_get_api(ACCEL_ABI_VERSION);
  api.name = "fake_no_calls";
  api.device_properties = properties;
}

const accel_api* accel_get_api(uint32_t runtime_version) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, fill_in);
  return runtime_version == ACCEL_ABI_VERSION ? &api : NULL;
}
