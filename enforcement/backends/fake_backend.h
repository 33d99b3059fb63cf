// A backend without a system, for the tests of everything that drives one: its state is text, and
// it fails or dies where a test says. The state lies in memory that is shared with children, so
// that it outlives a process that dies at a step.
#pragma once

#include <memory>
#include <string>

#include "enforcement/backend.h"

namespace bulkhead::enforcement {

class FakeWorld {
 public:
  enum class At { Nothing, Fail, Die };

  FakeWorld();
  ~FakeWorld();
  FakeWorld(const FakeWorld&) = delete;
  FakeWorld& operator=(const FakeWorld&) = delete;

  [[nodiscard]] std::string ours() const;  // kNothing where there is none
  void set_ours(const std::string& text);  // at most 4,000 bytes, of whoever writes
  void set_foreign(const std::string& text);
  [[nodiscard]] std::string foreign() const;

  // Every call of a backend is a step, and so is whatever else calls step(). From now on the
  // `number`th does not happen, and fails or ends the process as kill -9 would.
  void at(At what, int number);
  [[nodiscard]] Status step();
  [[nodiscard]] int steps() const;  // since at()

 private:
  friend class FakeBackend;
  struct Memory;
  Memory* memory_;
};

// A change is the text of the new state; kNothing takes it away; a text that begins with "wrong" is
// refused by check(), one that begins with "refused" by apply() alone. `world` outlives the result.
[[nodiscard]] std::unique_ptr<Backend> fake_backend(FakeWorld& world);

}  // namespace bulkhead::enforcement
