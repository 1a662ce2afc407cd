#pragma once

#include "base/availability.h"
#include "evaluators/device/module.h"

#include <functional>
#include <memory>
#include <string>

namespace winnow::process {
class Sandbox;
}

namespace winnow::evaluators {

/// Compiles device code into a module for one kind of device. The compiler runs in a fenced child
/// process, and its results are cached under a hash of their inputs. Safe to call from several
/// threads.
class Compiler {
public:
  virtual ~Compiler() = default;
  virtual std::string_view device_kind() const = 0; ///< "cpu"
  /// Whether this compiler can build instrumented modules (BuildMode::Check).
  virtual bool has_check_mode() const { return false; }
  /// Never throws because of the candidate's code. Throws Error when the cache cannot be written.
  virtual CompileResult compile(const CompileRequest& request,
                                const std::function<bool()>& cancelled = {}) = 0;
};

} // namespace winnow::evaluators
