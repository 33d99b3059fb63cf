#include "compiler/targets/nftables.h"

#include <algorithm>
#include <set>

#include "compiler/targets/nft_roce.h"
#include "compiler/targets/nft_services.h"
#include "compiler/targets/nft_text.h"

namespace bulkhead::compiler {

namespace {

using ir::Index;

struct Entry {  // of an address map
  AddressRange range;
  std::string verdict;
};

class Table {
 public:
  explicit Table(const ir::Enforcer& enforcer) : enforcer_(enforcer) {
    for (const auto& leg : enforcer.legs)
      leg_key_.push_back(leg_names_.unique("", leg.interface));
    for (const auto& source : enforcer.sources)
      source_key_.push_back(source_names_.unique("", source.name));
  }

  NftablesText build() {
    // In one transaction: what was there is replaced whole, or stays whole (`destroy` is not in
    // nft 1.0.6).
    text_.line("table inet bulkhead");
    text_.line("delete table inet bulkhead");
    text_.open("table inet bulkhead");
    counters();
    legs();
    for (Index source = 0; source < enforcer_.sources.size(); ++source)
      class_chain(source);
    service_chains();
    state();
    links();
    hooks();
    zones();
    text_.close();
    return {text_.take(), elements_, comments_.take_hashed()};
  }

 private:
  // ---- helpers

  std::string drops(Index source) const { return "drops_" + source_key_[source]; }

  void rule_drop(std::string_view comment) {
    text_.line("counter drop comment " + nft_quoted(comment));
  }

  // An address map of one family and the rule that looks into it; neither where it would be empty.
  // Returns the rule.
  std::string address_map(const std::string& name, Family family, std::string_view selector,
                          const std::vector<Entry>& entries, std::string_view comment) {
    std::vector<std::string> items;
    bool ranges = false;
    for (const auto& entry : entries) {
      if (entry.range.first.family != family)
        continue;
      ranges |= entry.range.first != entry.range.last;
      items.push_back(nft_range(entry.range) + " : " + entry.verdict);
    }
    if (items.empty())
      return {};
    text_.open("map " + name);
    text_.line(family == Family::V4 ? "type ipv4_addr : verdict" : "type ipv6_addr : verdict");
    if (ranges)
      text_.line("flags interval");
    text_.elements(items);
    text_.close();
    std::string rule = family == Family::V4 ? "ip " : "ip6 ";
    rule.append(selector).append(" vmap @").append(name);
    if (!comment.empty())
      rule.append(" comment ").append(nft_quoted(comment));
    return rule;
  }

  // Maps of both families, then a chain that asks them.
  std::vector<std::string> address_maps(std::string_view kind, const std::string& key,
                                        std::string_view selector,
                                        const std::vector<Entry>& entries,
                                        std::string_view comment = {}) {
    std::vector<std::string> rules;
    for (const Family family : kFamilies) {
      const char digit = family == Family::V4 ? '4' : '6';
      auto rule =
          address_map(std::string(kind) + digit + '_' + key, family, selector, entries, comment);
      if (!rule.empty())
        rules.push_back(std::move(rule));
    }
    return rules;
  }

  void chain(const std::string& name, const std::vector<std::string>& rules) {
    text_.open("chain " + name);
    for (const auto& rule : rules)
      text_.line(rule);
    text_.close();
  }

  // ---- parts, in order of the file

  void counters() {
    // nft 1.0.6 lists no comments of tables and chains as JSON; of counters it does.
    text_.open("counter bh_policy");
    text_.line("comment " + nft_quoted(enforcer_.digest));
    text_.close();
    for (Index source = 0; source < enforcer_.sources.size(); ++source) {
      text_.open("counter " + drops(source));
      text_.close();
    }
  }

