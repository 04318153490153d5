// A router that serves nothing, and says what it was told.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char announced[1024];
static int started;
static int later;

void torch_cuda_announce_operators(const char* name, const char* path) {
  const size_t used = strlen(announced);
  snprintf(announced + used, sizeof(announced) - used, "%s=%s;", name, path);
}

int torch_cuda_route_operators(char* message, size_t capacity) {
  const char* const fault = getenv("PRETENDED_ROUTER_FAULT");
  if (fault != NULL) {
    snprintf(message, capacity, "%s", fault);
    return -1;
  }
  return ++started;
}

int torch_cuda_route_new_operators(char* message, size_t capacity) {
  snprintf(message, capacity, "%s", "no such libraries");
  return getenv("PRETENDED_LIBRARY_FAULT") == NULL ? ++later : -1;
}

int how_often_again(void) {
  return later;
}

int torch_cuda_sleep(long long cycles) {
  return cycles > 0 ? 1 : 0;
}

const char* announced_operators(void) {
  return announced;
}
