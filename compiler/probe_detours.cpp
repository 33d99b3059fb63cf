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

  std::vector<Probe> run() {
    for (const auto& [name, host] : site_.inventory.hosts) {
      if (host.forwards == false && !host.agentless)
        add_host(host);
    }
    return std::move(probes_);
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
    auto receivers = ends_of(segment, family, host.name);
    // A third host where there is one. The sender's own other NIC will do: the frame names the
    // detour's NIC, so it is on the wire whatever the sender's routes say.
    if (senders.empty() || receivers.empty())
      return;
    const ProbeEnd& from = senders.front();
    const auto other = std::find_if(receivers.begin(), receivers.end(),
                                    [&](const ProbeEnd& end) { return end.host != from.host; });
    const ProbeEnd& to = other == receivers.end() ? receivers.front() : *other;
    const CellCoverage& coverage = site_.coverage.at(from.cls, to.cls);
    if (coverage.cause == Cause::None || coverage.cause == Cause::Partition)
      return;
    Probe probe;
    probe.from = from;
    probe.to = to;
    probe.transport = Transport::Udp;
    probe.port = port_;
    probe.size = kSmallPayload;
    probe.expect = Expect::Deny;
    probe.cause = Cause::Route;
    if (!coverage.path.empty())
      probe.enforcer = coverage.path.front();
    probe.rule = "forwards";
    probe.detour = {host.name, in.name};
    probes_.push_back(std::move(probe));
    add_control(from, host.name, in.name);
  }

  // The sender reaches that host itself: without such a flow its silence would prove nothing, and
  // the one that speaks for its class elsewhere may be the very host in question.
  void add_control(const ProbeEnd& from, const std::string& host, const std::string& nic) {
    const policy::Universe& universe = site_.matrix.universe;
    for (ClassId cls = 0; cls < universe.classes.size(); ++cls) {
      const policy::Cell* cell = site_.matrix.find(from.cls, cls);
      if (!cell || !cell->everything)
        continue;
      for (const ProbeEnd& to : who_.of(cls, from.address.family).ends) {
        if (to.host != host || to.nic != nic)
          continue;
        Probe control;
        control.from = from;
        control.to = to;
        control.transport = Transport::Tcp;
        control.port = port_;
        control.expect = Expect::Allow;
        control.rule = policy::kRuleInside;
        probes_.push_back(std::move(control));
        return;
      }
    }
  }

  // Agents in a segment, without those of `host`.
  [[nodiscard]] std::vector<ProbeEnd> ends_of(const std::string& segment, Family family,
                                              const std::string& host) const {
    std::vector<ProbeEnd> ends;
    const auto& classes = site_.matrix.universe.classes;
    for (ClassId cls = 0; cls < classes.size(); ++cls) {
      if (classes[cls].kind != ClassKind::Endpoint || classes[cls].place != segment)
        continue;
      for (const ProbeEnd& end : who_.of(cls, family).ends) {
        if (!end.agentless && end.host != host)
          ends.push_back(end);
      }
    }
    return ends;
  }

  const Site& site_;
  const Representatives& who_;
  std::uint16_t port_;
  std::vector<Probe> probes_;
};

}  // namespace

std::vector<Probe> detours(const Site& site, const Representatives& who, std::uint16_t port) {
  return Detours(site, who, port).run();
}

}  // namespace bulkhead::compiler
