// What one enforcer has to do, without a word of any ruleset language: which leg a packet comes
// from, which class its source address makes it, where that class may go and with which services.
// Made from the matrix and the enforcer's coverage view; read by the targets. Every key range is
// disjoint from its neighbours and merged with those that mean the same, so that a target only
// has to spell it.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "compiler/site.h"

namespace bulkhead::compiler::ir {

using Index = std::uint32_t;

// Where a packet must be going, beside its destination address: out by a leg, or to the enforcer.
inline constexpr Index kHere = std::numeric_limits<Index>::max();
// Out by whichever leg: only what the enforcer itself sends to its own group.
inline constexpr Index kAnyLeg = kHere - 1;

using Families = std::uint8_t;  // bit 0: IPv4, bit 1: IPv6
[[nodiscard]] constexpr Families bit(Family family) {
  return family == Family::V4 ? 1 : 2;
}

[[nodiscard]] Families families_of(const policy::Class& cls);

// What a source may do at a destination; equal for many pairs of classes, kept once.
struct ServiceSet {
  bool everything = false;                   // inside = "open": no pieces
  Families families = 0;                     // that both ends have
  std::vector<const policy::Piece*> pieces;  // no RoCE, no InfiniBand; sorted and disjoint
};

struct Target {
  Index leg = kHere;
  Index set = 0;
  auto operator<=>(const Target&) const = default;
};
// Usually one target. Several where two VRFs hold the same addresses: the egress leg decides.
struct Destination {
  AddressRange range;
  std::vector<Target> targets;  // sorted, one a leg
};

// RoCEv2 to one destination. Conntrack knows no replies here, so the answers to the destination's
// own flows are a permission of their own.
struct RoceTarget {
  Index leg = kHere;
  const std::vector<std::string>* requests = nullptr;  // rule ids; null: requests do not pass
  const std::vector<std::string>* answers = nullptr;   // rule ids of the opposite flow
  const std::vector<std::string>* denied = nullptr;    // an explicit deny of requests
  bool everything = false;                             // inside = "open"
};
struct RoceDestination {
  AddressRange range;
  std::vector<Index> targets;  // into Enforcer::roce, sorted, one a leg
};

struct Source {
  std::string name;  // class name; the enforcer's own class, or "<class> peer" for its pair
  std::vector<Destination> destinations;
  std::vector<RoceDestination> roce;
};

struct SourceRange {
  AddressRange range;
  Index source = 0;
};

// What one end of a link needs before addresses mean anything: DHCP from 0.0.0.0 or fe80::, and
// protocols that speak from link-local addresses to a multicast group.
struct LinkNeed {
  Index leg = 0;
  Family family = Family::V4;
  bool inbound = true;                   // false: sent by the enforcer
  const policy::Piece* piece = nullptr;  // Kind::Dhcp, or Kind::Ip with an IPv6 group
};

struct Leg {
  std::string interface;
  bool vrf_member = false;  // the kernel may call it by its VRF device's name in forward and input
  std::uint16_t zone = 0;   // conntrack zone; 0: the common one
  Families families = 0;    // of classes on it and of its own addresses
  std::vector<Prefix> on_link;       // its own prefixes
  std::vector<SourceRange> sources;  // sorted
};

struct Enforcer {
  std::string name;
  std::string digest;     // of the policy
  std::vector<Leg> legs;  // sorted by interface
  std::vector<Source> sources;
  Index self = 0;                 // source index of what the enforcer sends itself
  std::vector<AddressRange> own;  // its addresses
  std::vector<ServiceSet> sets;
  std::vector<RoceTarget> roce;
  std::vector<LinkNeed> link_needs;       // sorted by leg, direction, piece
  std::deque<policy::Piece> made_pieces;  // owned here: pieces merged from several cells
};

// `view` is one of site.coverage.views. The result points into `site`, which must outlive it.
[[nodiscard]] Enforcer make_enforcer(const Site& site, const EnforcerView& view);

}  // namespace bulkhead::compiler::ir
