#pragma once

#include "evaluators/messages/arena.h"
#include "evaluators/messages/protocol.h"
#include "evaluators/worker/worker_device.h"
#include "process/sandbox.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace winnow::evaluators {

/// The coordinator's side of the `_judge` child of a device. The first question starts the child,
/// which serves the evaluations of all tasks. The child keeps one answer of a reference at a time:
/// every judged launch has inputs of its own, so nobody asks for an older answer again.
class ReferenceJudge {
public:
  /// Puts the answer of a reference outside of the judge into the exchange. The result says why
  /// there is none; empty: there is one.
  using Outside = std::function<std::string(const JudgeRequest&)>;

  /// `exchange`: see kExchangeFd.
  ReferenceJudge(const process::Sandbox& sandbox, const Arena& arena, const Arena& exchange,
                 WorkerDevice device, std::filesystem::path modules);
  ~ReferenceJudge();
  ReferenceJudge(const ReferenceJudge&) = delete; // owns the child
  ReferenceJudge& operator=(const ReferenceJudge&) = delete;

  /// Starts the child ahead of the first question, so that it creates its context while other work
  /// goes on. Throws Error.
  void start();

  /// Questions to the child, and its replies. The child has the next question before it answers, so
  /// it never waits for the coordinator. A judge has one round at a time. Never throws. If the
  /// judge fails, this and all later replies are `infrastructure` with the reason, and the next
  /// round starts a new child.
  class Round {
  public:
    /// `timeout`: the child is ended when a reply takes longer. `outside`: empty for a reference in
    /// the judge. With it, give() waits for the reply.
    Round(ReferenceJudge& judge, std::chrono::milliseconds timeout, Outside outside = {})
        : judge_(judge), timeout_(timeout), outside_(std::move(outside)) {}
    ~Round();                     ///< ends the child if it owes replies
    Round(const Round&) = delete; // its replies are taken once
    Round& operator=(const Round&) = delete;

    void give(const std::vector<JudgeRequest>& requests);
    /// A reply for each question so far.
    std::vector<JudgeReply> take();

  private:
    void ask_outside(const JudgeRequest& request);

    ReferenceJudge& judge_;
    std::chrono::milliseconds timeout_;
    Outside outside_;
    std::size_t given_ = 0;
    std::vector<JudgeReply> replies_;
    std::optional<JudgeReply> failure_;
  };

  std::vector<JudgeReply> ask(const std::vector<JudgeRequest>& requests,
                              std::chrono::milliseconds timeout);
  /// Number of children that have been started.
  int starts() const { return starts_; }

private:
  JudgeReply next_reply(std::chrono::milliseconds timeout);
  JudgeReply reply_from_outside(const JudgeRequest& request, std::chrono::milliseconds timeout,
                                const Outside& outside);
  JudgeReply reply_of(const std::string& line);
  JudgeReply failed(const std::string& why);

  const process::Sandbox& sandbox_;
  const Arena& arena_;
  const Arena& exchange_;
  WorkerDevice device_;
  std::filesystem::path modules_; ///< directory of the references' modules
  int starts_ = 0;
  std::unique_ptr<process::ChildProcess> child_;
};

/// Entry point of the hidden subcommand `_judge`.
int judge_worker_main(std::vector<std::string> arguments);

} // namespace winnow::evaluators
