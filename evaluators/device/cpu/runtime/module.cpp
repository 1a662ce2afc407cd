#include "evaluators/device/cpu/runtime/module.h"

#include "base/error.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <dlfcn.h>
#include <link.h>

namespace winnow::evaluators::cpu {
namespace {

bool imports_any(const ModuleImage& image, std::initializer_list<std::string_view> names) {
  return std::any_of(image.imports.begin(), image.imports.end(), [&](const std::string& import) {
    return std::find(names.begin(), names.end(), import) != names.end();
  });
}

bool imports_prefix(const ModuleImage& image, std::string_view prefix) {
  return std::any_of(image.imports.begin(), image.imports.end(), [&](const std::string& import) {
    return import.compare(0, prefix.size(), prefix) == 0;
  });
}

/// The function that declares a variable: "void ns::tile<16, float>(float*)::buffer" gives
/// "ns::tile<16,float>".
std::string owner_of(const std::string& variable) {
  int angle = 0;
  std::size_t parameters = std::string::npos;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < variable.size() && parameters == std::string::npos; ++i) {
    angle += variable[i] == '<' ? 1 : variable[i] == '>' ? -1 : 0;
    if (angle == 0 && variable[i] == ' ') {
      begin = i + 1; // skips the return type, which is part of a template's name
    } else if (angle == 0 && variable[i] == '(') {
      parameters = i;
    }
  }
  std::string owner =
      variable.substr(begin, parameters == std::string::npos ? 0 : parameters - begin);
  owner.erase(std::remove(owner.begin(), owner.end(), ' '), owner.end());
  return owner;
}

std::string without_spaces(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

std::string base_name(const std::string& name) {
  return name.substr(0, name.find('<'));
}

} // namespace

Module::Module(const std::filesystem::path& path) : path_(path), image_(read_module_image(path)) {
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    throw Error("cannot load CPU module: " + std::string(dlerror()),
                "delete the file from the cache; Winnow makes it again");
  }
  const auto version = *symbol<const unsigned*>("winnow_abi_version");
  if (version != WINNOW_CPU_ABI_VERSION) {
    throw Error("CPU module '" + path.string() + "' has the ABI " + std::to_string(version) +
                    ", but this program has " + std::to_string(WINNOW_CPU_ABI_VERSION),
                "delete the module cache");
  }
  kernels_ = symbol<const WinnowKernel*>("winnow_kernels");
  kernel_count_ = *symbol<const unsigned*>("winnow_kernel_count");
  where_ = symbol<void (*)(WinnowCoordinates*)>("winnow_where");
  link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map != nullptr) {
    load_address_ = reinterpret_cast<std::byte*>(map->l_addr);
  }
  checked_ = imports_prefix(image_, "__wrap___tsan_");
  blocking_ = checked_ || imports_any(image_, {"winnow_barrier", "winnow_gather", "winnow_yield",
                                               "winnow_grid_barrier", "winnow_active_mask"});
}

Module::~Module() {
  if (handle_ != nullptr) {
    dlclose(handle_);
  }
}

template <class T> T Module::symbol(const char* name) const {
  void* address = dlsym(handle_, name);
  if (address == nullptr) {
    throw Error("CPU module '" + path_.string() + "' lacks the symbol '" + name + "'",
                "delete the module cache");
  }
  return reinterpret_cast<T>(address);
}

const WinnowKernel& Module::kernel(const std::string& name) const {
  const std::string wanted = without_spaces(name);
  for (unsigned i = 0; i < kernel_count_; ++i) {
    if (kernels_[i].name == name || without_spaces(kernels_[i].name) == wanted) {
      return kernels_[i];
    }
  }
  throw Error("CPU module '" + path_.string() + "' has no kernel '" + name + "'");
}

std::uint64_t Module::static_shared_bytes(const std::string& kernel) const {
  const std::string wanted = without_spaces(kernel);
  std::uint64_t helpers = 0; // bytes in functions that are not kernels; counted for each kernel
  std::map<std::string, std::uint64_t> instances; // by instance of the kernel's template
  for (const ModuleVariable& variable : image_.shared) {
    const std::string owner = owner_of(variable.name);
    const auto owns = [&](const WinnowKernel& other) {
      return base_name(without_spaces(other.name)) == base_name(owner);
    };
    if (base_name(owner) == base_name(wanted)) {
      instances[owner] += variable.bytes;
    } else if (std::none_of(kernels_, kernels_ + kernel_count_, owns)) {
      helpers += variable.bytes;
    }
  }
  if (const auto exact = instances.find(wanted); exact != instances.end()) {
    return helpers + exact->second;
  }
  // The demangler may spell template arguments differently from the plan, so take the largest
  // instance.
  std::uint64_t largest = 0;
  for (const auto& [owner, bytes] : instances) {
    largest = std::max(largest, bytes);
  }
  return helpers + largest;
}

std::byte* Module::thread_local_block() const {
  void* block = nullptr;
  if (dlinfo(handle_, RTLD_DI_TLS_DATA, static_cast<void*>(&block)) != 0) {
    return nullptr;
  }
  if (block == nullptr) { // the loader allocates the block on first use, so winnow_where touches it
    WinnowCoordinates at;
    where_(&at);
    dlinfo(handle_, RTLD_DI_TLS_DATA, static_cast<void*>(&block));
  }
  return static_cast<std::byte*>(block);
}

} // namespace winnow::evaluators::cpu
