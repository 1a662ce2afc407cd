#include "tasks/expression/expression.h"

#include "base/text.h"
#include "tasks/expression/expression_node.h"

namespace winnow::tasks {
namespace {

using Node = Expression::Node;

template <typename Visit> void visit_names(const Node& node, const Visit& visit) {
  if (node.op == Operator::Name) {
    visit(node);
  }
  for (const auto& child : node.children) {
    visit_names(*child, visit);
  }
}

} // namespace

void Scope::set(std::string name, Value value) {
  for (auto& [known, old] : values_) {
    if (known == name) {
      old = value;
      return;
    }
  }
  values_.emplace_back(std::move(name), value);
}

const Value* Scope::find(std::string_view name) const {
  for (const auto& [known, value] : values_) {
    if (known == name) {
      return &value;
    }
  }
  return parent_ == nullptr ? nullptr : parent_->find(name);
}

std::vector<std::string> Scope::names() const {
  std::vector<std::string> all;
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent_) {
    for (const auto& [name, value] : scope->values_) {
      const bool hidden = name.find('(') != std::string::npos; // sizeof(x)
      if (!hidden && !contains(all, name)) {
        all.push_back(name);
      }
    }
  }
  return all;
}

Expression Expression::parse(std::string_view text) {
  Expression expression;
  expression.root_ = parse_expression(text);
  expression.text_ = trim(text);
  return expression;
}

Expression Expression::constant(std::int64_t value) {
  auto node = std::make_shared<Node>();
  node->integer = value;
  Expression expression;
  expression.text_ = std::to_string(value);
  expression.root_ = std::move(node);
  return expression;
}

std::int64_t Expression::evaluate(const Scope& scope) const {
  if (empty()) {
    throw std::logic_error("an empty expression has no value");
  }
  return evaluate_integer(*root_, scope);
}

double Expression::evaluate_float(const Scope& scope) const {
  if (empty()) {
    throw std::logic_error("an empty expression has no value");
  }
  return evaluate_real(*root_, scope);
}

std::vector<std::string> Expression::names() const {
  std::vector<std::string> all;
  if (!empty()) {
    visit_names(*root_, [&](const Node& node) {
      if (!contains(all, node.name)) {
        all.push_back(node.name);
      }
    });
  }
  return all;
}

int Expression::column_of(std::string_view name) const {
  int column = 0;
  if (!empty()) {
    visit_names(*root_, [&](const Node& node) {
      if (node.name == name && (column == 0 || node.column < column)) {
        column = node.column;
      }
    });
  }
  return column;
}

} // namespace winnow::tasks
