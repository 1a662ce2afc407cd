#pragma once

#include "tasks/host_program/host_program.h"

#include <string>
#include <vector>

namespace winnow::tasks {

/// The numbers and names that the functions of call.py.in use.
std::string extension_data(const HostProgram& program);
/// The function that a user of extension.py calls.
std::string extension_function(const Task& task);
/// In C++: tensors_at(), shapes_at() and sizes_of(), for module.cuh and solution.cuh.
std::string tensors_text(const Task& task);
/// The imports, the numbers and names with `data` after them, the kernel, and the functions that
/// call it.
std::string extension_call(const HostProgram& program, std::string data);
/// What check_module.py.in needs: the module, its mode, and the limits at SHAPES.
std::string module_check_data(const HostProgram& program);

/// A string literal on one line.
std::string python_quoted(const std::string& text);
/// A string literal as Python reads it: raw, so that code stays as it is, if Python allows that.
std::string python_literal(const std::string& text);
/// The name, or a similar one that is an identifier and has no meaning in an exported file.
std::string python_name(const std::string& name);
/// "(a, b)", "(a,)", "()"
std::string python_tuple(const std::vector<std::string>& values);

} // namespace winnow::tasks
