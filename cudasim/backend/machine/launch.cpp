#include "cudasim/backend/machine/launch.h"

#include "cudasim/backend/machine/device.h"
#include "cudasim/backend/machine/machine.h"
#include "cudasim/backend/status/error.h"
#include "cudasim/engine/launch/launch.h"

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

accel_status run_kernel(const QueuedLaunch& work) {
  const Settings& settings = machine().settings();
  engine::Launch launch;
  launch.program = &work.kernel.program->program();
  launch.kernel = work.kernel.kernel;
  launch.grid = size_of(work.launch.grid);
  launch.block = size_of(work.launch.block);
  launch.dynamic_shared_bytes = work.launch.shared_bytes;
  launch.parameters = work.parameters.data();
  launch.cooperative = work.launch.cooperative != 0;
  launch.device = work.kernel.program->device().view();
  launch.workers = settings.workers;
  launch.timeout_seconds = settings.timeout_seconds;
  launch.check = settings.check;
  const engine::Outcome outcome = engine::run(launch);
  for (const std::string& finding : outcome.findings) {
    report(finding);
  }
  report(outcome.report);
  return status_of(outcome.fault);
}

} // namespace cudasim::backend
