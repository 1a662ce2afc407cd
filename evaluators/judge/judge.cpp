#include "evaluators/judge/judge.h"

#include "base/error.h"
#include "base/text.h"

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

JudgeReply ReferenceJudge::ask(const JudgeRequest& request, std::chrono::milliseconds timeout) {
  return ask(std::vector{request}, timeout).front();
}

std::vector<JudgeReply> ReferenceJudge::ask(const std::vector<JudgeRequest>& requests,
                                            std::chrono::milliseconds timeout) {
  std::string lines;
  for (const JudgeRequest& request : requests) {
    lines += encode(request);
  }
  std::vector<JudgeReply> replies;
  try {
    start();
    if (!child_->write(lines, timeout)) {
      return {requests.size(), failed("the judge process does not accept requests")};
    }
    while (child_ && replies.size() < requests.size()) {
      replies.push_back(next_reply(timeout));
    }
  } catch (const std::exception& error) {
    replies.push_back(failed(error.what()));
  }
  if (!replies.empty()) {
    const JudgeReply last = replies.back();
    replies.resize(requests.size(), last);
  }
  return replies;
}

JudgeReply ReferenceJudge::ask(const JudgeRequest& request, std::chrono::milliseconds timeout,
                               const Outside& outside) {
  try {
    start();
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
