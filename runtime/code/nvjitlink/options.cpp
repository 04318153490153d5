// What NVIDIA's nvJitLink 12.8 and 13.5 take and refuse: nvjitlink_test.py
// holds it against them.
#include "runtime/code/nvjitlink/options.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "runtime/code/nvjitlink/release.h"

namespace accelerator::nvjitlink {
namespace {

enum class Form : std::uint8_t {
  kExact,
  kBegin, // what stands behind it means nothing
  kText, // a value, which may be empty
  kValue, // a value
};

struct Known {
  std::string_view name;
  Form form;
  bool is_of_12 = true;
};

constexpr Known kOptions[] = {
    {"-arch=", Form::kValue},
    {"-maxrregcount=", Form::kValue},
    {"-time", Form::kBegin},
    {"-verbose", Form::kBegin},
    {"-lto", Form::kBegin},
    {"-dlto", Form::kBegin},
    {"-ptx", Form::kBegin},
    {"-O0", Form::kExact},
    {"-O3", Form::kExact},
    {"-Ofc=", Form::kValue},
    {"--Ofast-compile=", Form::kValue},
    {"-fast-compile", Form::kBegin},
    {"-no-opt", Form::kBegin},
    {"-g", Form::kExact},
    {"-lineinfo", Form::kBegin},
    {"-ftz=", Form::kText},
    {"-prec-div=", Form::kText},
    {"-prec-sqrt=", Form::kText},
    {"-fma=", Form::kText},
    {"-kernels-used=", Form::kValue},
    {"-variables-used=", Form::kValue},
    {"-optimize-unused-variables", Form::kBegin},
    {"-Xptxas=", Form::kValue},
    {"-Xnvvm=", Form::kValue},
    {"-Xfinalizer=", Form::kValue, false},
    {"-split-compile=", Form::kText},
    {"-split-compile-extended=", Form::kValue},
    {"-jump-table-density=", Form::kText},
    {"-no-cache", Form::kBegin},
    {"--no-cache", Form::kBegin},
    {"--device-stack-protector=", Form::kValue},
    {"-disable-smem-reserve", Form::kBegin},
    {"--enable-extended-smem=", Form::kValue, false},
    {"-nvvm-latest", Form::kBegin, false},
    {"-r", Form::kBegin, false},
};

// Architectures of CUDA 13.5, and those that it knows and compiles no more for.
constexpr int kArchitectures[] =
    {75, 80, 86, 87, 88, 89, 90, 100, 103, 107, 110, 120, 121};
constexpr int kFormerArchitectures[] = {10, 11, 12, 13, 20, 21,  30,
                                        32, 35, 37, 50, 52, 53,  60,
                                        61, 62, 70, 72, 73, 101, 102};
constexpr int kFirstWithFamilies = 100; // sm_100f
constexpr int kLastOf12 = 121;

bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

template <class Range, class T>
bool contains(const Range& range, const T& value) {
  return std::find(std::begin(range), std::end(range), value) !=
      std::end(range);
}

[[noreturn]] void refuse(nvJitLinkResult status, const std::string& message) {
  throw Failure(status, message + "\n");
}

// What a value is a number of, as atoi has it: NVIDIA's takes "12abc" for 12.
int number_of(const std::string& text) {
  return static_cast<int>(std::strtol(text.c_str(), nullptr, 10));
}

class Reader {
 public:
  explicit Reader(Options& options) : options_(options) {}

  void read(const std::string& option) {
    const auto known =
        std::find_if(std::begin(kOptions), std::end(kOptions), [&](auto& one) {
          return (kIs13 || one.is_of_12) &&
              (one.form == Form::kExact ? option == one.name
                                        : begins_with(option, one.name));
        });
    if (known == std::end(kOptions)) {
      if (option.size() == 3 && begins_with(option, "-O") && option[2] >= '0' &&
          option[2] <= '9') {
        refuse(
            NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
            "unsupported value of -O: " + option.substr(2) +
                ", but 0 and 3 alone are supported");
      }
      refuse(
          NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
          "unrecognized option: " + option);
    }
    const std::string value = option.substr(known->name.size());
    if (known->form == Form::kValue && value.empty()) {
      refuse(
          NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
          "missing option value (" + option + ")");
    }
    take(known->name, value, option);
  }

