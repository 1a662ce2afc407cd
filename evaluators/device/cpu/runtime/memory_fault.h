#pragma once

#include "evaluators/device/cpu/runtime/guarded_buffers.h"
#include "evaluators/device/device_fault.h"

#include <cstddef>
#include <string_view>

namespace winnow::evaluators::cpu {

class BlockScheduler;

/// The fault of the running thread that `verb` ("reads") an address which it may not touch.
DeviceFault memory_fault(const BlockScheduler& scheduler, const GuardedBuffers& buffers,
                         const std::byte* address, std::string_view verb);

} // namespace winnow::evaluators::cpu
