#pragma once

#include "base/fields.h"
#include "store/judge_requests.h"
#include "store/run_store.h"
#include "tasks/plan/device_facts.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::store {

/// A race of a candidate, seen from the candidate: above 1 it is the faster one.
struct RaceOfCandidate {
  std::string source; ///< "when judged", "final", "asked for"
  std::string verdict, raced_at;
  double ratio = 0;           ///< 0: not known
  tasks::Bounds ratio_bounds; ///< 99 %
  RowId rival_id = 0;         ///< the first candidate with the rival's file and parameters; 0: none
};
WINNOW_FIELDS(RaceOfCandidate, source, verdict, raced_at, ratio, ratio_bounds, rival_id)
std::vector<RaceOfCandidate> races_of_candidate(const Database& database, RowId candidate);

/// An evaluation that somebody asked for. The board does not rest on it.
struct Measurement {
  std::string asked_by; ///< "profile", "race"
  std::string measured_at;
  std::string parameters; ///< JSON
  double speedup = 0, score_ns = 0;
  tasks::Bounds speedup_bounds;
};
WINNOW_FIELDS(Measurement, asked_by, measured_at, parameters, speedup, score_ns, speedup_bounds)
std::vector<Measurement> measurements_of_candidate(const Database& database, RowId candidate);

struct CallMessage {
  std::string role, text;
};
WINNOW_FIELDS(CallMessage, role, text)

/// All that the store knows of one candidate.
struct CandidateRecord {
  CandidateState state;
  RowId run = 0;
  std::string run_name, task_digest;
  std::string task_note, task_proof; ///< TaskNotes
  std::int64_t lines = 0;
  /// Of the run's device, by the names that plans use; empty in stores of older versions.
  tasks::FactValues device_facts;
  std::vector<RowId> parents;
  std::string op; ///< the operator: what the model was asked to do; empty: not known
  std::int64_t prompt_tokens = 0, completion_tokens = 0, reasoning_tokens = 0;
  std::vector<CallMessage> messages; ///< of the prompt
  /// The row in the newest final of the board over all runs: its place and its numbers.
  std::optional<tasks::SittingRow> final;
  std::vector<RaceOfCandidate> races;    ///< the newest first
  std::vector<Measurement> measurements; ///< the oldest first
  /// What the session of an agent that wrote it has asked the judge, in this order.
  std::vector<AskedKernel> session;
};

/// The evaluation that counts, as in schema "winnow.evaluation"; null: not evaluated yet.
nlohmann::json evaluation_document(const CandidateState& state);

/// Adds the member "speedup_versus" to a document with speedups, unless they are against
/// baseline.cu.
void put_versus(nlohmann::json& document, std::string_view versus);

/// As RunStore::candidate_state(), but without raw samples, which take most of the time to read.
CandidateState candidate_without_samples(const RunStore& store, RowId id);

} // namespace winnow::store
