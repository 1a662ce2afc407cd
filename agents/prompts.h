#pragma once

#include "agents/model_request.h"
#include "agents/text_template.h"
#include "tasks/plan/plan_resolve.h"
#include "tasks/result/evaluation.h"
#include "tasks/task.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace winnow::agents {

/// One earlier attempt, as the prompt shows it.
struct Attempt {
  int number = 0;
  std::string text; ///< the kernel file; empty for a bad reply
  tasks::Evaluation evaluation;
  std::string limits = {}; ///< the limiters from its profile; empty: it was not profiled
};

/// The data that a prompt is made from.
struct ProposalContext {
  const tasks::Task* task = nullptr;
  tasks::DeviceFacts facts;
  std::string device = "cpu"; ///< device kind: decides which shapes and which advice appear
  std::string device_name;
  Attempt baseline;
  std::optional<Attempt> best;     ///< the fastest correct attempt so far
  std::optional<Attempt> previous; ///< the latest attempt of this chain
  std::vector<Attempt> history;    ///< the newest attempts of this chain, one line each
  int older = 0;                   ///< number of attempts before `history`
  bool structured = false;         ///< the reply must be JSON that follows kernel_reply_schema()
};

/// Fills the templates agents/prompts/*.md. They are embedded in the program; a file of the same
/// name in `directory` replaces one. The prompt begins with the stable prefix (rules, kernel file,
/// task, device, baseline), then come the best attempt so far, history, feedback and question. The
/// constructor reads `directory`; nothing else has side effects. Only shapes of the tiny and search
/// sets appear. A template that cannot be used throws Error with file and line.
class PromptTemplates {
public:
  explicit PromptTemplates(const std::filesystem::path& directory = {});
  std::vector<Message> proposal(const ProposalContext& context) const;

private:
  using Values = std::map<std::string, std::string>;
  std::string fill(const std::string& name, const Values& values) const;

  std::map<std::string, TextTemplate> templates_; ///< by file name without ".md"
};

/// Describes one evaluation by shape and by error, in about one screen at most. Of hidden shapes it
/// says only that some fail.
std::string feedback_text(const tasks::Evaluation& evaluation);

} // namespace winnow::agents
