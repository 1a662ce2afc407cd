#pragma once

#include "evaluators/evaluation/evaluator.h"
#include "harness/judging/judge.h"
#include "harness/judging/judge_pool.h"

#include <memory>
#include <string>
#include <vector>

namespace winnow::harness {

/// The judge of real runs. It calls evaluators::Evaluator.
class EvaluatorJudge : public Judge {
public:
  EvaluatorJudge(const tasks::Task& task, std::shared_ptr<evaluators::DeviceHost> host,
                 const evaluators::EvaluationOptions& options)
      : evaluator_(task, std::move(host), options), precheck_(options.precheck) {}
  std::vector<tasks::Evaluation> judge(std::string_view text, std::string file_name,
                                       std::size_t max_variants) override;
  void prepare() override { evaluator_.prepare(); }
  void race_against(const KernelToBeat* kernel) override;
  void cancel() override { evaluator_.cancel(); }
  std::string lost_device() const override { return evaluator_.quarantine(); }

private:
  evaluators::Evaluator evaluator_;
  std::string precheck_;
};

/// The devices that `options.device` names, opened. Makes their judges and the function that
/// compiles ahead. On the CPU nothing is compiled ahead, because compilers would take cores away
/// from the timings.
class OpenDevices {
public:
  /// Throws UsageError, DeviceUnavailable, Error.
  explicit OpenDevices(const evaluators::EvaluationOptions& options);
  /// Closes all devices at once, because a driver needs time to destroy each context.
  ~OpenDevices();
  OpenDevices(OpenDevices&&) = default;

  const evaluators::DeviceReport& first() const { return reports_.front(); }
  const std::shared_ptr<evaluators::DeviceHost>& first_host() const { return hosts_.front(); }
  /// "cuda:0,cuda:1"
  std::string names() const;
  std::vector<JudgeFactory> judges() const;
  /// The pool's setup; the caller sets `done`.
  JudgePoolSetup pool() const;
  /// The sum over all devices.
  evaluators::HostStatistics statistics() const;
  /// "100 candidates in 15.0 s: 400 a minute", and what the devices did in that time.
  std::string account(std::size_t candidates, double seconds) const;

private:
  evaluators::EvaluationOptions options_;
  std::vector<evaluators::DeviceReport> reports_;
  std::vector<std::shared_ptr<evaluators::DeviceHost>> hosts_;
};

} // namespace winnow::harness
