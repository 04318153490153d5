#include "cudasim/native/compiler.h"

#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace cudasim::native {
namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";
// Passes as of -O1: they bring values into registers and clean up.
constexpr int kPasses = 1;
constexpr int kCodeGeneration = 2;
// Code lies anywhere: a table of branches has to have distances, no addresses,
// which would be of 32 bits.
constexpr const char* kRelocation = "pic";

/// Code with something of each kind that regions have. LLVM makes objects when
/// it first needs them, and exit() destroys them before what was there earlier:
/// they have to be there before a thread compiles.
constexpr const char* kFirst = R"(
declare <32 x float> @llvm.fma.v32f32(<32 x float>, <32 x float>, <32 x float>)
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.abs.i32(i32, i1)
declare i64 @llvm.vector.reduce.or.v32i64(<32 x i64>)
define internal i64 @second(<32 x i64> %lanes, i32 %number) noinline {
  %all = call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %lanes)
  %positive = call i32 @llvm.abs.i32(i32 %number, i1 false)
  %some = or i32 %positive, 1
  %wide = zext i32 %some to i64
  %quotient = udiv i64 %all, %wide
  ret i64 %quotient
}
define i64 @first(ptr %state, ptr %registers) {
begin:
  %mask = load i32, ptr %state, align 1
  br label %again
again:
  %round = phi i64 [ 0, %begin ], [ %next, %behind ]
  %place = getelementptr i8, ptr %registers, i64 %round
  %a = load <32 x float>, ptr %place, align 1
  %b = shufflevector <32 x float> %a, <32 x float> poison, <32 x i32> zeroinitializer
  %c = call <32 x float> @llvm.fma.v32f32(<32 x float> %a, <32 x float> %b, <32 x float> %a)
  %less = fcmp olt <32 x float> %c, %b
  %d = select <32 x i1> %less, <32 x float> %c, <32 x float> %b
  store <32 x float> %d, ptr %place, align 1
  %word = bitcast <32 x i1> %less to i32
  %lanes = call i32 @llvm.ctpop.i32(i32 %word)
  switch i32 %lanes, label %behind [
    i32 0, label %called
    i32 1, label %called
    i32 2, label %end
    i32 3, label %end
    i32 4, label %called
  ]
called:
  %flow = call i8 inttoptr (i64 4096 to ptr)(ptr %state, ptr %place, i32 %word)
  br label %behind
behind:
  %numbers = load <32 x i64>, ptr %registers, align 1
  %ratio = call i64 @second(<32 x i64> %numbers, i32 %mask)
  %odd = and i64 %ratio, 1
  %step = add i64 %odd, 128
  %next = add i64 %round, %step
  %more = icmp ult i64 %next, 4096
  br i1 %more, label %again, label %end
end:
  ret i64 %round
}
)";

/// The functions of llvmlite's library (its "binding" layer) that are used.
struct Functions {
  void (*initialize_target)();
  void (*initialize_printer)();
  void* (*create_context)();
  void* (*parse)(void* context, const char* text, const char** error);
  bool (*verify)(void* module, const char** error);
  void* (*target_of)(const char* triple, const char** error);
  void* (*create_machine)(
      void* target,
      const char* triple,
      const char* processor,
      const char* features,
      int level,
      const char* relocation,
      const char* code_model,
      int print,
      int jit,
      const char* abi);
  void* (*create_tuning)();
  void* (*create_builder)(void* machine, void* tuning);
  void* (*function_passes)(void* builder, int level);
  void (*run_passes)(void* passes, void* function, void* builder);
  void* (*named_function)(void* module, const char* name);
  void* (*create_engine)(
      void* module,
      void* machine,
      bool one_piece,
      const char** error);
  void (*finalize)(void* engine);
  std::uint64_t (*address_of)(void* engine, const char* name);
  void (*dispose_string)(const char* text);
  void (*dispose_passes)(void* passes);
  void (*dispose_builder)(void* builder);
  void (*dispose_tuning)(void* tuning);
  void (*dispose_module)(void* module);
  void (*dispose_machine)(void* machine);
  void (*dispose_context)(void* context);
  void* (*emit)(void* machine, void* module, int form, const char** error);
  const void* (*buffer_start)(void* buffer);
  std::size_t (*buffer_size)(void* buffer);
  void (*dispose_buffer)(void* buffer);
  void* (*create_object)(const char* data, std::size_t size);
  void (*add_object)(void* engine, void* object);
  void (*dispose_object)(void* object);
  void (*dispose_engine)(void* engine);
};

template <typename Function>
bool find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

