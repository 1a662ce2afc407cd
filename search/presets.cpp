#include "search/policy.h"

namespace winnow::search {
namespace {

using Base = Policy::Base;
using Parents = Policy::Parents;

constexpr auto kArchive = Policy::Population::Archive;

Policy archive() {
  Policy policy;
  policy.population = kArchive;
  policy.history = 8;
  policy.repair_share = 0.35; // docs/measurements/search.md
  return policy;
}

/// The mechanisms that most published archives lack are off.
Policy published_archive() {
  Policy policy = archive();
  policy.history = 0;
  policy.repair = false;
  policy.lineage_blocking = false;
  policy.builds_on_regressed = true;
  policy.seeds = false;
  policy.bandit = false;
  policy.failures = false;
  return policy;
}

Policy metal_sci() {
  Policy policy;
  policy.history = 8;
  policy.repair = false;
  policy.shows_regressed = true;
  return policy;
}

Policy cudaforge() {
  Policy policy;
  policy.history = 0;
  policy.base = Base::Newest;
  policy.tells_best = false;
  policy.first_op = "seed";
  policy.op = "rewrite";
  policy.repair_op = "repair";
  return policy;
}

Policy astra() {
  Policy policy = cudaforge();
  policy.history = 20; // its log of all rounds
  policy.first_op = "rewrite";
  return policy;
}

Policy fsr() {
  Policy policy;
  policy.round = 4;
  policy.base = Base::FastestOfRound;
  policy.tells_best = false;
  policy.first_op = "seed";
  policy.op = "features";
  policy.repair_op = "repair";
  return policy;
}

/// As fsr(), and the best kernel so far is always in the prompt.
Policy max_reward() {
  Policy policy = fsr();
  policy.tells_best = true;
  policy.op = policy.repair_op = "improve";
  return policy;
}

Policy map_elites() {
  Policy policy = published_archive();
  policy.round = 8;
  policy.failures_own_cells = true;
  policy.parents = Parents::Softmax;
  policy.uniform_share = 0.3;
  policy.operators = {{"insights", 1}};
  policy.insights = 2;
  return policy;
}

Policy contrastive() {
  Policy policy = published_archive();
  policy.seeds = true;
  policy.cells = false;
  policy.parents = Parents::Bands;
  policy.operators = {{"contrast", 1}};
  return policy;
}

Policy meta() {
  Policy policy = published_archive();
  policy.round = 4;
  policy.repair = true;
  policy.repair_share = 0.2;
  policy.seeds = true;
  policy.cells = false;
  policy.pool = 5;
  policy.parents = Parents::Rank;
  policy.operators = {{"rewrite", 1}, {"crossover", 1}};
  return policy;
}

Policy forecast() {
  Policy policy = published_archive();
  policy.round = 8;
  policy.cells = false;
  policy.pool = 1000;
  policy.calls_per_parent = 4;
  policy.lineage_blocking = true;
  policy.operators = {{"rewrite", 1}};
  return policy;
}

Policy evoengineer() {
  Policy policy = published_archive();
  policy.round = 4;
  policy.seeds = true;
  policy.cells = false;
  policy.pool = 5;
  policy.parents = Parents::Rank;
  policy.operators = {{"crossover", 1}, {"insights", 1}};
  policy.insights = 3;
  return policy;
}

} // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{
      {"one-plus-one", "Each call improves the fastest kernel of its lineage.", "", {}, {}},
      {"best-of-n", "Each call stands alone.", "", {.lineage_for_each_call = true}, {}},
      {"archive",
       "An archive of kernels of different structure; a bandit chooses operators and models.",
       "",
       archive(),
       {}},
      {"metal-sci",
       "A (1+1) loop: each call sees the fastest kernel, the latest attempt and eight lines of "
       "history.",
       "arXiv 2605.09708",
       metal_sci(),
       {}},
      {"cudaforge",
       "Each call rewrites or repairs the newest kernel as a judge says; nothing else is shown.",
       "arXiv 2511.01884",
       cudaforge(),
       {"judge"}},
      {"fsr",
       "Rounds of four calls; the features of a round's fastest kernel are carried on.",
       "arXiv 2506.09092",
       fsr(),
       {}},
      {"map-elites",
       "Elites of different structure; parents by a softmax of their fitness, and a share of any "
       "kernel.",
       "arXiv 2603.12440",
       map_elites(),
       {"meta-prompter"}},
      {"contrastive",
       "Each call explains why one kernel is faster than another one before it writes a third.",
       "arXiv 2507.14111",
       contrastive(),
       {}},
      {"max-reward",
       "As fsr, with a critique of each kernel, and the best kernel so far always in the prompt.",
       "arXiv 2601.05475",
       max_reward(),
       {"judge"}},
      {"astra",
       "From an existing kernel: each call carries out the plan for the newest kernel.",
       "arXiv 2509.07506",
       astra(),
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
       forecast(),
       {"forecaster"}},
      {"evoengineer",
       "Five elites; crossover and mutation in turn, with three insights of other kernels.",
       "arXiv 2510.03760",
       evoengineer(),
       {}}};
  return all;
}

} // namespace winnow::search
