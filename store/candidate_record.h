#pragma once

#include "store/run_store.h"
#include "tasks/plan/device_facts.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::store {

/// The row of a candidate in the newest final of the board over all runs.
struct FinalStanding {
  std::int64_t rank = 0;
  double speedup = 0;
  tasks::Bounds speedup_bounds;
  double score_ns = 0;
  double held_out_speedup = 0; ///< 0: not measured
};

/// A race of a candidate, seen from the candidate: above 1 it is the faster one.
struct RaceOfCandidate {
  std::string source; ///< "when judged", "final", "asked for"
  std::string verdict, raced_at;
  double ratio = 0;     ///< 0: not known
  tasks::Bounds bounds; ///< 99 %
  RowId rival_id = 0;   ///< the first candidate with the rival's file and parameters; 0: none
};
std::vector<RaceOfCandidate> races_of_candidate(const Database& database, RowId candidate);

/// An evaluation that somebody asked for. The board does not rest on it.
struct Measurement {
  std::string asked_by; ///< "profile", "race"
  std::string started_at;
  std::string parameters; ///< JSON
  double speedup = 0, score_ns = 0;
  tasks::Bounds bounds; ///< of the speedup
};
std::vector<Measurement> measurements_of_candidate(const Database& database, RowId candidate);

struct CallMessage {
  std::string role, text;
};

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
  std::optional<FinalStanding> final;
  std::vector<RaceOfCandidate> races;    ///< the newest first
  std::vector<Measurement> measurements; ///< the oldest first
};

/// The evaluation that counts, as in schema "winnow.evaluation"; null: not evaluated yet.
nlohmann::json evaluation_document(const CandidateState& state);

} // namespace winnow::store
