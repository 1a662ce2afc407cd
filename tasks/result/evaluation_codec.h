#pragma once

#include "tasks/json/json_fields.h"
#include "tasks/result/evaluation.h"
#include "tasks/result/sitting.h"

namespace winnow::tasks {

// The lossless JSON of evaluations and of their parts, for other processes of Winnow. See
// evaluation_json() for the public form.

template <> inline constexpr EnumRange kEnumRange<Verdict>{Verdict::NotJudged, Verdict::Refused};
template <> inline constexpr EnumRange kEnumRange<Stage>{Stage::Parse, Stage::HeldOut};
template <> inline constexpr EnumRange kEnumRange<ShapeSet>{ShapeSet::Tiny, ShapeSet::HeldOut};
template <>
inline constexpr EnumRange kEnumRange<FindingKind>{FindingKind::MutableGlobal,
                                                   FindingKind::LocalMemory};

template <> struct JsonForm<Evaluation> {
  static void append(std::string& out, const Evaluation& evaluation);
  /// Throws Error with the path of the first value that is wrong.
  static void read(const nlohmann::json& json, const std::string& path, Evaluation& evaluation);
};

} // namespace winnow::tasks
