// The stand-in's runtime with its kernels: what a source that launches some
// includes.
#pragma once

#include "stand_kernels.h"
#include "stand_runtime_api.h"
