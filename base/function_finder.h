#pragma once

#include <string>

#include <dlfcn.h>

// The name of a function after macro expansion: cuda.h turns cuMemAlloc into "cuMemAlloc_v2".
#define WINNOW_TEXT(name) #name
#define WINNOW_SYMBOL(name) WINNOW_TEXT(name)

namespace winnow {

/// Finds functions of a library that dlopen() has loaded.
class FunctionFinder {
public:
  explicit FunctionFinder(void* library) : library_(library) {}

  /// Sets `function` to null if the library has no function of this name.
  template <class Function> void find_if_there(const std::string& name, Function*& function) const {
    function = reinterpret_cast<Function*>(dlsym(library_, name.c_str()));
  }
  /// Also remembers the name of the first missing function.
  template <class Function> void find(const std::string& name, Function*& function) {
    find_if_there(name, function);
    if (function == nullptr && missing_.empty()) {
      missing_ = name;
    }
  }
  const std::string& missing() const { return missing_; }

private:
  void* library_;
  std::string missing_;
};

} // namespace winnow
