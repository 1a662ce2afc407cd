#pragma once

#include "evaluators/evaluation/evaluations.h"
#include "harness/client/judge_server.h"
#include "harness/serve/judge_record.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace winnow::harness {

/// What a server has told beside evaluations. Any thread may call it.
class ServerRemarks {
public:
  void put(const JudgeRecord& record);
  LightShares light_of(const tasks::Evaluation& evaluation) const;
  /// "3 of 20 evaluations used"; empty: any number may be asked for.
  std::string account() const;

private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, LightShares> by_seed_; ///< each evaluation draws its own
  std::optional<Account> account_;
};

/// Evaluations that a server makes. Of a request it takes the kernel, its choice of parameters, the
/// depth, whether and for how long to time, and the counters: the server decides the rest. An
/// incumbent must have had its own evaluation here before. Hidden shapes are missing in the
/// results.
class ServerEvaluations : public evaluators::Evaluations {
public:
  /// `remarks`: keeps what the server tells beside evaluations.
  ServerEvaluations(const ServerOptions& server, std::string task,
                    std::shared_ptr<ServerRemarks> remarks, evaluators::TakeResult done);
  ~ServerEvaluations() override;
  ServerEvaluations(const ServerEvaluations&) = delete; // owns a thread
  ServerEvaluations& operator=(const ServerEvaluations&) = delete;

  void submit(evaluators::EvaluationRequest request) override;
  void cancel(const std::string& id) override;
  evaluators::SittingAnswer hold(const evaluators::SittingRequest& request, const std::stop_token&,
                                 const evaluators::HoldProgress&) override;
  void stop() override;

private:
  struct Batch {
    std::string name;
    std::vector<evaluators::EvaluationRequest> requests; ///< items have their positions as ids
    std::map<std::size_t, std::string> open;             ///< jobs, by position
    std::int64_t next = 0;                               ///< place of the last answer
  };
  void work(const std::stop_token& stop);
  std::vector<evaluators::EvaluationRequest> take_submitted(const std::stop_token& stop);
  void judge(std::vector<evaluators::EvaluationRequest> requests, const std::stop_token& stop);
  void send(Batch& batch, const std::stop_token& stop);
  nlohmann::json next_page(const Batch& batch, const std::stop_token& stop);
  void take_results(Batch& batch, const nlohmann::json& page);
  void finish(Batch& batch, std::size_t at, const nlohmann::json& result);
  void cancel_jobs(const Batch& batch, bool all);
  void fail(const evaluators::EvaluationRequest& request, const std::string& fault) const;

  JudgeServer server_;
  std::string task_;
  std::shared_ptr<ServerRemarks> remarks_;
  evaluators::TakeResult done_;
  std::map<std::string, std::int64_t> candidates_; ///< that were judged, by digest_of()
  std::mutex mutex_;                               ///< guards the next two
  std::deque<evaluators::EvaluationRequest> submitted_;
  std::set<std::string> cancelled_; ///< ids
  std::condition_variable_any changed_;
  std::jthread thread_; ///< last: uses the others
};

} // namespace winnow::harness
