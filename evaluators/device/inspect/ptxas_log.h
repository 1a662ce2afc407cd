#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// What ptxas -v says of one entry function.
struct PtxasUsage {
  int registers = 0;
  int stack_bytes = 0;
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
  int shared_bytes = 0;
};

/// By symbol. A candidate can print lines like these into the log, but only before ptxas does: the
/// last word on a symbol counts.
std::map<std::string, PtxasUsage> read_ptxas_usage(std::string_view log);

/// Its advice, such as that wgmma instructions had to be serialised, and its warnings; each once.
std::vector<std::string> read_ptxas_advice(std::string_view log);

/// Errors that ptxas places in the generated PTX, as "winnow_ptx(LINE): error: ... in 'PTX'".
std::string name_ptx_lines(std::string_view log, std::string_view ptx);

} // namespace winnow::evaluators
