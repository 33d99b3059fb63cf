// The edges of one node under construction, on a stack that all share: making millions of nodes
// allocates nothing. Left when the scope ends, by an exception too.
#pragma once

#include "compiler/proof/diagram.h"

namespace bulkhead::compiler::proof {

class Diagrams::Scratch {
 public:
  explicit Scratch(std::vector<Edge>& stack) : stack_(stack), base_(stack.size()) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { stack_.resize(base_); }

  // Only once everything deeper has left its own scope.
  void push(Index child, std::uint16_t last) {
    if (stack_.size() > base_ && stack_.back().child == child)
      stack_.back().last = last;
    else
      stack_.push_back({child, last});
  }
  [[nodiscard]] std::span<Edge> edges() { return std::span(stack_).subspan(base_); }

 private:
  std::vector<Edge>& stack_;
  std::size_t base_;
};

}  // namespace bulkhead::compiler::proof
