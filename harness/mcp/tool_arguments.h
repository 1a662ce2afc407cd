#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::harness {

constexpr std::size_t kMostKernels = 64; ///< in one call

/// The JSON Schema of the arguments of tools; what fault_of_value() knows.
nlohmann::json object_schema(nlohmann::json properties,
                             const std::vector<std::string>& required = {});
nlohmann::json list_schema(const std::string& description, nlohmann::json items, std::size_t most);
nlohmann::json text_schema(const std::string& description);
nlohmann::json word_schema(const std::string& description, const std::vector<std::string>& words);
nlohmann::json flag_schema(const std::string& description);
nlohmann::json number_schema(const std::string& description, std::int64_t least, std::int64_t most);

nlohmann::json task_schema();
nlohmann::json device_schema();
nlohmann::json gpu_schema();
nlohmann::json parameters_schema();
nlohmann::json kernel_schema(); ///< what KernelFiles::word_of() takes

} // namespace winnow::harness