/// Whether an object names symbols that others have to have. MCJIT ends the
/// process where it calls one: it has reserved no memory for its table.
bool has_undefined_symbols(const std::string& object) {
  const auto read = [&](auto* to, std::uint64_t at) {
    const bool inside =
        at <= object.size() && sizeof(*to) <= object.size() - at;
    if (inside) {
      std::memcpy(to, object.data() + at, sizeof(*to));
    }
    return inside;
  };
  Elf64_Ehdr header;
  if (!read(&header, 0)) {
    return true;
  }
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!read(&section, header.e_shoff + i * sizeof(section))) {
      return true;
    }
    if (section.sh_type != SHT_SYMTAB) {
      continue;
    }
    // The first symbol is no symbol.
    for (std::uint64_t at = sizeof(Elf64_Sym); at < section.sh_size;
         at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!read(&symbol, section.sh_offset + at) ||
          symbol.st_shndx == SHN_UNDEF) {
        return true;
      }
    }
  }
  return false;
}

class Llvm final : public Compiler {
 public:
  Llvm(const Functions& functions, std::string processor)
      : f_(functions), processor_(std::move(processor)) {
    f_.initialize_target();
    f_.initialize_printer();
  }

  bool compile(
      const std::string& text,
      const std::string& function,
      std::string* object,
      std::string* why) override {
    void* const context = f_.create_context();
    bool compiled = false;
    if (void* const module = parse(context, text, why)) {
      if (void* const machine = create_machine(why)) {
        improve(machine, f_.named_function(module, function.c_str()));
        compiled = emit(machine, module, object, why);
        f_.dispose_machine(machine);
      }
      f_.dispose_module(module);
    }
    f_.dispose_context(context);
    return compiled;
  }

  void* link(
      const std::string& object,
      const std::string& function,
      std::string* why) override {
    if (has_undefined_symbols(object)) {
      *why = "the object needs others";
      return nullptr;
    }
    void* const module = parse(f_.create_context(), "", why);
    void* const machine = module == nullptr ? nullptr : create_machine(why);
    if (machine == nullptr) {
      return nullptr;
    }
    const char* error = nullptr;
    // Owns the module and the machine, and stays. In one piece of memory: code
    // names its constants by distances of 32 bits.
    void* const engine = f_.create_engine(module, machine, true, &error);
    if (take(error, why) || engine == nullptr) {
      return nullptr;
    }
    void* const file = f_.create_object(object.data(), object.size());
    if (file == nullptr) {
      *why = "the object cannot be read";
      f_.dispose_engine(engine);
      return nullptr;
    }
    f_.add_object(engine, file);
    f_.dispose_object(file);
    f_.finalize(engine);
    return reinterpret_cast<void*>(f_.address_of(engine, function.c_str()));
  }

 private:
  void* parse(void* context, const std::string& text, std::string* why) const {
    const char* error = nullptr;
    void* const module = f_.parse(context, text.c_str(), &error);
    if (take(error, why) || module == nullptr) {
      return nullptr;
    }
    error = nullptr;
    const bool wrong = f_.verify(module, &error);
    take(error, why);
    if (wrong) {
      f_.dispose_module(module);
      return nullptr;
    }
    return module;
  }

  void* create_machine(std::string* why) const {
    const char* error = nullptr;
    void* const target = f_.target_of(kTriple, &error);
    void* const machine = target == nullptr ? nullptr
                                            : f_.create_machine(
                                                  target,
                                                  kTriple,
                                                  processor_.c_str(),
                                                  "",
                                                  kCodeGeneration,
                                                  kRelocation,
                                                  "small",
                                                  0,
                                                  1,
                                                  "");
    take(error, why);
    return machine;
  }

  void improve(void* machine, void* function) const {
    void* const tuning = f_.create_tuning();
    void* const builder = f_.create_builder(machine, tuning);
    void* const passes = f_.function_passes(builder, kPasses);
    f_.run_passes(passes, function, builder);
    f_.dispose_passes(passes);
    f_.dispose_builder(builder);
    f_.dispose_tuning(tuning);
  }

  bool emit(void* machine, void* module, std::string* object, std::string* why)
      const {
    constexpr int kObject = 1; // and no text of an assembler
    const char* error = nullptr;
    void* const buffer = f_.emit(machine, module, kObject, &error);
    take(error, why);
    if (buffer == nullptr) {
      return false;
    }
    object->assign(
        static_cast<const char*>(f_.buffer_start(buffer)),
        f_.buffer_size(buffer));
    f_.dispose_buffer(buffer);
    return true;
  }

  /// @returns whether there was an error, which goes to `why`.
  bool take(const char* error, std::string* why) const {
    if (error == nullptr) {
      return false;
    }
    const bool failed = *error != '\0';
    if (failed) {
      *why = error;
    }
    f_.dispose_string(error);
    return failed;
  }

