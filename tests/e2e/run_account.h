#pragma once

#include <set>
#include <string>

namespace winnow::test {

/// What must not depend on how a run got its replies: a line for each candidate with its call, its
/// parent's, its text, verdict and rank. Fails the test when a candidate is there twice.
std::set<std::string> run_account(const std::string& store);

} // namespace winnow::test
