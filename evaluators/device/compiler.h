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

/// Turns device code into a module for one kind of device, in a fenced child process, through the
/// content-hash cache. Safe to call from several threads.
class Compiler {
public:
  virtual ~Compiler() = default;
  virtual std::string_view device_kind() const = 0; ///< "cpu"
  /// Whether it can build modules that watch themselves (BuildMode::Check).
  virtual bool has_check_mode() const { return false; }
  /// Never throws for what a candidate contains; throws Error when the cache cannot be written.
  virtual CompileResult compile(const CompileRequest& request,
                                const std::function<bool()>& cancelled = {}) = 0;
};

} // namespace winnow::evaluators
