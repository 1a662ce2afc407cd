#pragma once

#include <set>
#include <string>
#include <string_view>

namespace winnow::evaluators {

/// Names of the `.global` variables of a PTX module that its functions may write: whose address
/// reaches a store, an atomic, a call, memory, or an instruction that is not known to be harmless.
/// A table that is only read is not among them, whether it is declared const or not: neither PTX
/// nor a cubin says so. `printf` and `assert` count as readers. Never fails: what cannot be
/// understood is taken for a write.
std::set<std::string> written_globals(std::string_view ptx);

} // namespace winnow::evaluators
