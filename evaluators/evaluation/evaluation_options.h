#pragma once

#include "evaluators/host/machine_options.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace winnow::evaluators {

/// Which counters a profile reads. Auto: the fast counters on a GPU, and none on the CPU, where
/// counting needs an instrumented build and takes many times as long as a run.
enum class Counting : std::uint8_t { Off, Auto, Fast, Full };
std::string_view to_string(Counting counting); ///< "off", "auto", "fast", "full"
std::optional<Counting> counting_from_string(std::string_view text);

/// What an evaluation measures, and how.
struct Protocol {
  std::optional<std::uint64_t> seed; ///< nullopt: each evaluation draws its own
  int tiny_seeds = 2;                ///< number of inputs per tiny shape
  bool check = true;                 ///< run check mode on a tiny shape
  bool promotion = true;             ///< also run the hidden shapes before a candidate is `correct`
  /// Draws the promotion shapes that are run (drawn_shapes()); nullopt: all. For authors who may
  /// ask many times: what they learn is about these shapes only.
  std::optional<std::uint64_t> hidden_draw = std::nullopt;
  /// Draws other sizes for these shapes (tasks::varied_shape()); nullopt: those of the task. With
  /// another value for each evaluation, what its author learns is about no later one.
  std::optional<std::uint64_t> hidden_sizes = std::nullopt;
  bool timing = true;
  /// End a timing early when the candidate is clearly slower than the incumbent.
  bool stop_when_lost = true;
  bool warm = false; ///< also time with warm caches
  /// Which counters to read when a correct kernel is profiled (Evaluation::profile).
  Counting counters = Counting::Auto;
  /// Also measure the energy of a launch in a profile; takes a second per shape.
  bool energy = false;
  int max_samples = 200; ///< per shape and kernel
  /// Do not run a candidate if this session has judged the same machine code and launches already.
  bool reuse = true;
  std::chrono::milliseconds time_budget{0};      ///< per shape and kernel; 0: device default
  std::chrono::milliseconds run_timeout{10'000}; ///< for one stage in one worker

  auto operator<=>(const Protocol&) const = default;
};

/// Both, as the command line and a configuration give them.
struct EvaluationOptions : Protocol, MachineOptions {};

/// Sampling time per shape and kernel: `protocol.time_budget`, or the default of the device if that
/// is 0.
std::chrono::milliseconds time_budget(const Protocol& protocol, std::string_view device_kind);

} // namespace winnow::evaluators
