// What calls of the driver API cost on a device, apart from what the device
// computes: calls LIBCUDA, a path of libcuda.so.1. Prints a name and
// microseconds a line, the best of many rounds.
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

const char kKernel[] = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing(.param .u64 p, .param .u32 n) { ret; }
)";
constexpr int kRounds = 40;

void* library = nullptr;

template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

void check(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) {
    std::fprintf(stderr, "%s: error %d\n", what, static_cast<int>(result));
    std::exit(1);
  }
}

// `calls` calls, then `wait`; microseconds a call.
template <class Call, class Wait>
void measure(const char* name, int calls, const Call& call, const Wait& wait) {
  using Clock = std::chrono::steady_clock;
  double best = 1e12;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) {
      check(call(), name);
    }
    check(wait(), name);
    const std::chrono::duration<double, std::micro> spent =
        Clock::now() - begin;
    best = std::min(best, spent.count() / calls);
  }
  std::printf("%s %.4f\n", name, best);
}

} // namespace

int main(int count, char** arguments) {
  library = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL) : nullptr;
  if (library == nullptr) {
    std::fprintf(
        stderr, "usage: calls LIBCUDA; %s\n", count == 2 ? dlerror() : "");
    return 2;
  }
  check(find<decltype(cuInit)>("cuInit")(0), "cuInit");
  CUcontext context{};
  check(
      find<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain")(
          &context, 0),
      "context");
  check(find<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent")(context), "current");
  CUmodule module{};
  CUfunction nothing{};
  check(
      find<decltype(cuModuleLoadData)>("cuModuleLoadData")(&module, kKernel),
      "module");
  check(
      find<decltype(cuModuleGetFunction)>("cuModuleGetFunction")(
          &nothing, module, "nothing"),
      "function");
  CUstream stream{};
  check(
      find<decltype(cuStreamCreate)>("cuStreamCreate")(
          &stream, CU_STREAM_NON_BLOCKING),
      "stream");
  CUevent event{};
  check(
      find<decltype(cuEventCreate)>("cuEventCreate")(
          &event, CU_EVENT_DISABLE_TIMING),
      "event");
  constexpr size_t kLarge = 1 << 20;
  CUdeviceptr memory{};
  check(find<decltype(cuMemAlloc)>("cuMemAlloc_v2")(&memory, kLarge), "memory");
  std::vector<char> host(kLarge);

  const auto synchronize =
      find<decltype(cuStreamSynchronize)>("cuStreamSynchronize");
  const auto launch = find<decltype(cuLaunchKernel)>("cuLaunchKernel");
  const auto write = find<decltype(cuMemcpyHtoD)>("cuMemcpyHtoD_v2");
  const auto read = find<decltype(cuMemcpyDtoH)>("cuMemcpyDtoH_v2");
  const auto fill = find<decltype(cuMemsetD8Async)>("cuMemsetD8Async");
  const auto record = find<decltype(cuEventRecord)>("cuEventRecord");
  const auto query = find<decltype(cuStreamQuery)>("cuStreamQuery");

  const auto wait = [&] { return synchronize(stream); };
  const auto run = [&] {
    unsigned n = 0;
    void* parameters[] = {&memory, &n};
    return launch(nothing, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
  };
  measure("launch", 1000, run, wait);
  measure(
      "launch_and_wait",
      200,
      [&] {
        check(run(), "launch");
        return wait();
      },
      wait);
  measure(
      "write_4_bytes",
      500,
      [&] { return write(memory, host.data(), 4); },
      wait);
  measure(
      "read_4_bytes", 500, [&] { return read(host.data(), memory, 4); }, wait);
  measure(
      "write_1_MiB",
      20,
      [&] { return write(memory, host.data(), kLarge); },
      wait);
  measure(
      "fill_4_bytes", 1000, [&] { return fill(memory, 0, 4, stream); }, wait);
  measure("record", 1000, [&] { return record(event, stream); }, wait);
  measure("query", 1000, [&] { return query(stream); }, wait);
  return 0;
}