  void legs() {
    std::vector<std::string> dispatch;
    for (Index leg = 0; leg < enforcer_.legs.size(); ++leg) {
      std::vector<Entry> entries;
      for (const auto& source : enforcer_.legs[leg].sources)
        entries.push_back({source.range, "goto c_" + source_key_[source.source]});
      auto rules = address_maps("s", leg_key_[leg], "saddr", entries);
      rules.push_back("counter drop comment \"spoofed\"");
      chain("l_" + leg_key_[leg], rules);
      dispatch.push_back(nft_quoted(enforcer_.legs[leg].interface) + " : goto l_" + leg_key_[leg]);
    }
    verdict_map("bh_legs", "ifname", dispatch);
    std::vector<Entry> own;
    for (const auto& range : enforcer_.own)
      own.push_back({range, "goto c_" + source_key_[enforcer_.self]});
    own_rules_ = address_maps("s", "own", "saddr", own);
  }

  void verdict_map(const std::string& name, std::string_view type,
                   const std::vector<std::string>& items) {
    if (items.empty())
      return;
    text_.open("map " + name);
    text_.line("type " + std::string(type) + " : verdict");
    text_.elements(items);
    text_.close();
  }

  void class_chain(Index source) {
    const ir::Source& from = enforcer_.sources[source];
    const std::string& key = source_key_[source];
    text_.remark("from " + from.name);
    std::vector<Entry> roce;
    for (const auto& destination : from.roce)
      roce.push_back({destination.range, "jump " + roce_chain(destination.targets)});
    std::vector<Entry> entries;
    for (const auto& destination : from.destinations)
      entries.push_back({destination.range, "jump " + service_chain(destination.targets)});

    const std::string drop =
        "counter name " + nft_quoted(drops(source)) + " drop comment \"default\"";
    std::vector<std::string> rules;
    // For every class: where no RoCE is allowed, a datagram to 4791 could still be the reply to a
    // flow that came from that port.
    auto roce_rules = address_maps("r", key, "daddr", roce, "roce");
    roce_rules.push_back(drop);
    chain("r_" + key, roce_rules);
    rules.push_back("udp dport 4791 goto r_" + key + " comment \"roce\"");
    rules.push_back("ct state established,related jump bh_state");
    for (auto& rule : address_maps("d", key, "daddr", entries))
      rules.push_back(std::move(rule));
    rules.push_back(drop);
    chain("c_" + key, rules);
  }

  std::string leg_word(Index leg) const {
    if (leg == ir::kHere)
      return "here";
    return leg == ir::kAnyLeg ? "any" : leg_key_[leg];
  }

  // The condition that a packet leaves by the leg that its destination is bound to. In input there
  // is no output device, and `oif` reads 0.
  std::string bound_to(Index leg) const {
    if (leg == ir::kHere)
      return "oif 0 ";
    return leg == ir::kAnyLeg ? "" : "oifname " + nft_quoted(enforcer_.legs[leg].interface) + ' ';
  }

  std::string service_chain(const std::vector<ir::Target>& targets) {
    const auto [found, is_new] = service_chains_.try_emplace(targets);
    if (is_new) {
      std::string word;
      for (const auto& target : targets) {
        if (!word.empty())
          word += '_';
        word += enforcer_.sets[target.set].everything ? "inside" : std::to_string(target.set);
        word += '_' + leg_word(target.leg);
      }
      found->second = chain_names_.unique("d_", word);
    }
    return found->second;
  }

  std::string roce_chain(const std::vector<Index>& targets) {
    const auto [found, is_new] = roce_chains_.try_emplace(targets);
    if (is_new)
      found->second = "q_" + std::to_string(roce_chains_.size());
    return found->second;
  }

  void service_chains() {
    std::set<Index> mapped;
    for (const auto& [targets, name] : service_chains_)
      for (const auto& target : targets)
        if (mapped.insert(target.set).second)
          elements_ += service_maps(text_, comments_, enforcer_.sets[target.set], target.set);
    for (const auto& [targets, name] : service_chains_) {
      text_.open("chain " + name);
      for (const auto& target : targets)
        elements_ += service_rules(text_, comments_, enforcer_.sets[target.set], target.set,
                                   bound_to(target.leg));
      text_.close();
    }
    for (const auto& [targets, name] : roce_chains_) {
      text_.open("chain " + name);
      for (const Index target : targets)
        elements_ += roce_rules(text_, comments_, enforcer_.roce[target],
                                bound_to(enforcer_.roce[target].leg));
      text_.close();
    }
  }

