// NVTX without a tool that listens: ranges are not kept, as with NVIDIA's own
// library when no profiler is attached. Functions that only notify are
// completed by runtime/dropin.
// Source: NVTX, nvToolsExt.h: a negative level says that ranges are not tracked.

static const int kNotTracked = -2;

int nvtxRangePushA(const char* message);
int nvtxRangePushW(const void* message);
int nvtxRangePushEx(const void* attributes);
int nvtxRangePop(void);

int nvtxRangePushA(const char* message) {
  (void)message;
  return kNotTracked;
}

int nvtxRangePushW(const void* message) {
  (void)message;
  return kNotTracked;
}

int nvtxRangePushEx(const void* attributes) {
  (void)attributes;
  return kNotTracked;
}

int nvtxRangePop(void) {
  return kNotTracked;
}
