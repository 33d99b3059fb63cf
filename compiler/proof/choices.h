// Yes-or-no questions that a packet does not answer, asked again and again with every combination
// of answers: the run is repeated until all have been given.
#pragma once

#include <cstddef>
#include <vector>

namespace bulkhead::compiler::proof {

class Choices {
 public:
  // The answer of this run. Questions must come in the same order after the same answers.
  bool next() {
    if (at_ == answers_.size())
      answers_.push_back(true);
    return answers_[at_++];
  }
  // The next combination; false where there is none left.
  bool advance() {
    at_ = 0;
    while (!answers_.empty() && !answers_.back())
      answers_.pop_back();
    if (answers_.empty())
      return false;
    answers_.back() = false;
    return true;
  }

 private:
  std::vector<bool> answers_;
  std::size_t at_ = 0;
};

}  // namespace bulkhead::compiler::proof
