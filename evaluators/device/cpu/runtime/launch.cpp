#include "evaluators/device/cpu/runtime/launch.h"

namespace winnow::evaluators::cpu {

std::string to_string(const WinnowUint3& position) {
  return "(" + std::to_string(position.x) + "," + std::to_string(position.y) + "," +
         std::to_string(position.z) + ")";
}

} // namespace winnow::evaluators::cpu
