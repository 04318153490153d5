// Memory pools of places. Source: CUDA driver API, stream ordered memory
// allocator.
#include "runtime/api/driver/perform.h"
#include "runtime/core/operations/pools.h"

using namespace accelerator::runtime::operations;
using accelerator::driver::perform;

API_FUNCTION(3, cuMemGetDefaultMemPool, mem_get_default_mem_pool)
API_FUNCTION(3, cuMemGetMemPool, mem_get_mem_pool)
API_FUNCTION(3, cuMemSetMemPool, mem_set_mem_pool)
