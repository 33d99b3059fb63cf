// One packet that a cell is asked, before anybody is chosen to send it, and what the policy says of
// a port, shared by the files that choose packets.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "compiler/probe_plan.h"

namespace bulkhead::compiler {

// Rows of policy::kIcmpQueries that we send.
inline constexpr std::uint16_t kEcho = 0;
inline constexpr std::uint16_t kTimestamp = 1;  // IPv4 alone has it

struct Shot {
  Transport transport = Transport::Tcp;
  std::uint16_t port = 0;
  std::uint16_t sport = 0;  // 0: any
  Payload payload = Payload::Token;
  std::uint16_t size = 0;
  Expect expect = Expect::Deny;
  std::string rule{};
  auto operator<=>(const Shot&) const = default;
};

// The pieces of one kind and action in a cell, and who decided each.
struct Said {
  Said(const policy::Cell* cell, policy::Kind kind, policy::Action action);
  [[nodiscard]] bool any() const { return !pieces.empty(); }
  [[nodiscard]] const policy::Piece* at(std::uint16_t port) const;

  PortSet ports;
  std::vector<const policy::Piece*> pieces;
};

[[nodiscard]] std::string rules_of(const policy::Piece& piece);

}  // namespace bulkhead::compiler
