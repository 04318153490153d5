/*
 * Errors of a device's library that is written in C: the text of the thread's
 * last one, and how a function ends with one. Included by one file of the
 * library, which defines DEVICE_LIBRARY, its name as a string, before.
 */
#ifndef ACCELERATOR_BACKENDS_ERRORS_FAIL_H_
#define ACCELERATOR_BACKENDS_ERRORS_FAIL_H_

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "device/abi/device_api.h"

static _Thread_local char error_text[512] = DEVICE_LIBRARY ": no error";

/* The ABI's function. */
static inline const char* last_error(void) {
  return error_text;
}

/* Keeps a text, as printf writes it behind the function's name; gives the
 * status. */
__attribute__((format(printf, 3, 4))) static inline accel_status fail(
    const char* function,
    accel_status status,
    const char* format,
    ...) {
  va_list values;
  va_start(values, format);
  int used = snprintf(
      error_text, sizeof error_text, DEVICE_LIBRARY ": %s: ", function);
  vsnprintf(error_text + used, sizeof error_text - used, format, values);
  va_end(values);
  return status;
}

/* Gives a status on; a fault of the device gets a text. */
static inline accel_status answer(
    const char* function,
    int32_t device,
    accel_status status) {
  if (!ACCEL_IS_FAULT(status))
    return status;
  return fail(
      function,
      status,
      "device %d is %s until device_reset",
      (int)device,
      status == ACCEL_DEVICE_LOST ? "lost" : "at fault");
}

/* Ends a function of the ABI with a status and a text. */
#define FAIL(status, ...) return fail(__func__, status, __VA_ARGS__)

/* Ends it when an argument, a whole number, is not as needed. */
#define NEED(device, argument, condition)           \
  if (!(condition))                                 \
  FAIL(                                             \
      ACCEL_INVALID_ARGUMENT,                       \
      "device %d: %s is %" PRIu64 ", needed is %s", \
      (int)(device),                                \
      #argument,                                    \
      (uint64_t)(argument),                         \
      #condition)

/* Ends it when a box of bytes, a copy's or a fill's, is empty.
 * box: a name. */
#define NEED_BOX(device, box)                 \
  NEED(device, box->width, box->width > 0);   \
  NEED(device, box->height, box->height > 0); \
  NEED(device, box->depth, box->depth > 0)

#endif /* ACCELERATOR_BACKENDS_ERRORS_FAIL_H_ */
