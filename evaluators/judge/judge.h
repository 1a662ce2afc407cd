#pragma once

#include "evaluators/worker/arena.h"
#include "evaluators/worker/protocol.h"
#include "evaluators/worker/worker_device.h"
#include "process/sandbox.h"

#include <chrono>
#include <filesystem>
#include <memory>

namespace winnow::evaluators {

/// The coordinator's side of the `_judge` child. The child is started at the first question and
/// outlives evaluations, so that the reference runs once per shape and seed.
class Judge {
public:
  Judge(const process::Sandbox& sandbox, const Arena& arena, WorkerDevice device,
        std::filesystem::path modules, std::chrono::milliseconds timeout);
  ~Judge();
  Judge(const Judge&) = delete; // owns the child
  Judge& operator=(const Judge&) = delete;

  /// Starts the child, which makes its context while others work. Throws Error.
  void start();
  /// Never throws: a judge that fails answers `infrastructure` with the reason, and the next
  /// question starts another.
  JudgeReply ask(const JudgeRequest& request);

private:
  JudgeReply failed(const std::string& why);

  const process::Sandbox& sandbox_;
  const Arena& arena_;
  WorkerDevice device_;
  std::filesystem::path modules_; ///< directory that holds the reference's module
  std::chrono::milliseconds timeout_;
  std::unique_ptr<process::ChildProcess> child_;
};

} // namespace winnow::evaluators
