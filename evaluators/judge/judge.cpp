#include "evaluators/judge/judge.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

constexpr std::size_t kMaxReplyBytes = 1U << 20U;

} // namespace

ReferenceJudge::ReferenceJudge(const process::Sandbox& sandbox, const Arena& arena,
                               const Arena& exchange, WorkerDevice device,
                               std::filesystem::path modules)
    : sandbox_(sandbox), arena_(arena), exchange_(exchange), device_(std::move(device)),
      modules_(std::move(modules)) {}

ReferenceJudge::~ReferenceJudge() = default;

void ReferenceJudge::start() {
  if (child_) {
    return;
  }
  process::ProcessLimits limits;
  limits.wall = std::chrono::milliseconds(0); // each question has its own time limit
  limits.output_bytes = kMaxReplyBytes;
  const process::SandboxPolicy policy = sandbox_policy(device_, modules_);
  child_ = std::make_unique<process::ChildProcess>(
      sandbox_.command("_judge", arguments_of(device_), policy, limits,
                       {{arena_.fd(), kArenaFd}, {exchange_.fd(), kExchangeFd}}));
  ++starts_;
}

ReferenceJudge::Round::~Round() {
  if (!failure_ && replies_.size() < given_) {
    judge_.child_.reset(); // its replies would answer the questions of the next round
  }
}

void ReferenceJudge::Round::give(const std::vector<JudgeRequest>& requests) {
  given_ += requests.size();
  if (failure_) {
    return;
  }
  try {
    judge_.start();
    if (outside_) {
      std::for_each(requests.begin(), requests.end(),
                    [this](const JudgeRequest& request) { ask_outside(request); });
      return;
    }
    std::string lines;
    for (const JudgeRequest& request : requests) {
      lines += encode(request);
    }
    if (!judge_.child_->write(lines, timeout_)) {
      failure_ = judge_.failed("the judge process does not accept requests");
    }
  } catch (const std::exception& error) {
    failure_ = judge_.failed(error.what());
  }
}

void ReferenceJudge::Round::ask_outside(const JudgeRequest& request) {
  if (!failure_) {
    replies_.push_back(judge_.reply_from_outside(request, timeout_, outside_));
  }
  if (!judge_.child_) {
    failure_ = replies_.back();
  }
}

std::vector<JudgeReply> ReferenceJudge::Round::take() {
  while (!failure_ && replies_.size() < given_) {
    try {
      replies_.push_back(judge_.next_reply(timeout_));
    } catch (const std::exception& error) {
      replies_.push_back(judge_.failed(error.what()));
    }
    if (!judge_.child_) {
      failure_ = replies_.back();
    }
  }
  replies_.resize(given_, failure_.value_or(JudgeReply()));
  given_ = 0;
  return std::exchange(replies_, {});
}

std::vector<JudgeReply> ReferenceJudge::ask(const std::vector<JudgeRequest>& requests,
                                            std::chrono::milliseconds timeout) {
  Round round(*this, timeout);
  round.give(requests);
  return round.take();
}

JudgeReply ReferenceJudge::reply_from_outside(const JudgeRequest& request,
                                              std::chrono::milliseconds timeout,
                                              const Outside& outside) {
  try {
    std::optional<std::string> line;
    if (child_->write(encode(request), timeout)) {
      line = child_->read_line(timeout);
    }
    if (!line || !asks(*line)) {
      return line ? reply_of(*line) : failed("it does not ask for an answer");
    }
    if (!child_->write(encode_answered(outside(request)), timeout)) {
      return failed("it takes no answer");
    }
    return next_reply(timeout);
  } catch (const std::exception& error) {
    return failed(error.what());
  }
}

JudgeReply ReferenceJudge::next_reply(std::chrono::milliseconds timeout) {
  const auto line = child_->read_line(timeout);
  if (!line) {
    return failed(
        fmt::format("no answer after {:.1f} s", std::chrono::duration<double>(timeout).count()));
  }
  return reply_of(*line);
}

JudgeReply ReferenceJudge::reply_of(const std::string& line) {
  JudgeReply reply = decode_judge_reply(line);
  if (reply.verdict == tasks::Verdict::Infrastructure) {
    child_.reset(); // the child's device may be unusable
  }
  return reply;
}

JudgeReply ReferenceJudge::failed(const std::string& why) {
  JudgeReply reply;
  reply.detail = "the judge failed: " + why;
  if (child_) {
    child_->kill();
    const process::ChildResult result = child_->wait();
    reply.detail += " (" + describe(result) + ")";
    if (!result.err.empty()) {
      reply.detail += ": " + truncate_text(to_valid_utf8(trim(result.err)), 500);
    }
    child_.reset();
  }
  return reply;
}

} // namespace winnow::evaluators
