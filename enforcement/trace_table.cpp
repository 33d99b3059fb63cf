#include "enforcement/trace_table.h"

#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <iterator>

namespace bulkhead::enforcement {

namespace {

struct Elements {
  std::vector<std::string> v4, v6, icmp_v4, icmp_v6;
};

Elements elements_of(const std::vector<TracedTuple>& tuples) {
  Elements elements;
  for (const auto& tuple : tuples) {
    const bool v4 = tuple.from.family == Family::V4;
    const std::string ends = tuple.from.str() + " . " + tuple.to.str();
    if (tuple.l4proto == IPPROTO_ICMP || tuple.l4proto == IPPROTO_ICMPV6) {
      (v4 ? elements.icmp_v4 : elements.icmp_v6)
          .push_back(fmt::format("{} . {}", ends, tuple.sport));
    } else {
      (v4 ? elements.v4 : elements.v6)
          .push_back(
              fmt::format("{} . {} . {} . {}", ends, tuple.l4proto, tuple.sport, tuple.port));
    }
  }
  return elements;
}

// nft refuses `elements = { }`; the same tuple twice is one.
void append_set(std::string& text, std::string_view name, std::string_view type,
                std::vector<std::string> elements) {
  fmt::format_to(std::back_inserter(text), "\tset {} {{\n\t\t{}\n", name, type);
  std::sort(elements.begin(), elements.end());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  if (!elements.empty()) {
    text += "\t\telements = {\n";
    for (const auto& element : elements)
      fmt::format_to(std::back_inserter(text), "\t\t\t{},\n", element);
    text += "\t\t}\n";
  }
  text += "\t}\n";
}

// Before conntrack (-200) and every usual chain, after defragmentation (-400): a datagram larger
// than the MTU is seen whole and with its ports. The identifier of an ICMP query is read raw,
// since nft 1.0.6 adds `type { echo-request, echo-reply }` to `icmp id` and so would lose
// timestamps. Protocols by number: nft looks names up in /etc/protocols, which a bare system lacks.
void append_marking_chain(std::string& text, std::string_view name, std::string_view hook) {
  fmt::format_to(std::back_inserter(text),
                 "\tchain {} {{\n"
                 "\t\ttype filter hook {} priority -350; policy accept;\n"
                 "\t\tip saddr . ip daddr . meta l4proto . th sport . th dport @traced_v4 "
                 "meta nftrace set 1\n"
                 "\t\tip6 saddr . ip6 daddr . meta l4proto . th sport . th dport @traced_v6 "
                 "meta nftrace set 1\n"
                 "\t\tmeta l4proto 1 ip saddr . ip daddr . @th,32,16 @traced_icmp_v4 "
                 "meta nftrace set 1\n"
                 "\t\tmeta l4proto 58 ip6 saddr . ip6 daddr . @th,32,16 @traced_icmp_v6 "
                 "meta nftrace set 1\n"
                 "\t}}\n",
                 name, hook);
}

// Without rules: the kernel still sends the event "policy accept" of a base chain, and behind all
// other chains of its hook that means "it left" or "it was delivered".
void append_last_chain(std::string& text, std::string_view name, std::string_view hook) {
  fmt::format_to(std::back_inserter(text),
                 "\tchain {} {{\n\t\ttype filter hook {} priority 350; policy accept;\n\t}}\n",
                 name, hook);
}

}  // namespace

std::string trace_table_removal() {
  return fmt::format("table inet {0}\ndelete table inet {0}\n", kTraceTable);
}

std::string trace_table_text(const std::vector<TracedTuple>& tuples) {
  const Elements elements = elements_of(tuples);
  std::string text = trace_table_removal();
  fmt::format_to(std::back_inserter(text), "table inet {} {{\n", kTraceTable);
  append_set(text, "traced_v4",
             "type ipv4_addr . ipv4_addr . inet_proto . inet_service . inet_service", elements.v4);
  append_set(text, "traced_v6",
             "type ipv6_addr . ipv6_addr . inet_proto . inet_service . inet_service", elements.v6);
  append_set(text, "traced_icmp_v4", "typeof ip saddr . ip daddr . @th,32,16", elements.icmp_v4);
  append_set(text, "traced_icmp_v6", "typeof ip6 saddr . ip6 daddr . @th,32,16", elements.icmp_v6);
  append_marking_chain(text, "trace_pre", "prerouting");
  append_marking_chain(text, "trace_out", "output");
  append_last_chain(text, "trace_last_post", "postrouting");
  append_last_chain(text, "trace_last_in", "input");
  text += "}\n";
  return text;
}

}  // namespace bulkhead::enforcement
