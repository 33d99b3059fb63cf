// The tries that an agent was told may arrive or cross here, found again by what a packet shows.
// Kept for the whole run: a late packet of an earlier round is still evidence.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "probes/message.h"
#include "probes/transports/transport.h"

namespace bulkhead::probes {

struct ExpectedTry {
  Expected what;
  std::uint32_t round = 0;
  bool arrival_reported = false;  // by a capture or a listener
};

class Expectations {
 public:
  void add(const Expect& expect);

  // Null where nothing matches. Pointers stay valid as long as this lives.
  [[nodiscard]] ExpectedTry* by_token(const Token& token);
  [[nodiscard]] ExpectedTry* by_tuple(compiler::Transport transport, const Tuple& tuple);
  // A SYN whose ports or addresses a NAT changed: its sequence number is the token's, and at least
  // the destination or the source is as planned, so that a stranger's SYN is not taken for ours.
  [[nodiscard]] ExpectedTry* by_sequence(std::uint32_t sequence, const Tuple& tuple);

  // Whether a denied try of the run, of anybody's, has a token that begins so.
  [[nodiscard]] bool is_unwanted(std::uint32_t head) const;

 private:
  struct TokenHash {
    std::size_t operator()(const Token& token) const;
  };
  struct TupleHash {
    std::size_t operator()(const std::pair<compiler::Transport, Tuple>& key) const;
  };
  std::deque<ExpectedTry> tries_;
  std::unordered_map<Token, ExpectedTry*, TokenHash> tokens_;
  std::unordered_map<std::pair<compiler::Transport, Tuple>, ExpectedTry*, TupleHash> tuples_;
  std::unordered_multimap<std::uint32_t, ExpectedTry*> sequences_;
  std::vector<std::uint32_t> unwanted_;  // sorted: a run has tens of thousands, at every agent
};

}  // namespace bulkhead::probes
