// Chances of one seed.
#pragma once

#include <random>
#include <vector>

namespace bulkhead::test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  [[nodiscard]] std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(engine_);
  }
  [[nodiscard]] bool chance(unsigned percent) { return below(100) < percent; }
  template <class T, std::size_t N>
  [[nodiscard]] const T& one_of(const T (&choices)[N]) {
    return choices[below(N)];
  }
  template <class T>
  [[nodiscard]] const T& one_of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace bulkhead::test
