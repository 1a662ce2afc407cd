#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace winnow::evaluators {

/// A kernel implemented by a host function. One call per launch.
struct HostKernel {
  std::vector<std::size_t> parameter_bytes;
  std::function<void(const std::vector<void*>& arguments)> run;
};

template <class... Parameters> HostKernel host_kernel(void (*function)(Parameters...)) {
  return {{sizeof(Parameters)...}, [function](const std::vector<void*>& arguments) {
            [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
              function(*static_cast<Parameters*>(arguments.at(kIndex))...);
            }
            (std::index_sequence_for<Parameters...>());
          }};
}

/// The helper kernels (helper_kernels.h), compiled for the host, by their symbols. Those that read
/// clocks read 0, because a host has none.
std::map<std::string, HostKernel> host_helper_kernels();

} // namespace winnow::evaluators
