#include "agents/sessions/agent_endpoint.h"

#include "agents/sessions/transcript.h"
#include "base/error.h"
#include "base/secrets.h"
#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

namespace fs = std::filesystem;
using Status = ModelReply::Status;

/// "row_softmax/0/3" becomes "row_softmax-0-3".
std::string plain_name_of(std::string_view key) {
  std::string name(key);
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '.'; }, '-');
  return name.empty() || name.front() == '.' ? "session" + name : name;
}

/// A fence of the reply that no line of the file closes.
std::string fenced_block(const std::string& file) {
  std::string fence = "```";
  while (file.find(fence) != std::string::npos) {
    fence += '`';
  }
  return fmt::format("{}cuda\n{}{}{}\n", fence, file, file.ends_with('\n') ? "" : "\n", fence);
}

std::string sentence(const SessionOutcome& outcome) {
  return outcome.why + (outcome.remedy.empty() ? "" : "; " + outcome.remedy);
}

/// A pass that is closed in any case.
class OpenSession {
public:
  OpenSession(SessionJudge& judge, std::string name, const std::string& task,
              const fs::path& workspace, const SessionLimits& limits)
      : judge_(judge), name_(std::move(name)), pass_(judge.open(name_, task, workspace, limits)) {}
  ~OpenSession() {
    if (!closed_) {
      try {
        judge_.close(name_);
      } catch (const std::exception&) {
        return; // the failure that ended the session is the one to tell
      }
    }
  }
  OpenSession(const OpenSession&) = delete; // closes the session
  OpenSession& operator=(const OpenSession&) = delete;
  const SessionPass& pass() const { return pass_; }
  SessionRecord close() {
    closed_ = true;
    return judge_.close(name_);
  }

private:
  SessionJudge& judge_;
  std::string name_;
  SessionPass pass_;
  bool closed_ = false;
};

/// What the session leaves. A session that was cancelled may have left half a file.
std::string kernel_of(const SessionRecord& record, const Workspace& workspace,
                      const SessionOutcome& outcome, std::string& why) {
  return !record.best_kernel.empty() || outcome.end == SessionEnd::Cancelled
             ? record.best_kernel
             : workspace.changed_kernel(why);
}

/// The reply without its cost. `kernel`: empty if the session has none, because of `why`.
ModelReply reply_of(const std::string& key, const SessionOutcome& outcome,
                    const std::string& kernel, const std::string& why) {
  ModelReply reply;
  reply.request_id = without_keys(visible(outcome.output.session));
  reply.seconds = outcome.seconds;
  if (kernel.empty() && outcome.end == SessionEnd::Cancelled) {
    reply.status = Status::Cancelled;
    reply.error = sentence(outcome);
  } else if (kernel.empty() && is_set_up_wrong(outcome.end)) {
    reply.error = sentence(outcome);
  } else {
    reply.status = Status::Ok;
    reply.text =
        kernel.empty() ? without_keys(outcome.output.text) : without_secrets(fenced_block(kernel));
    // A file is complete, whatever ended the session.
    reply.finish_reason = kernel.empty() && outcome.end != SessionEnd::Done ? "limit" : "stop";
  }
  if (reply.status == Status::Ok && outcome.end != SessionEnd::Done) {
    reply.notices.push_back(fmt::format("{}: {}", key, sentence(outcome)));
  }
  if (reply.status == Status::Ok && !why.empty() && kernel.empty()) {
    reply.notices.push_back(fmt::format("{}: the session ended without a kernel: {}", key, why));
  }
  return reply;
}

/// A folder that is not there yet.
fs::path new_folder(const fs::path& parent, const std::string& name) {
  fs::path folder = parent / name;
  for (int number = 2; fs::exists(folder); ++number) {
    folder = parent / fmt::format("{}.{}", name, number);
  }
  return folder;
}

} // namespace

AgentEndpoint::AgentEndpoint(const EndpointConfig& config, AgentEndpointSetup setup)
    : config_(config), setup_(std::move(setup)) {
  setup_.bounds.time = config.session_time;
  setup_.bounds.dollars = config.dollars_per_session;
  for (int i = 0; i < std::max(config.parallel, 1); ++i) {
    threads_.emplace_back([this] { serve(); });
  }
}

