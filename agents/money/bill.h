#pragma once

#include "agents/money/price.h"

#include <optional>

namespace winnow::agents {

/// Sums the tokens and dollars of all attempts of one call.
class Bill {
public:
  explicit Bill(const std::optional<Price>& price) : price_(price) {}

  /// Adds an answered attempt. `said`: the endpoint's own figure in dollars. Without usage or price
  /// the sum becomes unknown.
  void add(const Usage& usage, bool usage_known, std::optional<double> said);
  /// Adds an attempt that gave no reply, as far as the endpoint counted its tokens.
  void add_lost(const Usage& usage);

  const Usage& usage() const { return usage_; }
  std::optional<double> dollars() const; ///< nullopt: unknown
  bool used_price() const { return used_price_; }

private:
  const std::optional<Price>& price_;
  Usage usage_;
  double dollars_ = 0;
  bool unknown_ = false;
  bool used_price_ = false;
};

} // namespace winnow::agents
