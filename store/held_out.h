#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::store {

/// A kernel at one held-out shape in a final.
struct HeldOutShape {
  std::string shape_id; ///< "held_out/1"; sizes stay in task.toml
  double median_ns = 0;
  double baseline_median_ns = 0;
  double speedup = 0;
  /// False: the baseline takes too little time there (evaluators/timing/hidden_speed.h).
  bool counts = true;
  /// Its speed there / at the search shapes, beside the best alternative, or beside the baseline if
  /// that alternative has no time there; 0: not known. board_facts() sets it.
  double share = 0;
  bool beside_alternative = false; ///< of `share`
};
// As in the column `times` of sitting_rows.
void to_json(nlohmann::json& json, const HeldOutShape& shape);
void from_json(const nlohmann::json& json, HeldOutShape& shape);

/// SQL with the held-out speedup of the row `of` of sitting_rows. NULL if the final kept no times
/// at held-out shapes: then the column is a mean over all of them, short ones among them.
std::string final_held_out(const std::string& of);

/// Why a kernel of a final has no held-out speedup: no shape counts, or the final kept no times.
/// Empty: it has one.
std::string held_out_note(const std::vector<HeldOutShape>& shapes);
inline constexpr std::string_view kNoneCounts = "none counts", kNotKnown = "not known";

/// The shape with the least share of those that count and where the kernel takes at least
/// tasks::least_hidden_ns(device), if that share is so small that the kernel is fitted to the shown
/// shapes; nullptr: there is none.
const HeldOutShape* unfit_shape(const std::vector<HeldOutShape>& shapes, std::string_view device);

} // namespace winnow::store
