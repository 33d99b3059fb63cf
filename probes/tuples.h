// Source ports: each exchange of a run has a 5-tuple that no other exchange of the run has, so that
// connection tracking, TIME_WAIT and late packets of one try can never be taken for another.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/probe_plan.h"
#include "probes/evidence.h"

namespace bulkhead::probes {

class TupleSource {
 public:
  // Source ports are taken below Linux's own ephemeral range (32768-60999), so that a host's other
  // programs rarely hold them; `seed` says where to begin.
  static constexpr std::uint16_t kFirst = 10240;
  static constexpr std::uint16_t kLast = 32767;
  explicit TupleSource(std::uint64_t seed) : seed_(seed) {}

  // A port that one of our listeners holds cannot be a source port of the same address.
  void reserve(compiler::Transport transport, const Address& address, std::uint16_t port);
  // Ports of one source address go round in turn, so that no two tries of a round share one.
  [[nodiscard]] Tuple fresh(compiler::Transport transport, const Address& from, const Address& to,
                            std::uint16_t port);

 private:
  using Source = std::pair<compiler::Transport, Address>;
  std::uint64_t seed_;
  std::map<Source, std::uint16_t> next_;
  std::set<std::tuple<compiler::Transport, Address, std::uint16_t>> reserved_;
  std::set<std::pair<compiler::Transport, Tuple>> used_;
};

}  // namespace bulkhead::probes