  void state() {
    chain("bh_state", {"ct state established ct direction reply accept comment \"reply\"",
                       "ct state related icmp type { destination-unreachable, time-exceeded, "
                       "parameter-problem } accept comment \"related\"",
                       "ct state related icmpv6 type { destination-unreachable, packet-too-big, "
                       "time-exceeded, parameter-problem } accept comment \"related\""});
  }

  // ---- what links need

  static constexpr std::string_view kNeighbour =
      "icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert "
      "} ip6 hoplimit 255 ";
  static constexpr std::string_view kListener =
      "icmpv6 type { mld-listener-query, mld-listener-report, mld-listener-done, "
      "mld2-listener-report } ip6 hoplimit 1 ";

  void links() {
    std::vector<std::string> dispatch4, dispatch6;
    for (Index leg = 0; leg < enforcer_.legs.size(); ++leg) {
      if (auto rules = link_rules(leg, Family::V4, true); !rules.empty()) {
        rules.push_back("counter drop comment \"spoofed\"");
        chain("k4_" + leg_key_[leg], rules);
        dispatch4.push_back(dispatch_to("k4_", leg));
      }
      if ((enforcer_.legs[leg].families & ir::bit(Family::V6)) == 0)
        continue;
      std::vector<std::string> rules{
          std::string(kNeighbour) + from_speakers(enforcer_.legs[leg]) + "accept comment \"link\"",
          std::string(kListener) + "ip6 saddr { ::, fe80::/10 } accept comment \"link\""};
      for (auto& rule : link_rules(leg, Family::V6, true))
        rules.push_back(std::move(rule));
      rules.push_back("counter drop comment \"spoofed\"");
      chain("k6_" + leg_key_[leg], rules);
      dispatch6.push_back(dispatch_to("k6_", leg));
    }
    verdict_map("bh_link4", "ifname", dispatch4);
    verdict_map("bh_link6", "ifname", dispatch6);
    has_link4_ = !dispatch4.empty();
    has_link6_ = !dispatch6.empty();
  }

  // Who may speak neighbour discovery on a leg. A host may ask from any address it has there, also
  // from one outside the link's own prefixes (RFC 4861 7.2.2).
  static std::string from_speakers(const ir::Leg& leg) {
    const AddressRange unspecified = Prefix::parse("::/128")->range();
    const AddressRange link_local = Prefix::parse("fe80::/10")->range();
    std::vector<AddressRange> ranges{unspecified, link_local};
    for (const Prefix& prefix : leg.on_link)
      ranges.push_back(prefix.range());
    for (const ir::SourceRange& source : leg.sources)
      ranges.push_back(source.range);
    const AddressSet all = of_family(AddressSet::from(std::move(ranges)), Family::V6);
    if (all == AddressSet{Prefix::parse("::/0")->range()})
      return {};
    std::string out = "ip6 saddr { ::, fe80::/10";
    // Without those two: nft 1.0.6 refuses intervals that overlap.
    for (const AddressRange& range : all - AddressSet{unspecified, link_local})
      out += ", " + nft_range(range);
    return out + " } ";
  }

  std::string dispatch_to(std::string_view kind, Index leg) const {
    return nft_quoted(enforcer_.legs[leg].interface) + " : goto " + std::string(kind) +
           leg_key_[leg];
  }

  std::vector<std::string> link_rules(Index leg, Family family, bool inbound) {
    std::vector<std::string> rules;
    for (const auto& need : enforcer_.link_needs)
      if (need.leg == leg && need.family == family) {
        const auto rule = link_rule(comments_, need, inbound);
        if (!rule.empty())
          rules.push_back(rule);
      }
    elements_ += rules.size();
    return rules;
  }

  // ---- hooks

