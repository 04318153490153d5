#include "cudasim/engine/module/module.h"

#include <cstring>
#include <map>
#include <mutex>

#include "cudasim/engine/code/kernel.h"
#include "cudasim/engine/code/watched_registers.h"
#include "cudasim/engine/forms/short_forms.h"
#include "cudasim/engine/lowering/kernel_lowering.h"
#include "cudasim/engine/translation/regions.h"
#include "cudasim/engine/verify/complaint.h"
#include "cudasim/engine/verify/verifier.h"
#include "cudasim/ptx/parser.h"

namespace cudasim::engine {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;
using ptx::Variable;

class LoadedModule : public Module {
 public:
  LoadedModule(
      std::string text,
      std::string source_name,
      const Allocate& allocate,
      Verify verify,
      std::uint32_t capability)
      : module_(ptx::parse_module(std::move(text), std::move(source_name))) {
    verify_module(*module_);
    if (capability != 0) {
      verify_device(*module_, capability);
    }
    if (verify != Verify::kAtFirstUse) {
      for (const auto& function : module_->functions) {
        if (function->has_body) {
          read_body(*module_, *function);
          const VerifiedBody body = verify_body(*module_, *function);
          if (verify == Verify::kToRunWhole) {
            verify_runs_whole(*module_, *function, body);
          }
        }
      }
    }
    for (const Variable& variable : module_->variables) {
      if (variable.space == Space::kShared || variable.is_extern) {
        continue;
      }
      place(variable, allocate);
    }
    // Addresses of variables can be initial values of others.
    for (const Variable& variable : module_->variables) {
      const auto symbol = symbols_.find(variable.name);
      if (symbol != symbols_.end() && !variable.is_extern) {
        initialize(variable, symbol->second);
      }
    }
    for (const auto& function : module_->functions) {
      if (function->has_body) {
        functions_[function->name] = function.get();
        if (function->is_entry) {
          entries_[function_address(*function)] = &function->name;
        }
      }
    }
  }

  std::vector<std::string> kernel_names() const override {
    std::vector<std::string> names;
    for (const auto& function : module_->functions) {
      if (function->is_entry) {
        names.push_back(function->name);
      }
    }
    return names;
  }

  const Kernel* kernel(std::string_view name) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string key(name);
    const auto found = kernels_.find(key);
    if (found != kernels_.end()) {
      return found->second.get();
    }
    const auto function = functions_.find(key);
    if (function == functions_.end() || !function->second->is_entry) {
      return nullptr;
    }
    auto lowered = lower_kernel(
        *module_, *function->second, [this](std::string_view symbol) {
          return address_of(symbol);
        });
    if (native_mode() != NativeMode::kOff && !kWatchRegisters) {
      for (const auto& code : lowered->codes) {
        code->regions = std::make_shared<Regions>(*code);
      }
    }
    return (kernels_[key] = std::move(lowered)).get();
  }

  const Kernel* kernel_at(std::uint64_t address) override {
    const auto found = entries_.find(address);
    return found == entries_.end() ? nullptr : kernel(*found->second);
  }

  const KernelInfo& info(const Kernel& kernel) const override {
    return kernel.info;
  }

  const Symbol* symbol(std::string_view name) const override {
    const auto found = symbols_.find(std::string(name));
    return found == symbols_.end() ? nullptr : &found->second;
  }

  std::vector<Symbol> symbols() const override {
    std::vector<Symbol> all;
    for (const auto& [name, symbol] : symbols_) {
      all.push_back(symbol);
    }
    return all;
  }

 private:
  std::uint64_t address_of(std::string_view name) const {
    const Symbol* found = symbol(name);
    return found != nullptr ? found->address : 0;
  }

  void place(const Variable& variable, const Allocate& allocate) {
    const std::uint64_t natural =
        std::max<std::uint64_t>(1, ptx::size_of(variable.type)) *
        variable.vector;
    const std::uint64_t alignment =
        std::max<std::uint64_t>(natural, variable.alignment);
    Symbol symbol;
    symbol.name = variable.name;
    symbol.size = std::max<std::uint64_t>(1, variable.size());
    symbol.is_const = variable.space == Space::kConst;
    symbol.address =
        allocate(symbol.size, alignment, symbol.is_const, variable.name);
    std::memset(reinterpret_cast<void*>(symbol.address), 0, symbol.size);
    symbols_[variable.name] = symbol;
  }

  void initialize(const Variable& variable, const Symbol& symbol) const {
    const std::size_t size = ptx::size_of(variable.type);
    auto* place = reinterpret_cast<std::byte*>(symbol.address);
    std::size_t left = symbol.size / std::max<std::size_t>(1, size);
    for (const Operand& value : variable.initializer) {
      if (left-- == 0) {
        break;
      }
      std::uint64_t bits = value.bits;
      if (value.kind == Operand::Kind::kSymbol) {
        const ptx::Function* function = module_->find(value.name);
        const std::uint64_t address = function != nullptr
            ? function_address(*function)
            : address_of(value.name);
        if (address == 0) {
          refuse(
              *module_,
              value.location,
              value.name,
              "a variable or function, of which '" + variable.name +
                  "' gets the address");
        }
        bits = address + static_cast<std::uint64_t>(value.offset);
        if (value.bits != 0) {
          // 0xFF00(symbol): some bytes of an address (PTX ISA 4.5.5).
          bits = (bits & value.bits) >> __builtin_ctzll(value.bits);
        }
      } else if (value.kind == Operand::Kind::kFloat) {
        if (size == 4 && !value.single) {
          double wide = 0;
          std::memcpy(&wide, &bits, 8);
          const auto narrow = static_cast<float>(wide);
          bits = 0;
          std::memcpy(&bits, &narrow, 4);
        }
      }
      std::memcpy(place, &bits, std::min<std::size_t>(size, 8));
      place += size;
    }
  }

  std::unique_ptr<ptx::Module> module_;
  std::map<std::string, Symbol> symbols_;
  std::map<std::string, ptx::Function*> functions_;
  std::map<std::uint64_t, const std::string*> entries_; // names by addresses
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

} // namespace

std::shared_ptr<Module> Module::load(
    std::string ptx,
    std::string source_name,
    const Allocate& allocate,
    Verify verify,
    std::uint32_t capability) {
  return std::make_shared<LoadedModule>(
      std::move(ptx), std::move(source_name), allocate, verify, capability);
}

} // namespace cudasim::engine
