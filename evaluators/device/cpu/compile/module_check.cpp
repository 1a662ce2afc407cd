#include "evaluators/device/cpu/compile/module_check.h"

#include "evaluators/device/cpu/compile/toolchain.h"
#include "evaluators/device/inspect/module_findings.h"
#include "evaluators/device/source/compiler_messages.h"

#include <algorithm>
#include <map>
#include <set>

#include <elf.h>
#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

constexpr std::uint64_t kMaxStaticSharedBytes = 48UL * 1024; // the limit of every CUDA device
constexpr std::uint64_t kPointerBytes = 8;

const std::set<std::string, std::less<>>& runtime_entry_points() {
  static const std::set<std::string, std::less<>> kNames{
      "winnow_dynamic_shared", "winnow_barrier", "winnow_gather", "winnow_active_mask",
      "winnow_grid_barrier", "winnow_yield", "winnow_fence", "winnow_printf", "winnow_trap",
      "winnow_clock",
      // Functions that compilers call on their own.
      "memcpy", "memmove", "memset", "memcmp", "__tls_get_addr"};
  return kNames;
}

bool is_math_function(std::string_view name) {
  static const std::set<std::string, std::less<>> kBases{
      "acos",   "acosh",    "asin",    "asinh",     "atan",      "atan2",     "atanh", "cbrt",
      "ceil",   "copysign", "cos",     "cosh",      "erf",       "erfc",      "exp",   "exp10",
      "exp2",   "expm1",    "fabs",    "fdim",      "floor",     "fma",       "fmax",  "fmin",
      "fmod",   "frexp",    "hypot",   "ilogb",     "j0",        "j1",        "jn",    "ldexp",
      "lgamma", "llrint",   "llround", "log",       "log10",     "log1p",     "log2",  "logb",
      "lrint",  "lround",   "modf",    "nan",       "nearbyint", "nextafter", "pow",   "remainder",
      "remquo", "rint",     "round",   "roundeven", "scalbln",   "scalbn",    "sin",   "sincos",
      "sinh",   "sqrt",     "tan",     "tanh",      "tgamma",    "trunc",     "y0",    "y1",
      "yn"};
  if (kBases.count(name) != 0) {
    return true;
  }
  return !name.empty() && name.back() == 'f' && kBases.count(name.substr(0, name.size() - 1)) != 0;
}

ModuleObjection explain_import(const std::string& symbol) {
  static const std::set<std::string_view> kHeap{"malloc", "free",   "calloc", "realloc", "_Znwm",
                                                "_Znam",  "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"};
  const std::string name = demangle(symbol);
  if (kHeap.count(symbol) != 0) {
    return {tasks::Verdict::Unsupported, name + " (device-side heap)", unqualified(name)};
  }
  if (symbol.rfind("__cxa_guard", 0) == 0 || symbol == "__cxa_atexit" ||
      symbol == "__cxa_thread_atexit" || symbol == "__dso_handle") {
    return {tasks::Verdict::CompileError,
            "dynamic initialisation of static, __device__, __constant__ or __shared__ variables is "
            "not allowed: use constant initialisers and types without constructors",
            ""};
  }
  return {tasks::Verdict::CompileError,
          "device code cannot call the host function '" + name +
              "': it is not defined in the source and not a device function",
          unqualified(name)};
}

std::optional<ModuleObjection> check_imports(const ElfReader& module, BuildMode mode) {
  for (const std::string& symbol : module.undefined_symbols()) {
    if (!is_allowed_import(symbol, mode)) {
      return explain_import(symbol);
    }
  }
  return std::nullopt;
}

