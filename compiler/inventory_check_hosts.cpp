#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/inventory_checks.h"
#include "policy/identifier.h"
#include "policy/support/text.h"

namespace bulkhead::compiler {
namespace {

using policy::Segment;

const Segment* find_segment(const policy::Policy& policy, const std::string& name) {
  const auto found = policy.segments.find(name);
  return found == policy.segments.end() ? nullptr : &found->second;
}

void check_address(const InventoryCheck& check, const Host& host, const Nic& nic,
                   const Segment& segment, const Address& address) {
  const auto complain = [&](std::string message) {
    check.diagnostics.error("address-outside-segment", nic.at, std::move(message))
        .related.push_back({segment.at, fmt::format("segment {} is here", segment.name)});
  };
  const auto holder = std::find_if(segment.prefixes.begin(), segment.prefixes.end(),
                                   [&](const Prefix& p) { return p.contains(address); });
  if (holder == segment.prefixes.end()) {
    if (has_unread_prefix(check, segment, address.family))
      return;
    complain(fmt::format("{} of host {} lies in no prefix of segment {}", address.str(), host.name,
                         segment.name));
    return;
  }
  // RFC 3021: a /31 has neither network nor broadcast address.
  const bool has_ends = holder->family() == Family::V4 && holder->length < 31;
  if (has_ends && (address == holder->base || address == holder->last()))
    complain(fmt::format("{} of host {} is the {} address of {}", address.str(), host.name,
                         address == holder->base ? "network" : "broadcast", holder->str()));
}

// Places that have a finding already: an address that could not be read is not a missing one, and
// a hostlist without addresses is one mistake.
using Told = std::set<std::pair<std::uint32_t, std::uint32_t>>;  // file and line

Told told_lines(const Diagnostics& diagnostics) {
  Told out;
  for (const Diagnostic& found : diagnostics.all())
    out.emplace(found.at.file, found.at.line);
  return out;
}

// Each suggestion looks at all names; a file that is wrong from top to bottom gets none after the
// first few.
std::string suggestion(const InventoryCheck& check, std::string_view wrong,
                       const std::vector<std::string_view>& known) {
  constexpr std::size_t kMost = 100;
  return check.diagnostics.error_count() < kMost ? did_you_mean(wrong, known) : "";
}

void check_nic(const InventoryCheck& check, const Host& host, const Nic& nic, Told& told) {
  const Segment* segment = find_segment(check.policy, nic.segment.text);
  if (!segment) {
    std::vector<std::string_view> known;
    for (const auto& [name, unused] : check.policy.segments)
      known.push_back(name);
    if (!nic.segment.text.empty())
      check.diagnostics.error(
          "unknown-name", nic.segment.at,
          fmt::format("no segment is called {}", in_backticks(nic.segment.text)),
          suggestion(check, nic.segment.text, known));
    return;
  }
  if (nic.v4.empty() && nic.v6.empty() && !host.spare &&
      told.emplace(nic.at.file, nic.at.line).second)
    check.diagnostics.error("missing-address", nic.at,
                            fmt::format("NIC {} of host {} has no address", nic.name, host.name),
                            "a class is its addresses: say v4, v6 or both");
  for (const auto* addresses : {&nic.v4, &nic.v6})
    for (const Address& address : *addresses)
      check_address(check, host, nic, *segment, address);
}

// A host with legs in two tenants is a path around every enforcer between them.
void check_legs_of_host(const InventoryCheck& check, const Host& host) {
  std::set<std::string> tenants;
  for (const Nic& nic : host.nics)
    if (const Segment* segment = find_segment(check.policy, nic.segment.text))
      tenants.insert(segment->tenant.text);
  if (tenants.size() < 2 || host.forwards == false)
    return;
  if (!host.forwards)
    check.diagnostics.error(
        "forwards-unsaid", host.at,
        fmt::format("host {} has NICs with tenants {}: it could be a path around the enforcers",
                    host.name, fmt::join(tenants, ", ")),
        "say `forwards = false`; it is read back and probed");
  else
    check.diagnostics.error("forwards-between-tenants", host.at,
                            fmt::format("host {} forwards between tenants {}, past every enforcer",
                                        host.name, fmt::join(tenants, ", ")));
}

void check_stand_in(const InventoryCheck& check, const Host& host) {
  if (host.stand_in.empty())
    return;
  const auto complain = [&](std::string message, std::string hint = {}) {
    check.diagnostics.error("stand-in", host.at, std::move(message), std::move(hint));
  };
  const auto found = check.inventory.hosts.find(host.stand_in);
  if (found == check.inventory.hosts.end()) {
    complain(fmt::format("host {} is a stand-in for {}, which is no host", host.name,
                         in_backticks(host.stand_in)));
    return;
  }
  const Host& real = found->second;
  if (!real.agentless)
    complain(fmt::format("host {} is a stand-in for {}, which has an agent of its own", host.name,
                         real.name),
             "only an agentless host needs a stand-in");
  if (host.agentless)
    complain(fmt::format("host {} is agentless and cannot stand in for another", host.name));
  if (!host.labels.empty() && host.labels != real.labels)
    complain(fmt::format("host {} has other labels than {}, for which it stands in", host.name,
                         real.name),
             "leave its labels out: it takes those of the other");
  for (const Nic& nic : real.nics) {
    const bool beside = std::any_of(host.nics.begin(), host.nics.end(), [&](const Nic& own) {
      return own.segment.text == nic.segment.text;
    });
    if (!beside)
      complain(fmt::format("host {} has no NIC in segment {}, where {} sits", host.name,
                           nic.segment.text, real.name));
  }
}

void check_host(const InventoryCheck& check, const Host& host, Told& told) {
  for (const Nic& nic : host.nics)
    check_nic(check, host, nic, told);
  if (host.spare && !host.labels.empty())
    check.diagnostics.error("spare-with-labels", host.at,
                            fmt::format("host {} is spare and has labels", host.name),
                            "a spare host is in no class that a flow can name");
  if (host.nics.empty() && !host.spare)
    check.diagnostics.warning("host-without-nic", host.at,
                              fmt::format("host {} has no NIC: it is in no class", host.name));
  check_ssh(check, host.ssh, host.at);
  check_legs_of_host(check, host);
  check_stand_in(check, host);
}

// Class names become nftables identifiers, where `-` and `_` are one.
void check_labels(const InventoryCheck& check) {
  std::map<std::string, std::pair<std::string, SourcePos>> cleaned;
  for (const auto& [name, host] : check.inventory.hosts)
    for (const std::string& label : host.labels) {
      const auto [entry, is_new] =
          cleaned.try_emplace(policy::nft_identifier(label), label, host.at);
      if (!is_new && entry->second.first != label)
        check.diagnostics
            .error("name-collision", host.at,
                   fmt::format("labels {} and {} are one name to nftables", in_backticks(label),
                               in_backticks(entry->second.first)))
            .related.push_back({entry->second.second, "the other is here"});
    }
}

}  // namespace

// ssh takes a leading dash for an option of its own, and options run programs.
void check_ssh(const InventoryCheck& check, const std::string& destination, SourcePos at) {
  const bool plain = std::all_of(destination.begin(), destination.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && c != 0x7f;
  });
  if (!plain || destination.starts_with('-'))
    check.diagnostics.error("bad-ssh", at, in_backticks(destination) + " is no ssh destination",
                            "HOST, USER@HOST or a name of ssh_config");
}

void check_hosts(const InventoryCheck& check) {
  Told told = told_lines(check.diagnostics);
  for (const auto& [name, host] : check.inventory.hosts)
    check_host(check, host, told);
  check_labels(check);
}

}  // namespace bulkhead::compiler
