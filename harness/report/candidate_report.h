#pragma once

#include "store/candidate_record.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The parts of a candidate that a model wrote or read, which a document has only on request.
struct CandidateParts {
  bool prompt = false;
  bool reply = false;
};

/// The launch plan's text in a kernel file; empty if the text has no whole plan.
std::string plan_text(const std::string& kernel_file);

/// Schema "winnow.candidate", version 1. Shows nothing of a hidden shape that an evaluation's
/// document does not show.
nlohmann::json candidate_json(const store::CandidateRecord& record, const CandidateParts& parts);

// Renderers of that document.
std::string candidate_text(const nlohmann::json& document);
/// The messages, each under a line with its role.
std::string prompt_text(const nlohmann::json& document);
/// One line for each launch that was timed, with tabs: shape_id, shape, kernel, ordinal, time_ns.
std::string samples_text(const nlohmann::json& document);

/// Compares two documents of schema "winnow.candidate". Schema "winnow.diff", version 1.
nlohmann::json diff_json(const nlohmann::json& a, const nlohmann::json& b);
/// `race`: the command that races A against B.
std::string diff_text(const nlohmann::json& document, const std::string& race);

} // namespace winnow::harness
