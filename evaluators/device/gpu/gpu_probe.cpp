#include "evaluators/device/gpu/gpu_probe.h"

#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

// Calls `field` with the name and the member of every fact.
template <class Facts, class Field> void for_each_fact(Facts& facts, const Field& field) {
  field("sm_count", facts.sm_count);
  field("warp_size", facts.warp_size);
  field("max_threads_per_block", facts.max_threads_per_block);
  field("max_shared_bytes", facts.max_shared_bytes);
  field("max_grid_x", facts.max_grid_x);
  field("max_grid_y", facts.max_grid_y);
  field("max_grid_z", facts.max_grid_z);
  field("max_block_z", facts.max_block_z);
  field("max_threads_per_launch", facts.max_threads_per_launch);
  field("memory_bytes", facts.memory_bytes);
  field("max_steps", facts.max_steps);
  field("architecture", facts.architecture);
  field("max_cluster_blocks", facts.max_cluster_blocks);
  field("cooperative", facts.cooperative);
  field("tensor_maps", facts.tensor_maps);
  field("max_static_shared_bytes", facts.max_static_shared_bytes);
  field("max_threads_per_sm", facts.max_threads_per_sm);
  field("max_blocks_per_sm", facts.max_blocks_per_sm);
  field("registers_per_sm", facts.registers_per_sm);
  field("registers_per_block", facts.registers_per_block);
  field("shared_bytes_per_sm", facts.shared_bytes_per_sm);
  field("reserved_shared_bytes", facts.reserved_shared_bytes);
  field("l2_bytes", facts.l2_bytes);
  field("peak_bytes_per_second", facts.peak_bytes_per_second);
  field("clock_mhz", facts.clock_mhz);
}

} // namespace

void to_json(nlohmann::json& json, const GpuProbe& probe) {
  json = {{"ordinal", probe.ordinal},
          {"name", probe.name},
          {"uuid", probe.uuid},
          {"pci_bus_id", probe.pci_bus_id},
          {"driver", probe.driver},
          {"ok", probe.availability.ok},
          {"detail", probe.availability.detail},
          {"why", probe.availability.why},
          {"remedy", probe.availability.remedy}};
  nlohmann::json& facts = json["facts"];
  for_each_fact(probe.facts, [&](const char* name, const auto& value) { facts[name] = value; });
}

void from_json(const nlohmann::json& json, GpuProbe& probe) {
  json.at("ordinal").get_to(probe.ordinal);
  json.at("name").get_to(probe.name);
  json.at("uuid").get_to(probe.uuid);
  json.at("pci_bus_id").get_to(probe.pci_bus_id);
  json.at("driver").get_to(probe.driver);
  json.at("ok").get_to(probe.availability.ok);
  json.at("detail").get_to(probe.availability.detail);
  json.at("why").get_to(probe.availability.why);
  json.at("remedy").get_to(probe.availability.remedy);
  const nlohmann::json& facts = json.at("facts");
  for_each_fact(probe.facts, [&](const char* name, auto& value) { facts.at(name).get_to(value); });
}

} // namespace winnow::evaluators
