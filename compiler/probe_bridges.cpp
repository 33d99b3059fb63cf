#include "compiler/probe_bridges.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compiler/probe_choice.h"

namespace bulkhead::compiler {
namespace {

using policy::ClassId;
using policy::ClassKind;
using policy::Segment;

constexpr std::size_t kMost = 1500;
// What joins two segments may pass one protocol or family and not another.
constexpr Transport kInFrames[] = {Transport::Udp, Transport::Tcp};

// What is behind hosts has no wire of its own, InfiniBand has other frames.
bool is_wire(const Segment& segment) {
  return !segment.behind && !segment.ib_partition;
}

class Bridges {
 public:
  Bridges(const Site& site, const Representatives& who, std::uint16_t port, std::uint64_t seed)
      : site_(site), who_(who), port_(port), seed_(seed) {}

  std::vector<DetourShot> run() {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const auto& [from, sender] : site_.policy.segments) {
      for (const auto& [to, receiver] : site_.policy.segments) {
        if (from != to && is_wire(sender) && is_wire(receiver))
          pairs.emplace_back(from, to);
      }
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (chosen(i, pairs.size(), kMost, seed_))
        add(pairs[i].first, pairs[i].second);
    }
    return std::move(shots_);
  }

 private:
  void add(const std::string& from, const std::string& to) {
    for (const Family family : kFamilies) {
      const auto sender = end_in(from, to, family);
      const auto receiver = end_in(to, from, family);
      if (!sender || !receiver)
        continue;
      const CellCoverage& coverage = site_.coverage.at(end_of(*sender).cls, end_of(*receiver).cls);
      if (coverage.cause == Cause::None || coverage.cause == Cause::Partition)
        continue;
      for (const Transport transport : kInFrames)
        shots_.push_back(
            {.from = *sender,
             .to = *receiver,
             .shot = {.transport = transport,
                      .port = port_,
                      .size = transport == Transport::Udp ? kSmallPayload : std::uint16_t{0},
                      .expect = Expect::Deny,
                      .rule = std::string(kRuleBridged)},
             .cause = Cause::Route,
             .enforcer = coverage.path.empty() ? "" : coverage.path.front(),
             .detour = {end_of(*receiver).host, end_of(*receiver).nic}});
    }
  }

  // An agent in a segment whose host has no NIC in the other.
  [[nodiscard]] std::optional<EndId> end_in(const std::string& segment, const std::string& other,
                                            Family family) const {
    const auto& classes = site_.matrix.universe.classes;
    for (ClassId cls = 0; cls < classes.size(); ++cls) {
      if (classes[cls].kind != ClassKind::Endpoint || classes[cls].place != segment)
        continue;
      for (const EndId end : who_.all(cls, family)) {
        if (!end_of(end).agentless && !stands_in(end_of(end).host, other))
          return end;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] bool stands_in(const std::string& host, const std::string& segment) const {
    const auto& nics = site_.inventory.hosts.at(host).nics;
    return std::any_of(nics.begin(), nics.end(),
                       [&](const Nic& nic) { return nic.segment.text == segment; });
  }

  [[nodiscard]] const ProbeEnd& end_of(EndId end) const { return who_.ends()[end]; }

  const Site& site_;
  const Representatives& who_;
  std::uint16_t port_;
  std::uint64_t seed_;
  std::vector<DetourShot> shots_;
};

}  // namespace

std::vector<DetourShot> bridges(const Site& site, const Representatives& who, std::uint16_t port,
                                std::uint64_t seed) {
  return Bridges(site, who, port, seed).run();
}

bool has_wire(const Site& site, ClassId cls) {
  const policy::Class& its = site.matrix.universe.classes[cls];
  const auto segment = site.policy.segments.find(its.place);
  return its.kind == ClassKind::Endpoint && segment != site.policy.segments.end() &&
         is_wire(segment->second);
}

}  // namespace bulkhead::compiler
