// The part of a stock torch that asks the loader for a library of CUDA's.
const char* whose_library(void);

const char* whose_library_torch_has(void) {
  return whose_library();
}
