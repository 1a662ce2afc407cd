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
  /// Builds samples/NAME into a shared object, if it is not built yet, and loads it. The test fails
  /// when that is not possible.
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
  std::map<std::string, void*> libraries_; ///< by the sample's name
  void* library_ = nullptr;
};

/// The only one of this program with this compiler and these flags: tests share its samples.
SampleBuild& sample_build(const std::string& compiler, const std::string& flags);

} // namespace winnow::evaluators
