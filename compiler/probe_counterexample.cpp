#include "compiler/probe_counterexample.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/probe_beside_ports.h"
#include "compiler/proof/senders.h"

namespace bulkhead::compiler {
namespace {

using proof::Effect;

EndId end_id(const ProbeEnd& end, std::vector<ProbeEnd>& ends) {
  const auto known = std::find_if(ends.begin(), ends.end(), [&](const ProbeEnd& other) {
    return other.cls == end.cls && other.host == end.host && other.nic == end.nic &&
           other.address == end.address;
  });
  if (known != ends.end())
    return static_cast<EndId>(known - ends.begin());
  ends.push_back(end);
  return static_cast<EndId>(ends.size() - 1);
}

const policy::Piece* deciding(const policy::Cell& cell, Transport transport, std::uint16_t port) {
  if (transport == Transport::Raw)
    return protocol_piece(&cell, static_cast<std::uint8_t>(port));
  const policy::Kind kind = transport == Transport::Tcp   ? policy::Kind::Tcp
                            : transport == Transport::Udp ? policy::Kind::Udp
                                                          : policy::Kind::Icmp;
  const auto found =
      std::find_if(cell.pieces.begin(), cell.pieces.end(), [&](const policy::Piece& piece) {
        return piece.key.kind == kind && piece.ports.contains(port);
      });
  return found == cell.pieces.end() ? nullptr : &*found;
}

// As the plan of the whole site would: the flows that decide, "inside" or "default".
std::string rule_of(const policy::Cell* cell, const Shot& shot) {
  if (cell == nullptr)
    return std::string(policy::kRuleDefault);
  if (const policy::Piece* piece = deciding(*cell, shot.transport, shot.port))
    return fmt::format("{}", fmt::join(piece->rules, ","));
  return std::string(cell->everything ? policy::kRuleInside : policy::kRuleDefault);
}

}  // namespace

std::size_t add_counterexamples(const Site& site, const EnforcerView& view,
                                std::span<const proof::Finding> findings, ProbeBook& book) {
  const proof::Senders senders(site, view);
  std::size_t added = 0;
  for (const proof::Finding& finding : findings) {
    if (finding.effect == Effect::Unknown)
      continue;
    const bool opens = finding.effect == Effect::Opens || finding.effect == Effect::MayOpen;
    for (const proof::Difference& difference : finding.differences) {
      const auto probe = proof::probe_of(difference.example);
      const auto ends = senders.ends(difference.example);
      if (!difference.not_sendable.empty() || !probe || !ends)
        continue;
      const auto& [from, to] = *ends;
      Shot shot;
      shot.transport = probe->first;
      shot.port = probe->second;
      // A source port that is not the usual one is what the difference is about.
      if ((shot.transport == Transport::Tcp || shot.transport == Transport::Udp) &&
          difference.example.facts.sport != proof::kClientPort)
        shot.sport = difference.example.facts.sport;
      if (shot.transport == Transport::Udp)
        shot.size = kSmallPayload;
      shot.expect = opens ? Expect::Deny : Expect::Allow;
      shot.rule = rule_of(site.matrix.find(from.cls, to.cls), shot);
      ProbedPair pair;
      pair.from = end_id(from, book.ends);
      pair.to = end_id(to, book.ends);
      pair.shots = {static_cast<std::uint32_t>(book.shots.size())};
      pair.cause = opens ? Cause::Rule : site.coverage.at(from.cls, to.cls).cause;
      pair.enforcer = view.enforcer;
      book.shots.push_back({shot});
      book.pairs.push_back(std::move(pair));
      ++added;
    }
  }
  return added;
}

}  // namespace bulkhead::compiler
