#pragma once

#include "tasks/plan/resolve/plan_context.h"

#include <set>
#include <string>
#include <vector>

namespace winnow::tasks {

/// The list of a plan that holds a launch.
enum class Phase : std::uint8_t { Prepare, Run };

/// Records which buffers the steps of a plan read and write, and checks the rules: `prepare` reads
/// only static inputs and writes only kept scratch buffers; launches do not write kept buffers.
/// Throws PlanMistake.
class BufferAccess {
public:
  explicit BufferAccess(const PlanContext& context) : context_(context) {}

  /// For a fill or copy at position `at`.
  void read(Phase phase, const Buffer& buffer, SourcePosition at);
  void write(Phase phase, const Buffer& buffer, SourcePosition at);
  /// For the arguments of a kernel. `written` is ResolvedArguments::written. `signature` is null
  /// before compiling.
  void add(Phase phase, const LaunchStep& step, const std::vector<std::string>& written,
           const KernelSignature* signature, const std::vector<Buffer>& buffers, SourcePosition at);

  /// Call after all launches. Checks that the plan writes every output and every kept buffer in
  /// use.
  void check_whole(const std::vector<Buffer>& buffers) const;

private:
  struct Used {
    std::set<std::string> bound;   ///< buffers that a step names
    std::set<std::string> written; ///< buffers that a step may write
  };

  Used& used(Phase phase) { return phase == Phase::Prepare ? prepare_ : run_; }
  void check_prepare(const Buffer& buffer, SourcePosition at) const;
  [[noreturn]] void fail_kept(const Buffer& buffer, SourcePosition at) const;

  const PlanContext& context_;
  Used prepare_;
  Used run_;
};

} // namespace winnow::tasks
