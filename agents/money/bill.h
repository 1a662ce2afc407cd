#pragma once

#include "agents/money/price.h"
#include "agents/money/usage.h"

#include <optional>

namespace winnow::agents {

/// Sums the tokens and dollars of all attempts of one call.
class Bill {
public:
  explicit Bill(const std::optional<Price>& price) : price_(price) {}

  /// Adds an answered attempt. `said`: the endpoint's own figure in dollars. Without usage or price
  /// the sum becomes unknown.
  void add(const Usage& usage, bool usage_known, std::optional<double> said);
  /// Adds an attempt that gave no reply. `counted`: the endpoint's own counts, which are measured.
  /// `at_least`: what arrived; the part of it that was not counted is estimated.
  void add_lost(const Usage& counted, const Usage& at_least);
  /// Adds a reply without counts: the sum becomes unknown, and `at_least` is estimated.
  void add_uncounted(const Usage& at_least);

  const Usage& usage() const { return usage_; }
  std::optional<double> dollars() const; ///< nullopt: unknown
  bool used_price() const { return used_price_; }
  const EstimatedCost& estimated() const { return estimated_; }

private:
  void estimate(const Usage& counted, const Usage& whole);

  const std::optional<Price>& price_;
  Usage usage_;
  double dollars_ = 0;
  bool unknown_ = false;
  bool used_price_ = false;
  EstimatedCost estimated_;
};

} // namespace winnow::agents