  void check() const {
    if (kIs13 && debug_ && optimize_) {
      refuse(
          kIncompatibleOptions, "-g needs -O0: optimized code is not debugged");
    }
    if (options_.capability == 0) {
      refuse(NVJITLINK_ERROR_MISSING_ARCH, "-arch=sm_NN is missing");
    }
    if (kIs13 && intermediate_ && options_.gives_ptx) {
      refuse(
          kIncompatibleOptions,
          "-arch=lto_" + std::to_string(options_.capability) +
              " conflicts with -ptx");
    }
    if (options_.gives_ptx && !options_.link_time_optimization) {
      refuse(kIncompatibleOptions, "-ptx requires -lto");
    }
    if ((virtual_ || (!kIs13 && intermediate_)) && !options_.gives_ptx) {
      refuse(kIncompatibleOptions, "virtual arch requires -ptx");
    }
    if (!kIs13 && options_.capability > kLastOf12) {
      refuse(NVJITLINK_ERROR_INTERNAL, "unrecognized architecture");
    }
  }

 private:
  void take(
      std::string_view name,
      const std::string& value,
      const std::string& option) {
    if (name == "-arch=") {
      take_architecture(value, option);
    } else if (name == "-lto" || name == "-dlto") {
      options_.link_time_optimization = true;
    } else if (name == "-ptx") {
      options_.gives_ptx = true;
    } else if (name == "-r") {
      options_.relocatable = true;
    } else if (name == "-maxrregcount=") {
      options_.max_registers =
          static_cast<unsigned>(std::max(0, number_of(value)));
    } else if (name == "-g") {
      debug_ = true;
    } else if (name == "-O0" || name == "-O3") {
      optimize_ = name == "-O3";
    } else if (name == "-Ofc=" || name == "--Ofast-compile=") {
      const bool is_known = value == "0" || value == "max" ||
          (kIs13 && (value == "min" || value == "mid"));
      if (!is_known) {
        refuse(
            NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
            "unsupported value of --Ofast-compile (-Ofc): " + value);
      }
    } else if (
        (name == "-split-compile=" || name == "-split-compile-extended=") &&
        number_of(value) < 0) {
      refuse(
          NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
          option + ": the number of threads must not be negative");
    } else if (
        name == "--enable-extended-smem=" && value != "true" &&
        value != "false") {
      refuse(
          NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
          option + ": the value must be true or false");
    }
  }

  void take_architecture(const std::string& value, const std::string& option) {
    virtual_ = begins_with(value, "compute_");
    intermediate_ = begins_with(value, "lto_");
    const int number = virtual_ || intermediate_ || begins_with(value, "sm_")
        ? number_of(value.substr(value.find('_') + 1))
        : 0;
    if (number == 0) {
      refuse(
          NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
          "missing option value (" + option + ")");
    }
    if (kIs13) {
      const bool is_family = value.find('f') != std::string::npos;
      if (number < 0 || contains(kFormerArchitectures, number) ||
          (is_family && number < kFirstWithFamilies &&
           contains(kArchitectures, number))) {
        refuse(
            static_cast<nvJitLinkResult>(17), // UNSUPPORTED_ARCH
            "unsupported architecture (" + value + ")");
      }
      if (!contains(kArchitectures, number)) {
        refuse(
            static_cast<nvJitLinkResult>(16), // UNRECOGNIZED_ARCH
            "unrecognized architecture (" + value + ")");
      }
    }
    options_.capability = static_cast<std::uint32_t>(number);
  }

  Options& options_;
  bool virtual_ = false; // of the last -arch
  bool intermediate_ = false;
  bool debug_ = false;
  bool optimize_ = false;
};

} // namespace

void read_options(std::vector<std::string> all, Options& options) {
  options.all = std::move(all);
  Reader reader(options);
  for (const std::string& option : options.all) {
    reader.read(option);
  }
  reader.check();
}

} // namespace accelerator::nvjitlink
