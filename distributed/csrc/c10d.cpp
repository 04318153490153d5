// What lives here: the implementation of bind_c10d, see bindings.h. Names,
// arguments and where the GIL is given up are those of
// torch/csrc/distributed/c10d/init.cpp in 2.6.0.
#include "distributed/csrc/bindings.h"

#include <c10/core/Device.h>
#include <pybind11/chrono.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/csrc/distributed/c10d/NCCLUtils.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <torch/csrc/distributed/c10d/intra_node_comm.hpp>

#include <chrono>
#include <cstring>
#include <optional>
#include <vector>

#include "distributed/csrc/no_gil_holder.h"

namespace py = pybind11;

namespace torch_cuda_distributed {
namespace {

using c10d::ProcessGroupNCCL;
using GroupPtr = c10::intrusive_ptr<ProcessGroupNCCL>;
using StorePtr = c10::intrusive_ptr<c10d::Store>;
using OptionsPtr = c10::intrusive_ptr<ProcessGroupNCCL::Options>;
using std::chrono::milliseconds;
using NoGil = py::call_guard<py::gil_scoped_release>;

// The watchdog asks this on a thread of its own, and takes a late answer for a
// sign that something holds the GIL.
bool answers_once_it_has_the_gil() {
  if (Py_IsInitialized() == 0) {
    return false;
  }
  py::gil_scoped_acquire gil;
  return true;
}

GroupPtr make_group(
    const StorePtr& store,
    int rank,
    int size,
    const milliseconds& timeout) {
  auto options = ProcessGroupNCCL::Options::create();
  options->is_high_priority_stream = false;
  options->timeout = timeout;
  return c10::make_intrusive<ProcessGroupNCCL>(store, rank, size, options);
}

py::object bind_group(py::module_& module, const py::object& base) {
  using Group = py::
      class_<ProcessGroupNCCL, NoGilHolder<ProcessGroupNCCL>, c10d::Backend>;
  Group group(
      module,
      "ProcessGroupNCCL",
      "Collectives among CUDA devices, over NCCL. Made by "
      "torch.distributed.init_process_group.");
  TORCH_CHECK(
      py::object(group.attr("__base__")).is(base),
      "torch_cuda_distributed: ProcessGroupNCCL came out without its base");
  group
      .def(
          py::init<const StorePtr&, int, int, OptionsPtr>(),
          NoGil(),
          py::arg("store"),
          py::arg("rank"),
          py::arg("size"),
          py::arg("options"),
          "Makes the group of this process from options.")
      .def(
          py::init(&make_group),
          NoGil(),
          py::arg("store"),
          py::arg("rank"),
          py::arg("size"),
          py::arg("timeout") = c10d::kProcessGroupNCCLDefaultTimeout,
          "Makes the group of this process with default options.")
      .def(
          "_shutdown",
          [](const GroupPtr& self) { return self->shutdown(); },
          NoGil())
      .def("_group_start", &ProcessGroupNCCL::groupStart)
      .def("_group_end", &ProcessGroupNCCL::groupEnd)
      .def("comm_split_count", &ProcessGroupNCCL::getCommSplitCounter)
      .def(
          "_set_default_timeout",
          [](const GroupPtr& self, milliseconds timeout) {
            self->getOptions()->timeout = timeout;
          },
          NoGil(),
          py::arg("timeout"))
      .def(
          "_add_ephemeral_timeout",
          [](const GroupPtr& self, const milliseconds& timeout) {
            self->addEphemeralTimeout(timeout);
          },
          py::arg("timeout"))
      .def(
          "_verify_work_timeout",
          [](const GroupPtr& self,
             const c10::intrusive_ptr<c10d::Work>& work,
             const milliseconds& timeout) {
            return self->verifyWorkTimeoutForTest(work, timeout);
          },
          py::arg("work"),
          py::arg("timeout"))
      .def_property_readonly(
          "options",
          &ProcessGroupNCCL::getOptions,
          "The options that the group was made with.")
      .def_property_readonly(
          "uid", &ProcessGroupNCCL::getUid, "The group's unique id.")
      .def_property(
          "bound_device_id",
          &ProcessGroupNCCL::getBoundDeviceId,
          &ProcessGroupNCCL::setBoundDeviceId,
          "The device that the group is bound to, or None.")
      .def("perform_nocolor_split", &ProcessGroupNCCL::performNocolorSplit)
      .def("register_mem_pool", &ProcessGroupNCCL::registerMemPool)
      .def("deregister_mem_pool", &ProcessGroupNCCL::deregisterMemPool)
      .def(
          "abort",
          &ProcessGroupNCCL::abort,
          NoGil(),
          "Aborts the group's communicators.")
      .def("_is_initialized", &ProcessGroupNCCL::isInitialized, NoGil());
  return group;
}

#ifdef NCCL_HAS_COMM_CTA_CGA
void bind_config(const py::object& group) {
  py::class_<ncclConfig_t>(
      group,
      "NCCLConfig",
      "Settings of NCCL's communicators: ncclConfig_t in NCCL's manual.")
      .def(py::init<>())
      .def_readwrite("blocking", &ncclConfig_t::blocking)
      .def_readwrite("cga_cluster_size", &ncclConfig_t::cgaClusterSize)
      .def_readwrite("min_ctas", &ncclConfig_t::minCTAs)
      .def_readwrite("max_ctas", &ncclConfig_t::maxCTAs)
#ifdef NCCL_HAS_COMM_SPLIT
      .def_readwrite("split_share", &ncclConfig_t::splitShare)
#endif
      .def_property(
          "net_name",
          [](const ncclConfig_t& self) { return self.netName; },
          // NCCL frees the name with the communicator.
          [](ncclConfig_t& self, const char* name) {
            self.netName = strdup(name);
          });
}
#endif

void bind_options(const py::object& group) {
  using Options = ProcessGroupNCCL::Options;
  py::class_<Options, OptionsPtr, c10d::Backend::Options>(
      group,
      "Options",
      "Options of a group: torch.distributed.init_process_group('nccl', "
      "pg_options=options).\n"
      "\n"
      "is_high_priority_stream: whether collectives run on streams of high\n"
      "priority.\n"
      "config: NCCLConfig, settings of NCCL's communicators.")
      .def(py::init<bool>(), py::arg("is_high_priority_stream") = false)
#ifdef NCCL_HAS_COMM_CTA_CGA
      .def_readwrite("config", &Options::config)
#endif
      .def_readwrite(
          "is_high_priority_stream", &Options::is_high_priority_stream)
      .def_readwrite("split_from", &Options::split_from)
      .def_readwrite("split_color", &Options::split_color)
      .def_readwrite("global_ranks_in_group", &Options::global_ranks_in_group)
      .def_readwrite("group_name", &Options::group_name);
}

void bind_flight_recorder(py::module_& module) {
  using Flag = std::optional<bool>;
  module.def(
      "_dump_nccl_trace_json",
      [](Flag collectives, Flag only_active) {
        return py::bytes(c10d::dump_nccl_trace_json(
            collectives.value_or(true), only_active.value_or(false)));
      },
      py::arg("includeCollectives") = Flag(),
      py::arg("onlyActive") = Flag(),
      "What the flight recorder holds, as JSON.\n"
      "\n"
      "includeCollectives: whether the collectives are in it; True if None.\n"
      "onlyActive: whether only those that have not ended are; False if None.");
  module.def(
      "_dump_nccl_trace",
      [](Flag collectives, Flag stack_traces, Flag only_active) {
        return py::bytes(c10d::dump_nccl_trace(
            collectives.value_or(true),
            stack_traces.value_or(true),
            only_active.value_or(false)));
      },
      py::arg("includeCollectives") = Flag(),
      py::arg("includeStackTraces") = Flag(),
      py::arg("onlyActive") = Flag(),
      "What the flight recorder holds, pickled.\n"
      "\n"
      "includeCollectives: whether the collectives are in it; True if None.\n"
      "includeStackTraces: whether their stacks are; True if None.\n"
      "onlyActive: whether only those that have not ended are; False if None.");
}

} // namespace

void bind_c10d(py::module_& module) {
  const auto c10d_module = py::module_::import("torch._C._distributed_c10d");
  const py::object group = bind_group(module, c10d_module.attr("Backend"));
#ifdef NCCL_HAS_COMM_CTA_CGA
  bind_config(group);
#endif
  bind_options(group);
  bind_flight_recorder(module);
  module.def(
      "_get_intra_node_comm_usage_counter",
      &c10d::intra_node_comm::getIntraNodeCommUsageCounter,
      "How many collectives went over intra-node communication.");
  module.def(
      "_hash_tensors",
      [](const std::vector<at::Tensor>& tensors) {
        return c10d::hashTensors(tensors);
      },
      py::arg("tensors"),
      "A hash of the contents of tensors.");
  module.attr("_DEFAULT_PG_NCCL_TIMEOUT") =
      py::cast(c10d::kProcessGroupNCCLDefaultTimeout);
  c10d::get_gil_checker() = &answers_once_it_has_the_gil;
}

} // namespace torch_cuda_distributed
