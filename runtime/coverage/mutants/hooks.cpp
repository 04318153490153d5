#include "runtime/coverage/mutants/hooks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t kMost = 4096;
// CUDA's "unknown error"; cuBLAS knows no such number, and no success either.
constexpr int kError = 999;

unsigned char called_early[kMost];

/// Where functions return to that are to answer an error, by thread.
std::vector<void*>& returns() {
  static thread_local std::vector<void*> addresses;
  return addresses;
}

} // namespace

extern "C" {
// hooks.py writes these.
extern const char* const coverage_hooked_names[];
extern const unsigned coverage_hooked_count;

// dispatch.S reads these.
unsigned char* coverage_called = called_early;
int coverage_mutant = -1;
int coverage_mutant_status = 0;

void coverage_enter(void* address) {
  returns().push_back(address);
}
void* coverage_leave() {
  void* address = returns().back();
  returns().pop_back();
  return address;
}
}

namespace accelerator::coverage {
namespace {

pid_t process = 0;

/// Before any initialiser of the test: those that register kernels call too.
__attribute__((constructor(101))) void choose() {
  // What a forked child calls, its parent knows.
  void* shared = mmap(
      nullptr,
      kMost,
      PROT_READ | PROT_WRITE,
      MAP_SHARED | MAP_ANONYMOUS,
      -1,
      0);
  if (shared == MAP_FAILED || coverage_hooked_count > kMost) {
    std::abort();
  }
  coverage_called = static_cast<unsigned char*>(shared);
  process = getpid();
  const char* mutant = std::getenv("COVERAGE_MUTANT");
  const char* kind = mutant == nullptr ? nullptr : std::strchr(mutant, '=');
  if (kind == nullptr) {
    return;
  }
  const std::size_t length = static_cast<std::size_t>(kind - mutant);
  for (unsigned i = 0; i < coverage_hooked_count; ++i) {
    const char* name = coverage_hooked_names[i];
    if (std::strlen(name) == length && std::memcmp(name, mutant, length) == 0) {
      coverage_mutant = static_cast<int>(i);
    }
  }
  coverage_mutant_status = std::strcmp(kind, "=error") == 0 ? kError : 0;
}

__attribute__((destructor)) void write_rest() {
  if (getpid() == process) {
    write_calls("", true);
  }
}

} // namespace

void write_calls(const std::string& test, bool passed) {
  const char* path = std::getenv("COVERAGE_CALLS");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "a");
  if (file == nullptr) {
    return;
  }
  if (!passed) {
    std::fprintf(file, "%s\t\n", test.c_str());
  }
  for (unsigned i = 0; i < coverage_hooked_count; ++i) {
    if (coverage_called[i] != 0 && passed) {
      std::fprintf(file, "%s\t%s\n", test.c_str(), coverage_hooked_names[i]);
    }
    coverage_called[i] = 0;
  }
  std::fclose(file);
}

} // namespace accelerator::coverage
