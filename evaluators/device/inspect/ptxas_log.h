#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// The resources of one entry function, as ptxas -v prints them.
struct PtxasUsage {
  int registers = 0;
  int stack_bytes = 0;
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
  int shared_bytes = 0;
};

/// The resources by symbol. A candidate can make the compiler print such lines, but only before
/// ptxas prints its own, so the last line about a symbol counts.
std::map<std::string, PtxasUsage> read_ptxas_usage(std::string_view log);

/// The advice and the warnings of ptxas, each once. Example: wgmma instructions had to be
/// serialised.
std::vector<std::string> read_ptxas_advice(std::string_view log);

/// Rewrites ptxas errors in the generated PTX as "winnow_ptx(LINE): error: ... in 'PTX'".
std::string name_ptx_lines(std::string_view log, std::string_view ptx);

} // namespace winnow::evaluators
