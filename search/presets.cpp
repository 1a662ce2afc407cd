#include "search/policy.h"

namespace winnow::search {
namespace {

using Base = LineagePolicy::Base;
using Parents = ArchivePolicy::Parents;

Policy archive() {
  ArchivePolicy all{.repair_share = 0.35, // docs/measurements/search.md
                    .lineage_blocking = true,
                    .refuses_regressed = true,
                    .seeds = true,
                    .bandit = true,
                    .failures = true};
  // Shares that published systems found useful.
  all.operators = {{"diff", 0.45}, {"rewrite", 0.25}, {"crossover", 0.15}, {"contrast", 0.15}};
  return {.history = 8, .population = std::move(all)};
}

/// Rounds of four calls. `tells_best`: the best kernel so far is always in the prompt.
Policy rounds_of_four(bool tells_best, const std::string& op, const std::string& repair_op) {
  return {.round = 4,
          .population = LineagePolicy{.base = Base::FastestOfRound,
                                      .tells_best = tells_best,
                                      .first_op = "seed",
                                      .op = op,
                                      .repair_op = repair_op}};
}

/// Each call rewrites or repairs the newest kernel.
Policy newest(std::size_t history, const std::string& first_op) {
  return {.history = history,
          .population = LineagePolicy{.base = Base::Newest,
                                      .tells_best = false,
                                      .first_op = first_op,
                                      .op = "rewrite",
                                      .repair_op = "repair"}};
}

/// Most published archives repair nothing and tell no history.
Policy published(std::size_t round, ArchivePolicy archive) {
  return {.round = round, .repair = false, .history = 0, .population = std::move(archive)};
}

Policy meta() {
  Policy policy = published(4, {.pool = 5,
                                .parents = Parents::Rank,
                                .seeds = true,
                                .operators = {{"rewrite", 1}, {"crossover", 1}}});
  policy.repair = true;
  return policy;
}

} // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{
      {"one-plus-one",
       "Each call improves the fastest kernel of its lineage.",
       "",
       {.population = LineagePolicy{.opening = true}},
       {}},
      {"best-of-n",
       "Each call stands alone.",
       "",
       {.missions = false, .population = LineagePolicy{.for_each_call = true}},
       {}},
      {"archive",
       "An archive of kernels of different structure; a bandit chooses operators and models.",
       "",
       archive(),
       {}},
      {"metal-sci",
       "A (1+1) loop: each call sees the fastest kernel, the latest attempt and eight lines of "
       "history.",
       "arXiv 2605.09708",
       {.repair = false,
        .history = 8,
        .population = LineagePolicy{.base = Base::FastestBesideLatest}},
       {}},
      {"cudaforge",
       "Each call rewrites or repairs the newest kernel as a judge says; nothing else is shown.",
       "arXiv 2511.01884",
       newest(0, "seed"),
       {"judge"}},
      {"fsr",
       "Rounds of four calls; the features of a round's fastest kernel are carried on.",
       "arXiv 2506.09092",
       rounds_of_four(false, "features", "repair"),
       {}},
      {"map-elites",
       "Elites of different structure; parents by a softmax of their fitness, and a share of any "
       "kernel.",
       "arXiv 2603.12440",
       published(8, {.failures_own_cells = true,
                     .parents = Parents::Softmax,
                     .uniform_share = 0.3,
                     .operators = {{"insights", 1}},
                     .insights = 2}),
       {"meta-prompter"}},
      {"contrastive",
       "Each call explains why one kernel is faster than another one before it writes a third.",
       "arXiv 2507.14111",
       published(
           0,
           {.pool = 0, .parents = Parents::Bands, .seeds = true, .operators = {{"contrast", 1}}}),
       {}},
      {"max-reward",
       "As fsr, with a critique of each kernel, and the best kernel so far always in the prompt.",
       "arXiv 2601.05475",
       rounds_of_four(true, "improve", "improve"),
       {"judge"}},
      {"astra",
       "From an existing kernel: each call carries out the plan for the newest kernel.",
       "arXiv 2509.07506",
       newest(20, "rewrite"), // its log of all rounds
       {"judge"}},
      {"meta",
       "Rounds of four calls from the five fastest kernels, filtered by a verifier.",
       "arXiv 2509.14279",
       meta(),
       {"verifier", "meta-prompter"}},
      {"forecast",
       "Batches of two unrelated parents by PUCT over all correct kernels, with four rewrites "
       "each.",
       "arXiv 2605.31464",
       published(8, {.pool = 1000,
                     .calls_per_parent = 4,
                     .lineage_blocking = true,
                     .operators = {{"rewrite", 1}}}),
       {"forecaster"}},
      {"evoengineer",
       "Five elites; crossover and mutation in turn, with three insights of other kernels.",
       "arXiv 2510.03760",
       published(4, {.pool = 5,
                     .parents = Parents::Rank,
                     .seeds = true,
                     .operators = {{"crossover", 1}, {"insights", 1}},
                     .insights = 3}),
       {}}};
  return all;
}

} // namespace winnow::search
