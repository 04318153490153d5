#include "runtime/core/backends/announce_api.h"

#include "runtime/core/backends/backends.h"

void accelerator_announce_library(const char* name, const char* path) {
  accelerator::runtime::announce_library(name, path);
}
