#pragma once

#include "base/files.h"

#include <filesystem>
#include <map>
#include <string>

namespace winnow::evaluators {

/// Whether `program` can be found in PATH.
bool has_program(const std::string& program);

struct BuildOutcome {
  bool ok = false;
  std::string log;
};

/// Test support: builds device sources against the written headers, in the way in which candidates
/// are built.
class SampleBuild {
public:
  SampleBuild(std::string compiler, std::string flags);

  /// Compiles text (`-c`). `name` is the file name in messages.
  BuildOutcome compile(const std::string& name, const std::string& text) const;
  /// Builds samples/NAME into a shared object and loads it. The test fails when that is not
  /// possible.
  void load(const std::string& name);
  /// A function of the loaded sample.
  template <class Function> Function* function(const std::string& name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }
  const std::filesystem::path& headers() const { return directory_.path(); }

private:
  std::string command(const std::filesystem::path& source) const;
  void* symbol(const std::string& name) const;

  TemporaryDirectory directory_{"samples"};
  std::string compiler_;
  std::string flags_;
  void* library_ = nullptr;
};

} // namespace winnow::evaluators
