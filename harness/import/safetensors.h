#pragma once

#include <filesystem>
#include <string>

namespace winnow::harness {

/// What is wrong with a safetensors file that should hold the tensor `key`; empty: nothing.
std::string safetensors_mistake(const std::filesystem::path& file, const std::string& key);

} // namespace winnow::harness