  void hook(std::string_view name, const std::vector<std::string>& rules) {
    text_.open("chain " + std::string(name));
    text_.line("type filter hook " + std::string(name) + " priority filter; policy drop;");
    for (const auto& rule : rules)
      text_.line(rule);
    text_.close();
  }

  void by_leg(std::vector<std::string>& rules, std::string_view map) const {
    if (enforcer_.legs.empty())
      return;
    rules.push_back("iifname vmap @" + std::string(map));
    // In a VRF the kernel gives the VRF device as iifname, and the port as sdifname.
    if (std::any_of(enforcer_.legs.begin(), enforcer_.legs.end(),
                    [](const ir::Leg& leg) { return leg.vrf_member; }))
      rules.push_back("meta sdifname vmap @" + std::string(map));
  }

  void hooks() {
    std::vector<std::string> forward;
    by_leg(forward, "bh_legs");
    forward.push_back("counter drop comment \"unbound\"");
    hook("forward", forward);

    std::vector<std::string> input{
        "iifname \"lo\" accept comment \"link\"",
        // With route_localnet a neighbour would reach what listens on loopback only.
        "ip daddr 127.0.0.0/8 counter drop comment \"spoofed\"",
        "ip6 daddr ::1 counter drop comment \"spoofed\""};
    if (has_link6_) {
      by_leg_if(input, std::string(kNeighbour), "bh_link6");
      by_leg_if(input, "ip6 saddr { ::, fe80::/10 } ", "bh_link6");
    }
    if (has_link4_)
      by_leg_if(input, "ip saddr 0.0.0.0 ", "bh_link4");
    by_leg(input, "bh_legs");
    input.push_back("counter drop comment \"unbound\"");
    hook("input", input);

    std::vector<std::string> output{"oifname \"lo\" accept comment \"link\""};
    if (has_link6_) {
      output.push_back(std::string(kNeighbour) + "accept comment \"link\"");
      output.push_back(std::string(kListener) + "accept comment \"link\"");
    }
    for (Index leg = 0; leg < enforcer_.legs.size(); ++leg)
      for (const Family family : kFamilies)
        for (const auto& rule : link_rules(leg, family, false))
          output.push_back(bound_to(leg) + rule);
    output.insert(output.end(), own_rules_.begin(), own_rules_.end());
    output.push_back("counter drop comment \"spoofed\"");
    hook("output", output);
  }

  void by_leg_if(std::vector<std::string>& rules, const std::string& condition,
                 std::string_view map) const {
    std::vector<std::string> plain;
    by_leg(plain, map);
    for (const auto& rule : plain)
      rules.push_back(condition + rule);
  }

  void zones() {
    std::string items;
    for (const auto& leg : enforcer_.legs)
      if (leg.zone != 0)
        items += (items.empty() ? "" : ", ") + nft_quoted(leg.interface) + " : " +
                 std::to_string(leg.zone);
    if (items.empty())
      return;
    // Before conntrack (-200): equal tuples of two VRFs are different connections.
    text_.open("chain bh_zone_in");
    text_.line("type filter hook prerouting priority -300; policy accept;");
    text_.line("ct zone set iifname map { " + items + " }");
    text_.close();
    text_.open("chain bh_zone_out");
    text_.line("type filter hook output priority -300; policy accept;");
    text_.line("ct zone set oifname map { " + items + " }");
    text_.close();
  }

  const ir::Enforcer& enforcer_;
  NftText text_;
  NftComments comments_;
  NftNames leg_names_, source_names_, chain_names_;
  std::vector<std::string> leg_key_, source_key_;  // cleaned names, by index
  std::vector<std::string> own_rules_;
  std::map<std::vector<ir::Target>, std::string> service_chains_;
  std::map<std::vector<Index>, std::string> roce_chains_;
  std::size_t elements_ = 0;
  bool has_link4_ = false;
  bool has_link6_ = false;
};

}  // namespace

NftablesText nftables(const ir::Enforcer& enforcer) {
  return Table(enforcer).build();
}

}  // namespace bulkhead::compiler
