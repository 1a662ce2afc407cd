#pragma once

#include "agents/model/model_request.h"
#include "agents/prompts/text_template.h"
#include "tasks/exemplar.h"
#include "tasks/plan/resolve/plan_resolve.h"
#include "tasks/result/evaluation.h"
#include "tasks/task/task.h"

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

/// An attempt as the history tells it, in a line.
struct EarlierAttempt {
  int number = 0;
  tasks::Verdict verdict = tasks::Verdict::NotJudged;
  double speedup = 0;
  std::string reason;    ///< why it failed; empty: it did not, or prompts must not say why
  std::string idea = {}; ///< its author's words about it; empty: none
};

EarlierAttempt earlier_attempt(int number, const tasks::Evaluation& evaluation);

/// The least time of any kernel at one search shape.
struct ShapeBound {
  std::string shape; ///< "m=4096, n=4096"
  double least_ns = 0;
  std::string limiter;      ///< what sets the least time: "DRAM's peak"
  std::string other;        ///< another limit that comes near: "20.9 us by DRAM's peak"
  std::string measured;     ///< measured times to compare with: "a plain copy ... takes 34.8 us"
  double special_calls = 0; ///< of exp, rsqrt and the like; 0: not stated, or no matter
  double special_ns = 0;    ///< the time of these calls on the units for them
};

/// A speed or time of the device: a peak, or a measured one.
struct DeviceCeiling {
  std::string name; ///< "peak of 16-bit tensor operations"
  double value = 0;
  std::string unit; ///< "B/s", "op/s", "ns"
};

/// The data that a prompt is made from.
struct ProposalContext {
  const tasks::Task* task = nullptr; ///< nullptr: for PromptTemplates::rules() only
  tasks::DeviceFacts facts;
  std::string device = "cpu"; ///< device kind: decides which shapes and which advice appear
  std::string device_name;
  std::vector<DeviceCeiling> ceilings; ///< empty: not known
  std::vector<ShapeBound> bounds;      ///< of the search shapes; empty: not known
  std::int64_t variants = 8;       ///< choices of parameters that the harness tries for a kernel
  std::optional<Attempt> baseline; ///< nullopt: the task has none; PyTorch eager is to be beaten
  std::string op = "improve";      ///< one of operator_names()
  std::optional<Attempt> parent;   ///< to build on; improve and seed have none
  std::optional<Attempt> second;   ///< crossover: the other parent; contrast: the slower kernel
  std::optional<Attempt> best;     ///< the fastest correct attempt so far
  std::optional<Attempt> previous; ///< the latest attempt, if it is worth showing in full
  std::vector<EarlierAttempt> history; ///< the newest attempts of this chain
  int older = 0;                       ///< number of attempts before `history`
  /// seed: a line for each family of kernels that exists already; insights: for each other kernel
  std::vector<std::string> families;
  std::vector<std::string> do_not; ///< a line for each idea that failed, with the evidence
  /// How the parent's speed depends on its tunable parameters, in words.
  std::string surface;
  std::string mission;     ///< the words of a direction (missions.h); empty: the call has none
  bool structured = false; ///< the reply must be JSON that follows kernel_reply_schema()
  // Of prompts in runs with roles (docs/roles.md):
  std::string advice;               ///< the judge's advice about the parent, in words; empty: none
  std::string guide;                ///< the meta-prompter's words; empty: none
  std::vector<std::string> lessons; ///< a line for each lesson of another task
  std::optional<tasks::Exemplar> exemplar; ///< a kernel of another task of the category
  std::vector<std::string> evidence;       ///< judge, forecaster: a line for each fact of a record
  std::vector<std::string> bins;           ///< forecaster: a line for each bin of a forecast
  std::string record;                ///< how often the role was right so far; empty: not known
  std::vector<std::string> versions; ///< meta-prompter: a line for each earlier version
};

/// What a prompt may ask for:
/// - improve: a faster kernel, from the best and the previous attempt (the default)
/// - seed: a correct kernel that differs in structure from those that exist
/// - rewrite: `parent` written anew around another idea
/// - diff: one change of `parent`, as search/replace blocks (reply_diff.h)
/// - crossover: one kernel with what is good in `parent` and `second`
/// - contrast: a kernel that goes further in the direction from `second` (slower) to `parent`
/// - repair: `parent`, made to work
/// - features: a faster kernel that carries the features of `parent` on
/// - insights: a faster kernel than `parent`, with the ideas of other kernels in view
const std::vector<std::string>& operator_names();
/// What a role's prompt may ask for:
/// - judge: what limits `parent`, one change, and the effect of the change
/// - verify: whether `parent`, which is not judged yet, would fail
/// - meta: other words for `guide`
/// - forecast: how fast `parent`, which is not judged yet, is beside `second`, from which it was
///   written
const std::vector<std::string>& role_operator_names();

/// How long a section of a prompt stays the same: Stable for a task on a device, Slow for some
/// calls, Volatile for one call.
enum class Stability { Stable, Slow, Volatile };

/// One section of a prompt, filled in.
struct SectionText {
  std::string name;
  std::string role; ///< "system", "user"
  Stability stability = Stability::Stable;
  std::string text;
  std::size_t left_out = 0; ///< bytes over the section's budget that were cut
};

/// Fills the templates agents/prompts/templates/*.md by the recipe in prompt_recipe.cpp, which
/// docs/prompts.md describes. The templates are embedded in the program; a file of the same name in
/// `directory` replaces one. The constructor reads `directory`; nothing else has side effects. Of
/// shapes only those of the search set appear. A template that cannot be used, and a file that is
/// no template, throw UsageError with file and line.
class PromptTemplates {
public:
  explicit PromptTemplates(const std::filesystem::path& directory = {});
  /// The stable messages come first. The stable and the slow part each end in a message with
  /// end_of_prefix. Throws Error for an unknown operator, or if an attempt that the operator needs
  /// is missing.
  std::vector<Message> proposal(const ProposalContext& context) const;
  /// The sections of proposal(), in order.
  std::vector<SectionText> sections(const ProposalContext& context) const;
  /// What holds before the first kernel, as one text for a reader: the rules, the kernel file, the
  /// task, the device and its bounds, and examples. Without a task: what holds for all tasks, and
  /// each part of the kernel file that the device has.
  std::string rules(const ProposalContext& context) const;

private:
  std::map<std::string, TextTemplate> templates_; ///< by file name without ".md"
};

/// The files of the directory that replace built-in templates: by name, the SHA-256 of the text.
std::map<std::string, std::string> own_templates(const std::filesystem::path& directory);
/// The same for the user, in a line, with the placeholders that a file does not use; empty: there
/// are none.
std::string own_templates_text(const std::filesystem::path& directory);

/// Describes one evaluation by shape and by error, in about one screen at most. Of hidden shapes it
/// says only that some fail. `versus`: what the speedups are against, in words.
std::string feedback_text(const tasks::Evaluation& evaluation, std::string_view versus);

} // namespace winnow::agents
