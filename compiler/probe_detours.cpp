#include "compiler/probe_detours.h"

#include <algorithm>
#include <set>
#include <utility>

namespace bulkhead::compiler {
namespace {

using policy::ClassId;
using policy::ClassKind;

class Detours {
 public:
  Detours(const Site& site, const Representatives& who, std::uint16_t port)
      : site_(site), who_(who), port_(port) {}

  std::vector<DetourShot> run() {
    for (const auto& [name, host] : site_.inventory.hosts) {
      if (host.forwards == false && !host.agentless)
        add_host(host);
    }
    return std::move(shots_);
  }

 private:
  void add_host(const Host& host) {
    std::set<std::pair<std::string, std::string>> done;  // segments: two NICs of one are one way in
    for (const Nic& in : host.nics) {
      for (const Nic& out : host.nics) {
        if (in.segment.text == out.segment.text ||
            !done.emplace(in.segment.text, out.segment.text).second)
          continue;
        for (const Family family : kFamilies)
          add(host, in, out.segment.text, family);
      }
    }
  }

  void add(const Host& host, const Nic& in, const std::string& segment, Family family) {
    const auto senders = ends_of(in.segment.text, family, host.name);
    const auto receivers = ends_of(segment, family, host.name);
    // A third host where there is one. The sender's own other NIC will do: the frame names the
    // detour's NIC, so it is on the wire whatever the sender's routes say.
    if (senders.empty() || receivers.empty())
      return;
    const EndId from = senders.front();
    const auto other = std::find_if(receivers.begin(), receivers.end(), [&](EndId end) {
      return end_of(end).host != end_of(from).host;
    });
    const EndId to = other == receivers.end() ? receivers.front() : *other;
    const CellCoverage& coverage = site_.coverage.at(end_of(from).cls, end_of(to).cls);
    if (coverage.cause == Cause::None || coverage.cause == Cause::Partition)
      return;
    shots_.push_back({.from = from,
                      .to = to,
                      .shot = {.transport = Transport::Udp,
                               .port = port_,
                               .size = kSmallPayload,
                               .expect = Expect::Deny,
                               .rule = "forwards"},
                      .cause = Cause::Route,
                      .enforcer = coverage.path.empty() ? "" : coverage.path.front(),
                      .detour = {host.name, in.name}});
    add_control(from, host.name, in.name);
  }

  // The sender reaches that host itself: without such a flow its silence would prove nothing, and
  // the one that speaks for its class elsewhere may be the very host in question.
  void add_control(EndId from, const std::string& host, const std::string& nic) {
    const policy::Universe& universe = site_.matrix.universe;
    for (ClassId cls = 0; cls < universe.classes.size(); ++cls) {
      const policy::Cell* cell = site_.matrix.find(end_of(from).cls, cls);
      if (!cell || !cell->everything)
        continue;
      for (const EndId to : who_.all(cls, end_of(from).address.family)) {
        if (end_of(to).host != host || end_of(to).nic != nic)
          continue;
        shots_.push_back({.from = from,
                          .to = to,
                          .shot = {.transport = Transport::Tcp,
                                   .port = port_,
                                   .expect = Expect::Allow,
                                   .rule = std::string(policy::kRuleInside)}});
        return;
      }
    }
  }

  // Agents in a segment, without those of `host`.
  [[nodiscard]] std::vector<EndId> ends_of(const std::string& segment, Family family,
                                           const std::string& host) const {
    std::vector<EndId> ends;
    const auto& classes = site_.matrix.universe.classes;
    for (ClassId cls = 0; cls < classes.size(); ++cls) {
      if (classes[cls].kind != ClassKind::Endpoint || classes[cls].place != segment)
        continue;
      for (const EndId end : who_.all(cls, family)) {
        if (!end_of(end).agentless && end_of(end).host != host)
          ends.push_back(end);
      }
    }
    return ends;
  }

  [[nodiscard]] const ProbeEnd& end_of(EndId end) const { return who_.ends()[end]; }

  const Site& site_;
  const Representatives& who_;
  std::uint16_t port_;
  std::vector<DetourShot> shots_;
};

}  // namespace

std::vector<DetourShot> detours(const Site& site, const Representatives& who, std::uint16_t port) {
  return Detours(site, who, port).run();
}

}  // namespace bulkhead::compiler
