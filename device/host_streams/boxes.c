/* Copies and fills of boxes of bytes in memory that the host sees. */
#include <string.h>

#include "device/host_streams/host_streams.h"

void host_copy(const accel_copy* copy) {
  char* to = copy->to;
  const char* from = copy->from;
  for (uint64_t z = 0; z < copy->depth; ++z)
    for (uint64_t y = 0; y < copy->height; ++y)
      memmove(
          to + z * copy->to_slice + y * copy->to_pitch,
          from + z * copy->from_slice + y * copy->from_pitch,
          copy->width);
}

void host_fill(const accel_fill* fill) {
  for (uint64_t z = 0; z < fill->depth; ++z)
    for (uint64_t y = 0; y < fill->height; ++y) {
      char* to = (char*)fill->to + z * fill->slice + y * fill->pitch;
      for (uint64_t x = 0; x < fill->width; ++x, to += fill->element_size)
        memcpy(to, &fill->value, fill->element_size); /* the low bytes */
    }
}
