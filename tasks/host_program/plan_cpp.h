#pragma once

#include "tasks/host_program/kernel_values.h"

#include <string>

namespace winnow::tasks {

/// plan::Sizes, a struct: the axes of a task in order, then the scalars.
std::string sizes_cpp(const Task& task);

/// A launch plan as C++: a struct NAME with the parameters and static functions.
///   void scratch(const plan::Sizes&, const plan::Device&, std::vector<plan::Buffer>&);
///   void fill_once(cudaStream_t, const plan::Buffer*);
///   void prepare(const plan::Sizes&, const plan::Device&, cudaStream_t, const plan::Buffer*);
///   void run(const plan::Sizes&, const plan::Device&, cudaStream_t, const plan::Buffer*);
/// The buffers are the tensors of the task in order, then the scratch of the plan, which scratch()
/// adds without memory. `scope`: the namespace of the kernels, "::" or "::reference::". A kernel
/// whose name depends on the sizes or on the number of multiprocessors is chosen among those of the
/// shapes. Throws UsageError as kernel_values() does.
std::string plan_cpp(const PlanToWrite& plan, const std::string& name, const std::string& scope);

/// The name in C++ for a name of the plan or the task: another one if C++ has a use for it.
std::string cpp_name(const std::string& name);

/// "winnow::tasks::DType::F32"
std::string dtype_cpp(DType dtype);

} // namespace winnow::tasks
