#pragma once

#include "evaluators/device/device_report.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "evaluators/evaluation/evaluation_request.h"
#include "evaluators/evaluation/sitting_request.h"
#include "process/sandbox.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::remote {

// The messages between coordinators and workers. Each is one JSON document with a schema and a
// version. Decoding throws Error with the path of the first value that is wrong.

/// What a job asks for.
enum class JobKind : std::uint8_t { Evaluation, Sitting };
std::string_view to_string(JobKind kind); ///< "evaluation", "sitting"

/// Schema "winnow.job", version 1.
struct Job {
  JobKind kind = JobKind::Evaluation;
  int evaluator_version = evaluators::kEvaluatorVersion;
  /// Tells two publications of the same job apart.
  std::string publication;
  /// Digest of the task, which the broker keeps; empty: the request has its tasks itself.
  std::string task;
  /// An encoded EvaluationRequest, without its task if `task` names one, or SittingRequest.
  std::string request;
};
std::string encode(const Job& job);
Job decode_job(std::string_view text);

/// What a pool demands of its workers. Schema "winnow.pool-rules", version 1. Unlike a worker, a
/// pool has one kind and one model of device, so that its times compare like with like.
struct PoolRules {
  int evaluator_version = evaluators::kEvaluatorVersion;
  std::string device_kind; ///< "cpu", "cuda", "hip"
  std::string device_name;
  std::string isolation;                     ///< the weakest that is allowed; empty: any
  bool torch = false;                        ///< workers need PyTorch
  std::vector<std::string> quarantined = {}; ///< workers whose results do not count any more
};
std::string encode(const PoolRules& rules);
PoolRules decode_pool_rules(std::string_view text);

/// How far a worker is with one job.
struct HeldJob {
  std::string job;
  int made = 0, all = 0; ///< steps of a sitting; 0: not known
};

/// What a worker says about itself every few seconds. Schema "winnow.worker", version 1.
struct Heartbeat {
  std::string pool;
  int evaluator_version = evaluators::kEvaluatorVersion;
  bool trusted = false;
  std::string isolation;                         ///< of its children
  bool torch = false;                            ///< its PyTorch has started
  std::vector<evaluators::DeviceReport> devices; ///< at least one; `availability` does not travel
  std::vector<HeldJob> held;
  std::string last_fault;     ///< why it gave its last job back; empty: it never did
  nlohmann::json environment; ///< as runs keep it
};
std::string encode(const Heartbeat& heartbeat);
Heartbeat decode_heartbeat(std::string_view text);

/// Why a worker must not work in a pool with these rules; empty: it may.
std::string objection(const PoolRules& rules, const Heartbeat& worker);

/// Whether the pool has quarantined the worker of this name.
bool is_quarantined(const PoolRules& rules, std::string_view worker);

/// Whether `isolation`, the name of a level, is at least `required`, which may be empty.
bool is_isolated(const std::string& isolation, const std::string& required);

/// Whether the text can be the name of a worker or a pool: up to 64 letters, digits, '-' and '_'.
bool is_name(std::string_view text);

} // namespace winnow::remote
