/*
 * The first version of the device ABI, frozen: the struct ends after the
 * required functions. It takes the place of device_api.h (by its include guard)
 * in the build of a library that stands for the old ones, which keep loading.
 * Never change it with device_api.h.
 */
#ifndef ACCELERATOR_ABI_DEVICE_API_H_
#define ACCELERATOR_ABI_DEVICE_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACCEL_ABI_VERSION 1u
#define ACCEL_ENTRY_POINT "accel_get_api"
#define ACCEL_HAS_MEMBER(type, size, member) \
  ((size) >= offsetof(type, member) + sizeof(((type*)0)->member))

typedef enum accel_status {
  ACCEL_OK = 0,
  ACCEL_NOT_READY = 1,
  ACCEL_INVALID_ARGUMENT = 2,
  ACCEL_OUT_OF_MEMORY = 3,
  ACCEL_NOT_SUPPORTED = 4,
  ACCEL_NO_DEVICE = 5,
  ACCEL_NOT_FOUND = 6,
  ACCEL_INVALID_IMAGE = 7,
  ACCEL_INVALID_CODE = 8,
  ACCEL_NO_IMAGE_FOR_DEVICE = 9,
  ACCEL_ALREADY = 10,
  ACCEL_OTHER_ENDED = 11,
  ACCEL_UNKNOWN = 99,

  ACCEL_DEVICE_LOST = 100,
  ACCEL_ILLEGAL_ADDRESS = 101,
  ACCEL_MISALIGNED_ADDRESS = 102,
  ACCEL_ILLEGAL_INSTRUCTION = 103,
  ACCEL_ASSERT = 104,
  ACCEL_LAUNCH_FAILURE = 105,
  ACCEL_LAUNCH_TIMEOUT = 106,
  ACCEL_STACK_OVERFLOW = 107,
  ACCEL_UNSUPPORTED_CODE = 108
} accel_status;

#define ACCEL_IS_FAULT(status) ((status) >= 100)

typedef struct accel_stream_object* accel_stream;
typedef struct accel_event_object* accel_event;

typedef void (*accel_callback)(void* data);

typedef enum accel_capability {
  ACCEL_CAP_HOST_VISIBLE = 1 << 0,
  ACCEL_CAP_CALLS_IN_CALLBACKS = 1 << 1,
  ACCEL_CAP_TIMING = 1 << 2,
  ACCEL_CAP_PINNED = 1 << 3,
  ACCEL_CAP_MANAGED = 1 << 4,
  ACCEL_CAP_STREAM_ORDERED = 1 << 5,
  ACCEL_CAP_PEER = 1 << 6,
  ACCEL_CAP_IPC = 1 << 7,
  ACCEL_CAP_VIRTUAL = 1 << 8,
  ACCEL_CAP_SUBMIT = 1 << 9,
  ACCEL_CAP_CODE = 1 << 10,
  ACCEL_CAP_COLLECTIVES = 1 << 11
} accel_capability;

typedef enum accel_code_format {
  ACCEL_CODE_PTX = 1 << 0,
  ACCEL_CODE_OWN = 1 << 1
} accel_code_format;

typedef struct accel_properties {
  size_t struct_size;
  char name[256];
  unsigned char uuid[16];
  uint64_t capabilities;
  uint64_t code_formats;
  uint64_t total_memory;
  int32_t major;
  int32_t minor;
  int32_t multiprocessors;
  int32_t threads_per_multiprocessor;
  int32_t threads_per_block;
  int32_t warp_size;
  int32_t registers_per_block;
  int32_t registers_per_multiprocessor;
  uint64_t shared_per_block;
  uint64_t shared_per_block_optin;
  uint64_t shared_per_multiprocessor;
  int32_t clock_khz;
  int32_t memory_clock_khz;
  int32_t memory_bus_bits;
  int32_t l2_bytes;
  int32_t pci_domain;
  int32_t pci_bus;
  int32_t pci_device;
} accel_properties;

typedef struct accel_copy {
  size_t struct_size;
  void* to;
  const void* from;
  uint64_t width;
  uint64_t height;
  uint64_t depth;
  uint64_t to_pitch;
  uint64_t from_pitch;
  uint64_t to_slice;
  uint64_t from_slice;
  int32_t to_device;
  int32_t from_device;
} accel_copy;

#define ACCEL_HOST (-1)

typedef struct accel_fill {
  size_t struct_size;
  void* to;
  uint32_t value;
  uint32_t element_size;
  uint64_t width;
  uint64_t height;
  uint64_t depth;
  uint64_t pitch;
  uint64_t slice;
} accel_fill;

typedef struct accel_api {
  size_t struct_size;
  uint32_t abi_version;
  const char* name;

  const char* (*last_error)(void);

  accel_status (*initialize)(const char* options);
  accel_status (*finalize)(void);

  accel_status (*device_count)(int32_t* count);
  accel_status (
      *device_properties)(int32_t device, accel_properties* properties);
  accel_status (*device_synchronize)(int32_t device);
  accel_status (*device_status)(int32_t device);
  accel_status (*device_reset)(int32_t device);

  accel_status (*memory_allocate)(
      int32_t device,
      uint64_t bytes,
      uint64_t alignment,
      void** address);
  accel_status (*memory_free)(int32_t device, void* address);
  accel_status (*memory_info)(
      int32_t device,
      uint64_t* free_bytes,
      uint64_t* total_bytes);

  accel_status (*copy)(accel_stream stream, const accel_copy* copy);
  accel_status (*fill)(accel_stream stream, const accel_fill* fill);

  accel_status (
      *stream_create)(int32_t device, int32_t priority, accel_stream* stream);
  accel_status (*stream_destroy)(accel_stream stream);
  accel_status (*stream_query)(accel_stream stream);
  accel_status (*stream_synchronize)(accel_stream stream);
  accel_status (*stream_wait_event)(accel_stream stream, accel_event event);
  accel_status (*stream_callback)(
      accel_stream stream,
      accel_callback callback,
      void* data);

  accel_status (
      *event_create)(int32_t device, int32_t timing, accel_event* event);
  accel_status (*event_destroy)(accel_event event);
  accel_status (*event_record)(accel_event event, accel_stream stream);
  accel_status (*event_query)(accel_event event);
  accel_status (*event_synchronize)(accel_event event);
} accel_api;

typedef const accel_api* (*accel_get_api_function)(uint32_t runtime_version);

#ifdef __cplusplus
}
#endif

#endif
