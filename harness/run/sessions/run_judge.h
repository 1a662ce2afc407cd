#pragma once

#include "agents/sessions/session_judge.h"
#include "evaluators/device/device_report.h"
#include "evaluators/evaluation/evaluations.h"
#include "harness/brief/brief.h"
#include "store/run_store.h"
#include "tasks/task/task.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::harness {

/// What the run of a search's sessions is called.
std::string name_of_sessions(const std::string& run);

/// The judge of the sessions that a run's agents hold. Each session asks through a mailbox in its
/// workspace, and is an owner of its own: it sees what it has sent, and nothing else. What was
/// asked is in the run's store, in a run beside it; a run that goes on judges nothing of it again.
class RunJudge : public agents::SessionJudge {
public:
  struct Setup {
    std::filesystem::path store;
    std::string run; ///< the search's name
    std::vector<std::shared_ptr<const tasks::Task>> tasks;
    evaluators::EvaluationsFactory evaluations;
    evaluators::DeviceReport device;
    std::size_t devices = 1;
    evaluators::Protocol protocol;
    nlohmann::json environment;
    std::function<LightShares(const tasks::Task&, const tasks::Evaluation&)> light;
  };

  RunJudge();
  ~RunJudge() override;               ///< ends it
  RunJudge(const RunJudge&) = delete; // owns threads
  RunJudge& operator=(const RunJudge&) = delete;

  /// No session may be opened before. Throws Error.
  void begin(Setup setup);
  void end(); ///< no session is open any more; does nothing before begin()

  agents::SessionPass open(const std::string& session, const std::string& task,
                           const std::filesystem::path& workspace,
                           const agents::SessionLimits& limits) override;
  agents::SessionRecord close(const std::string& session) override;

private:
  class Working;
  std::unique_ptr<Working> working_;
};

} // namespace winnow::harness
