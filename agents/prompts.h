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
  std::string text; ///< its kernel file or, for bad replies, nothing
  tasks::Evaluation evaluation;
  std::string limits = {}; ///< what its profile says limits it; empty: it was not profiled
};

/// What a proposal is asked for.
struct ProposalContext {
  const tasks::Task* task = nullptr;
  tasks::DeviceFacts facts;
  std::string device = "cpu"; ///< kind: which shapes are listed and which advice is given
  std::string device_name;
  Attempt baseline;
  std::optional<Attempt> best;     ///< fastest correct one so far
  std::optional<Attempt> previous; ///< the latest of this chain
  std::vector<Attempt> history;    ///< all earlier ones of this chain: a line each
  bool structured = false;         ///< the reply is to be JSON of kernel_reply_schema()
};

/// Fills agents/prompts/*.md (embedded; `directory` overrides file by file): the stable prefix
/// (rules, kernel file, task, device, baseline) first, then best so far, history, feedback,
/// question. Pure apart from reading the override directory once. Only shapes of the tiny and
/// search sets ever appear. A template that cannot be used throws Error naming file and line.
class PromptTemplates {
public:
  explicit PromptTemplates(const std::filesystem::path& directory = {});
  std::vector<Message> proposal(const ProposalContext& context) const;

private:
  using Values = std::map<std::string, std::string>;
  std::string fill(const std::string& name, const Values& values) const;

  std::map<std::string, TextTemplate> templates_; ///< by file name without ".md"
};

/// The per-shape and per-error account of one evaluation, at most about a screen. Of hidden shapes
/// it says only that some fail.
std::string feedback_text(const tasks::Evaluation& evaluation);

} // namespace winnow::agents
