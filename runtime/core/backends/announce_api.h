// What Python says about libraries that installed distributions bring.
#pragma once

extern "C" {

/// Has TORCH_CUDA_DEVICES=NAME find a library in a file. Before CUDA is first
/// used; names that are linked in or lie beside this library come first.
/// @param name as in TORCH_CUDA_DEVICES, @param path of the library.
void accelerator_announce_library(const char* name, const char* path);
}
