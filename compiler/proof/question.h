// What somebody asks about a ruleset: packets of one kind, as they come from the network or from a
// program. What the question leaves open is free, but for what real first packets look like.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/proof/prove.h"
#include "policy/support/address.h"

namespace bulkhead::compiler::proof {

struct Question {
  Passage passage = Passage::Forward;
  AddressSet from, to;                   // empty: anywhere
  std::vector<ValueRange> protocols;     // empty: any
  std::vector<ValueRange> ports;         // destination; empty: any
  std::vector<ValueRange> source_ports;  // empty: any
  std::vector<ValueRange> icmp4, icmp6;  // types; empty: any
  std::vector<std::string> in, out;      // interfaces; empty: any
  std::optional<CtState> state;          // none: any
  bool is_reply = false;                 // of Established: from who was called
};

// Whole packets without IPv6 extension headers; new ones are unmarked and not translated yet. Empty
// where no such packet can be: from an IPv4 address to an IPv6 one.
[[nodiscard]] Diagram asked(Diagrams& space, const Ruleset& ruleset, const Question& question);

}  // namespace bulkhead::compiler::proof
