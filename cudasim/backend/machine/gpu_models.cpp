#include "cudasim/backend/machine/gpu_models.h"

#include <cstdio>
#include <cstring>
#include <iterator>

#include "cudasim/backend/machine/settings.h"

namespace cudasim::backend {
namespace {

// Threads and shared memory follow the compute capability (CUDA programming
// guide, technical specifications), L2, memory and the link to the host the GPU
// that a model is named after. The number of multiprocessors does not: kernels
// size their grids by it, and a host with a few cores gains nothing from a
// hundred of them. What of L2 can be set aside is what an A100 and an H100 tell
// (cudaGetDeviceProperties), and as much of it as an H100's of the other ones;
// nothing before 8.0. Of a B300 the figures are those of a B200.
constexpr GpuModel kGpuModels[] = {
    {"sm_75",
     "cudasim sm_75",
     "Tesla T4 (simulated)",
     7,
     5,
     16,
     1024,
     1'590'000,
     5'001'000,
     256,
     3,
     4 << 20,
     0,
     64 << 10,
     64 << 10},
    {"sm_80",
     "cudasim sm_80",
     "NVIDIA A100 (simulated)",
     8,
     0,
     16,
     2048,
     1'410'000,
     1'215'000,
     5120,
     4,
     40 << 20,
     30 << 20,
     164 << 10,
     163 << 10},
    {"sm_86",
     "cudasim sm_86",
     "NVIDIA GeForce RTX 3090 (simulated)",
     8,
     6,
     16,
     1536,
     1'695'000,
     9'751'000,
     384,
     4,
     6 << 20,
     3'932'160,
     100 << 10,
     99 << 10},
    {"sm_89",
     "cudasim sm_89",
     "NVIDIA GeForce RTX 4090 (simulated)",
     8,
     9,
     16,
     1536,
     2'520'000,
     10'501'000,
     384,
     4,
     72 << 20,
     45 << 20,
     100 << 10,
     99 << 10},
    {"sm_90",
     "cudasim sm_90",
     "NVIDIA H100 (simulated)",
     9,
     0,
     16,
     2048,
     1'785'000,
     2'619'000,
     5120,
     5,
     50 << 20,
     32'768'000,
     228 << 10,
     227 << 10},
    {"sm_100",
     "cudasim sm_100",
     "NVIDIA B200 (simulated)",
     10,
     0,
     16,
     2048,
     1'965'000,
     3'996'000,
     7680,
     5,
     253 << 19,
     82'903'040,
     228 << 10,
     227 << 10},
    {"sm_103",
     "cudasim sm_103",
     "NVIDIA B300 (simulated)",
     10,
     3,
     16,
     2048,
     1'965'000,
     3'996'000,
     7680,
     5,
     253 << 19,
     82'903'040,
     228 << 10,
     227 << 10},
    {"sm_120",
     "cudasim sm_120",
     "NVIDIA GeForce RTX 5090 (simulated)",
     12,
     0,
     16,
     1536,
     2'407'000,
     14'001'000,
     512,
     5,
     96 << 20,
     60 << 20,
     100 << 10,
     99 << 10},
};

constexpr int kPcieLanes = 16; // of all
constexpr int kAccessWindowBytes = 134'213'632; // of all that have it

constexpr std::uint64_t kCapabilities = ACCEL_CAP_HOST_VISIBLE |
    ACCEL_CAP_CALLS_IN_CALLBACKS | ACCEL_CAP_TIMING | ACCEL_CAP_PINNED |
    ACCEL_CAP_MANAGED | ACCEL_CAP_PEER | ACCEL_CAP_IPC | ACCEL_CAP_VIRTUAL |
    ACCEL_CAP_CODE | ACCEL_CAP_TEXTURES;

} // namespace

const GpuModel* find_gpu_model(const std::string& name) {
  for (const GpuModel& model : kGpuModels) {
    if (name == model.name) {
      return &model;
    }
  }
  return nullptr;
}

std::string gpu_model_names() {
  std::string names;
  for (const GpuModel& model : kGpuModels) {
    const bool is_last = &model == std::end(kGpuModels) - 1;
    names += names.empty() ? "" : is_last ? " or " : ", ";
    names += model.name;
  }
  return names;
}

accel_properties make_properties(const Settings& settings, int ordinal) {
  const GpuModel& model = *find_gpu_model(settings.gpu_model);
  accel_properties p{};
  p.struct_size = sizeof(p);
  std::snprintf(
      p.name,
      sizeof(p.name),
      "%s",
      settings.device_name.empty()          ? model.device_name
          : settings.device_name == "model" ? model.product_name
                                            : settings.device_name.c_str());
  // A fixed beginning and the ordinal: the same in every process, as IPC needs.
  const char beginning[] = "cudasim-device-";
  static_assert(sizeof(beginning) == 16);
  std::memcpy(p.uuid, beginning, 15);
  p.uuid[15] = static_cast<unsigned char>(ordinal);
  p.capabilities = kCapabilities;
  p.code_formats = ACCEL_CODE_PTX;
  p.synchronous = settings.synchronous ? 1 : 0;
  p.total_memory = settings.memory;
  p.major = model.major;
  p.minor = model.minor;
  p.multiprocessors = model.multiprocessors;
  p.threads_per_multiprocessor = model.threads_per_multiprocessor;
  p.threads_per_block = 1024;
  p.warp_size = 32;
  p.registers_per_block = 65536;
  p.registers_per_multiprocessor = 65536;
  p.shared_per_block = 48 << 10;
  p.shared_per_block_optin =
      static_cast<std::uint64_t>(model.shared_per_block_optin);
  p.shared_per_multiprocessor =
      static_cast<std::uint64_t>(model.shared_per_multiprocessor);
  p.clock_khz = model.clock_khz;
  p.memory_clock_khz = model.memory_clock_khz;
  p.memory_bus_bits = model.memory_bus_bits;
  p.l2_bytes = model.l2_bytes;
  p.persisting_l2_bytes = model.persisting_l2_bytes;
  p.access_window_bytes =
      model.persisting_l2_bytes == 0 ? 0 : kAccessWindowBytes;
  p.pci_bus = ordinal + 1;
  p.pcie_generation = model.pcie_generation;
  p.pcie_lanes = kPcieLanes;
  return p;
}

} // namespace cudasim::backend
