// What a large site has millions of, a seed chooses some thousand of: the same for a seed on every
// machine, others for another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bulkhead::compiler {

// splitmix64.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

// Of `all` about `most`; each where there are no more.
[[nodiscard]] constexpr bool chosen(std::uint64_t number, std::size_t all, std::size_t most,
                                    std::uint64_t seed) {
  return all <= most || mixed(seed ^ mixed(number)) % all < most;
}

}  // namespace bulkhead::compiler