AgentEndpoint::~AgentEndpoint() {
  cancel_all();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void AgentEndpoint::start(ModelRequest request, std::function<void(ModelReply)> done) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(request), std::move(done)});
  }
  changed_.notify_one();
}

void AgentEndpoint::cancel_all() {
  const std::lock_guard lock(mutex_);
  for (const Call& call : waiting_) {
    *call.cancelled = true;
  }
  for (const auto& cancelled : running_) {
    *cancelled = true;
  }
}

void AgentEndpoint::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) {
      return;
    }
    Call call = std::move(waiting_.front());
    waiting_.pop_front();
    running_.push_back(call.cancelled);
    lock.unlock(); // `done` may call start()
    call.done(answer(call));
    lock.lock();
    std::erase(running_, call.cancelled);
  }
}

ModelReply AgentEndpoint::answer(const Call& call) {
  ModelReply reply;
  if (*call.cancelled) {
    reply.status = Status::Cancelled;
    reply.error = "cancelled";
    return reply;
  }
  try {
    return hold_session(call);
  } catch (const Error& failure) {
    reply.error = without_secrets(with_remedy(failure));
  } catch (const std::exception& failure) {
    reply.error = without_secrets(failure.what());
  }
  return reply;
}

ModelReply AgentEndpoint::hold_session(const Call& call) {
  const ModelRequest& request = call.request;
  const bool is_judged = !request.task.empty();
  Workspace workspace;
  workspace.fill(request, setup_.agent.adapter);
  std::optional<OpenSession> session;
  if (is_judged) {
    session.emplace(setup_.judge, session_name(request.key), request.task, workspace.folder(),
                    SessionLimits{config_.evaluations,
                                  std::chrono::ceil<std::chrono::seconds>(config_.session_time)});
    keep_secret(session->pass().token);
    workspace.let_in(session->pass(), request.task);
  }
  keep_login_secrets(setup_.agent.adapter);
  const SessionOutcome outcome =
      run_agent(setup_.agent, workspace, session_prompt(request, config_.evaluations),
                request.model, setup_.fenced, is_judged ? session->pass().server : "",
                setup_.bounds, [&] { return call.cancelled->load(); });
  keep_login_secrets(setup_.agent.adapter);
  std::string why;
  const std::string kernel =
      is_judged ? kernel_of(session->close(), workspace, outcome, why) : std::string();
  ModelReply reply = reply_of(request.key, outcome, kernel, why);
  reply.model = request.model;
  count(outcome, reply);
  keep(request.key, workspace, outcome, reply);
  return reply;
}

std::string AgentEndpoint::session_name(const std::string& key) {
  const std::lock_guard lock(mutex_);
  return fmt::format("{}.{}", plain_name_of(key), ++sessions_of_[key]);
}

void AgentEndpoint::keep(const std::string& key, const Workspace& workspace,
                         const SessionOutcome& outcome, ModelReply& reply) const {
  if (setup_.sessions.empty()) {
    return;
  }
  try {
    keep_transcript(workspace, setup_.agent.adapter, outcome.out, outcome.err,
                    new_folder(setup_.sessions, plain_name_of(key)));
  } catch (const std::exception& failure) {
    reply.notices.push_back(
        fmt::format("the transcript of {} cannot be kept: {}", key, failure.what()));
  }
}

/// The agent's own figure counts; else the price of its tokens; a session that was killed before it
/// said anything is charged its limit.
void AgentEndpoint::count(const SessionOutcome& outcome, ModelReply& reply) const {
  reply.usage = outcome.output.usage;
  reply.dollars = outcome.output.dollars;
  if (!reply.dollars && reply.usage.tokens() > 0 && setup_.price) {
    reply.price = setup_.price;
    reply.dollars = cost(*setup_.price, reply.usage);
  }
  if (outcome.was_killed && !reply.dollars) {
    reply.estimated = EstimatedCost{1, 0, config_.dollars_per_session};
  }
}

} // namespace winnow::agents