  const Functions f_;
  const std::string processor_;
};

} // namespace

std::unique_ptr<Compiler> Compiler::load(
    const std::string& library,
    const std::string& processor,
    std::string* why) {
#if !defined(__x86_64__)
  *why = "native code is made for x86-64, and this is another processor";
  return nullptr;
#endif
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    *why = dlerror();
    return nullptr;
  }
  Functions f{};
  const bool complete =
      find(handle, "LLVMPY_InitializeNativeTarget", &f.initialize_target) &&
      find(
          handle, "LLVMPY_InitializeNativeAsmPrinter", &f.initialize_printer) &&
      find(handle, "LLVMPY_ContextCreate", &f.create_context) &&
      find(handle, "LLVMPY_ParseAssembly", &f.parse) &&
      find(handle, "LLVMPY_VerifyModule", &f.verify) &&
      find(handle, "LLVMPY_GetTargetFromTriple", &f.target_of) &&
      find(handle, "LLVMPY_CreateTargetMachine", &f.create_machine) &&
      find(handle, "LLVMPY_CreatePipelineTuningOptions", &f.create_tuning) &&
      find(handle, "LLVMPY_CreatePassBuilder", &f.create_builder) &&
      find(
          handle,
          "LLVMPY_buildFunctionSimplificationPipeline",
          &f.function_passes) &&
      find(handle, "LLVMPY_RunNewFunctionPassManager", &f.run_passes) &&
      find(handle, "LLVMPY_GetNamedFunction", &f.named_function) &&
      find(handle, "LLVMPY_CreateMCJITCompiler", &f.create_engine) &&
      find(handle, "LLVMPY_FinalizeObject", &f.finalize) &&
      find(handle, "LLVMPY_GetFunctionAddress", &f.address_of) &&
      find(handle, "LLVMPY_DisposeString", &f.dispose_string) &&
      find(handle, "LLVMPY_DisposeNewFunctionPassManger", &f.dispose_passes) &&
      find(handle, "LLVMPY_DisposePassBuilder", &f.dispose_builder) &&
      find(handle, "LLVMPY_DisposePipelineTuningOptions", &f.dispose_tuning) &&
      find(handle, "LLVMPY_DisposeModule", &f.dispose_module) &&
      find(handle, "LLVMPY_DisposeTargetMachine", &f.dispose_machine) &&
      find(handle, "LLVMPY_ContextDispose", &f.dispose_context) &&
      find(handle, "LLVMPY_TargetMachineEmitToMemory", &f.emit) &&
      find(handle, "LLVMPY_GetBufferStart", &f.buffer_start) &&
      find(handle, "LLVMPY_GetBufferSize", &f.buffer_size) &&
      find(handle, "LLVMPY_DisposeMemoryBuffer", &f.dispose_buffer) &&
      find(handle, "LLVMPY_CreateObjectFile", &f.create_object) &&
      find(handle, "LLVMPY_MCJITAddObjectFile", &f.add_object) &&
      find(handle, "LLVMPY_DisposeObjectFile", &f.dispose_object) &&
      find(handle, "LLVMPY_DisposeExecutionEngine", &f.dispose_engine);
  if (!complete) {
    *why = library +
        " lacks a function: it is of another version of llvmlite; "
        "pip install 'llvmlite>=0.50,<0.51'";
    dlclose(handle);
    return nullptr;
  }
  auto compiler = std::make_unique<Llvm>(f, processor);
  std::string object;
  const bool works = compiler->compile(kFirst, "first", &object, why) &&
      compiler->link(object, "first", why) != nullptr;
  return works ? std::move(compiler) : nullptr;
}

std::string library_beside(const std::string& own) {
  // A program may have named it by ".../bin/../lib/...": folders are counted.
  const std::size_t last = own.rfind('/');
  char* const real = realpath(
      last == std::string::npos ? "." : own.substr(0, last + 1).c_str(),
      nullptr);
  std::string folder = real == nullptr ? "" : real;
  std::free(real);
  for (int up = 0; up < 4 && !folder.empty(); ++up) {
    const std::string found = folder + "/llvmlite/binding/libllvmlite.so";
    if (access(found.c_str(), R_OK) == 0) {
      return found;
    }
    folder.resize(folder.rfind('/'));
  }
  return {};
}

std::string find_library() {
  const char* const path = std::getenv("CUDASIM_LLVM");
  if (path != nullptr && *path != '\0') {
    return path;
  }
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&find_library), &own) == 0 ||
      own.dli_fname == nullptr) {
    return {};
  }
  return library_beside(own.dli_fname);
}

} // namespace cudasim::native
