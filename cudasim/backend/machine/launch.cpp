#include "cudasim/backend/machine/launch.h"

#include <cstring>

#include "cudasim/backend/machine/device.h"
#include "cudasim/backend/machine/machine.h"
#include "cudasim/backend/status/error.h"

namespace cudasim::backend {
namespace {

accel_status status_of(engine::FaultKind fault) {
  switch (fault) {
    case engine::FaultKind::kNone:
      return ACCEL_OK;
    case engine::FaultKind::kIllegalAddress:
      return ACCEL_ILLEGAL_ADDRESS;
    case engine::FaultKind::kMisalignedAddress:
      return ACCEL_MISALIGNED_ADDRESS;
    case engine::FaultKind::kAssert:
      return ACCEL_ASSERT;
    case engine::FaultKind::kTrap:
      return ACCEL_LAUNCH_FAILURE;
    case engine::FaultKind::kIllegalInstruction:
      return ACCEL_ILLEGAL_INSTRUCTION;
    case engine::FaultKind::kUnsupported:
      return ACCEL_UNSUPPORTED_CODE;
    case engine::FaultKind::kLaunchTimeout:
      return ACCEL_LAUNCH_TIMEOUT;
    case engine::FaultKind::kStackOverflow:
      return ACCEL_STACK_OVERFLOW;
  }
  return ACCEL_LAUNCH_FAILURE;
}

engine::Dim3 size_of(const std::uint32_t (&size)[3]) {
  return {size[0], size[1], size[2]};
}

} // namespace

LaunchWork::LaunchWork(const accel_launch& asked)
    : module_(asked.kernel->module) {
  const Settings& settings = machine().settings();
  launch_.module = &module_->module();
  launch_.kernel = asked.kernel->kernel;
  launch_.grid = size_of(asked.grid);
  launch_.block = size_of(asked.block);
  launch_.dynamic_shared_bytes = asked.shared_bytes;
  launch_.cooperative = asked.cooperative != 0;
  launch_.device = module_->device().view();
  launch_.workers = settings.workers;
  launch_.timeout_seconds = settings.timeout_seconds;
  launch_.findings = machine().findings();
  launch_.counts = machine().counts();
  const std::size_t bytes = asked.kernel->info->parameter_bytes;
  std::byte* place = few_parameters_.data();
  if (bytes > few_parameters_.size()) {
    many_parameters_.reset(new std::byte[bytes]);
    place = many_parameters_.get();
  }
  if (bytes > 0) {
    std::memcpy(place, asked.parameters, bytes);
  }
  launch_.parameters = place;
}

accel_status LaunchWork::run() {
  const engine::Outcome outcome = engine::run(launch_);
  if (launch_.findings != nullptr) {
    for (const std::string& finding : launch_.findings->take()) {
      report(finding);
    }
  }
  if (!outcome.report.empty()) {
    report(outcome.report);
  }
  return status_of(outcome.fault);
}

} // namespace cudasim::backend
