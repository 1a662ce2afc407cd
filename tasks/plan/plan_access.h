#pragma once

#include "tasks/plan/plan_context.h"

#include <set>
#include <string>
#include <vector>

namespace winnow::tasks {

/// Which list of a plan a launch stands in.
enum class Phase : std::uint8_t { Prepare, Run };

/// What the launches of a plan do with its buffers, and the rules for it: `prepare` reads static
/// inputs and writes kept scratch buffers only, launches do not write those. Throws PlanMistake.
class BufferAccess {
public:
  explicit BufferAccess(const PlanContext& context) : context_(context) {}

  /// A fill or copy, at `at`.
  void read(Phase phase, const Buffer& buffer, SourcePosition at);
  void write(Phase phase, const Buffer& buffer, SourcePosition at);
  /// A kernel's arguments; `written` as in ResolvedArguments. `signature` is null before compiling.
  void add(Phase phase, const LaunchStep& step, const std::vector<std::string>& written,
           const KernelSignature* signature, const std::vector<Buffer>& buffers, SourcePosition at);

  /// After all launches: every output is written, and every kept buffer that they use.
  void check_whole(const std::vector<Buffer>& buffers) const;

private:
  struct Used {
    std::set<std::string> bound;   ///< named by some step
    std::set<std::string> written; ///< that some step may write
  };

  Used& used(Phase phase) { return phase == Phase::Prepare ? prepare_ : run_; }
  void check_prepare(const Buffer& buffer, SourcePosition at) const;
  [[noreturn]] void fail_kept(const Buffer& buffer, SourcePosition at) const;

  const PlanContext& context_;
  Used prepare_;
  Used run_;
};

} // namespace winnow::tasks