// No code may run when the module is loaded. Exception: a check module has one constructor, made by
// the compiler, which registers the module with the checker.
std::optional<ModuleObjection> check_constructors(const ElfReader& module, BuildMode mode) {
  static const std::set<std::string_view> kSections{".ctors",         ".dtors", ".fini_array",
                                                    ".preinit_array", ".init",  ".fini"};
  bool runs = false;
  for (const ElfSection& section : module.sections()) {
    const bool own = mode == BuildMode::Check && section.size <= kPointerBytes;
    runs = runs || kSections.count(section.name) != 0 || (section.type == SHT_INIT_ARRAY && !own) ||
           (section.name.rfind(".init_array", 0) == 0 && !own);
  }
  for (const std::int64_t tag : module.dynamic_tags()) {
    runs = runs || tag == DT_INIT || tag == DT_FINI || tag == DT_PREINIT_ARRAY;
  }
  if (!runs) {
    return std::nullopt;
  }
  return ModuleObjection{tasks::Verdict::CompileError,
                         "code that runs before any kernel is not allowed: give __device__ and "
                         "__constant__ variables constant initialisers, no constructors",
                         ""};
}

std::optional<ModuleObjection> check_loading(const ElfReader& module) {
  constexpr std::uint32_t kIrelativeX86 = 37;
  constexpr std::uint32_t kIrelativeArm = 1032;
  const auto tags = module.dynamic_tags();
  const auto types = module.relocation_types();
  bool odd = std::count(tags.begin(), tags.end(), DT_NEEDED) > 1 ||
             std::count(tags.begin(), tags.end(), DT_TEXTREL) > 0 ||
             std::find(types.begin(), types.end(), kIrelativeX86) != types.end() ||
             std::find(types.begin(), types.end(), kIrelativeArm) != types.end();
  for (const ElfSymbol& symbol : module.dynamic_symbols()) {
    odd = odd || symbol.type == STT_GNU_IFUNC;
  }
  if (!odd) {
    return std::nullopt;
  }
  return ModuleObjection{tasks::Verdict::CompileError,
                         "attributes that change how a module is loaded (ifunc, other libraries) "
                         "are not allowed in device code",
                         ""};
}

// `__shared__` arrays are thread-local variables. Their demangled names look like
// "kernel<128>(float*)::tile".
std::optional<ModuleObjection> check_static_shared(const ElfReader& module) {
  std::map<std::string, std::uint64_t> bytes_of;
  for (const ElfSymbol& symbol : module.all_symbols()) {
    if (symbol.type != STT_TLS || symbol.section == SHN_UNDEF) {
      continue;
    }
    const std::string name = demangle(symbol.name);
    const std::size_t scope = name.rfind("::");
    if (scope == std::string::npos || name.find("winnow_redzone_") != std::string::npos) {
      continue;
    }
    const std::string function = name.substr(0, scope);
    std::uint64_t& total = bytes_of[function];
    total += std::min(symbol.size, std::uint64_t{1} << 40U);
    if (total > kMaxStaticSharedBytes) {
      return ModuleObjection{
          tasks::Verdict::CompileError,
          fmt::format("the static __shared__ arrays of {} take {} bytes or more, at most {} are "
                      "allowed: {}",
                      function, total, kMaxStaticSharedBytes, kUseDynamicShared),
          unqualified(function.substr(function.rfind(' ', function.find('(')) + 1))};
    }
  }
  return std::nullopt;
}

} // namespace

bool is_allowed_import(std::string_view name, BuildMode mode) {
  if (runtime_entry_points().count(name) != 0 || is_math_function(name)) {
    return true;
  }
  constexpr std::string_view kWrap = "__wrap_";
  if (mode != BuildMode::Check || name.substr(0, kWrap.size()) != kWrap) {
    return false;
  }
  static const std::vector<std::string> kWrapped = wrapped_symbols();
  return std::find(kWrapped.begin(), kWrapped.end(), name.substr(kWrap.size())) != kWrapped.end();
}

std::optional<ModuleObjection> check_module(const ElfReader& module, BuildMode mode) {
  // Imports first, because they explain most constructors.
  for (const auto& objection : {check_imports(module, mode), check_constructors(module, mode),
                                check_loading(module), check_static_shared(module)}) {
    if (objection) {
      return objection;
    }
  }
  return std::nullopt;
}

} // namespace winnow::evaluators
