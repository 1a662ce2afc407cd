#pragma once

#include "evaluators/worker/arena.h"
#include "evaluators/worker/protocol.h"
#include "evaluators/worker/worker_device.h"
#include "process/sandbox.h"

#include <chrono>
#include <filesystem>
#include <memory>

namespace winnow::evaluators {

/// The coordinator's side of the `_judge` child. The first question starts the child. The child
/// serves many evaluations, so that the reference runs once per shape and seed.
class Judge {
public:
  Judge(const process::Sandbox& sandbox, const Arena& arena, WorkerDevice device,
        std::filesystem::path modules, std::chrono::milliseconds timeout);
  ~Judge();
  Judge(const Judge&) = delete; // owns the child
  Judge& operator=(const Judge&) = delete;

  /// Starts the child ahead of the first question, so that it creates its context while other work
  /// goes on. Throws Error.
  void start();
  /// Never throws. If the judge fails, the reply is `infrastructure` with the reason, and the next
  /// question starts a new child.
  JudgeReply ask(const JudgeRequest& request);

private:
  JudgeReply failed(const std::string& why);

  const process::Sandbox& sandbox_;
  const Arena& arena_;
  WorkerDevice device_;
  std::filesystem::path modules_; ///< directory of the reference's module
  std::chrono::milliseconds timeout_;
  std::unique_ptr<process::ChildProcess> child_;
};

} // namespace winnow::evaluators
