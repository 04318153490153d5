// What Python tells the device runtime, kept so that a test can ask for it.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char announced[1024];

void accelerator_announce_library(const char* name, const char* path) {
  const size_t used = strlen(announced);
  snprintf(announced + used, sizeof(announced) - used, "%s=%s;", name, path);
}

const char* announced_libraries(void) {
  return announced;
}

int accelerator_device_capabilities(int device, uint64_t* capabilities) {
  *capabilities = 0;
  return device == 0 ? 0 : 1;
}
