#include "random_rule.h"

#include <set>

#include "random_words.h"

namespace bulkhead::test {

namespace {

std::string verdict(Dice& dice, const std::vector<std::string>& below) {
  if (!below.empty() && dice.chance(30))
    return (dice.chance(70) ? "jump " : "goto ") + dice.one_of(below);
  const char* const kPlain[] = {"accept", "accept", "accept", "drop",
                                "drop",   "drop",   "return", "continue"};
  return dice.one_of(kPlain);
}

std::string random_map(Dice& dice, const Place& place, const std::vector<std::string>& below) {
  const auto v = [&] { return verdict(dice, below); };
  switch (dice.below(place.conntrack ? 8 : 7)) {
    case 0:
      return "tcp dport vmap { 22 : " + v() + ", 80-81 : " + v() + ", 1024-65535 : " + v() + " }";
    case 1:
      return place.family == "ip6"
                 ? "ip6 daddr vmap { fd02::10 : " + v() + ", fd02::/120 : " + v() + " }"
                 : "ip daddr vmap { 10.2.0.10 : " + v() + ", 10.2.0.11 : " + v() + " }";
    case 2:
      return "th dport . meta l4proto vmap { 80 . tcp : " + v() + ", 53 . udp : " + v() +
             ", 1-22 . tcp : " + v() + " }";
    case 3:
      return place.hook == "output" || place.hook == "postrouting"
                 ? "oifname vmap { \"t0\" : " + v() + ", \"t1\" : " + v() + " }"
                 : "iifname vmap { \"t0\" : " + v() + ", \"t1\" : " + v() + " }";
    case 4:
      return "meta mark vmap { 0 : " + v() + ", 1 : " + v() + ", 5-255 : " + v() + " }";
    case 5:
      return "meta l4proto vmap { tcp : " + v() + ", udp : " + v() + ", icmp : " + v() + " }";
    case 6:
      return "tcp flags & (fin|syn|rst|ack) vmap { syn : " + v() + ", ack : " + v() + " }";
    default:
      return "ct state vmap { new : " + v() + ", established : " + v() + ", invalid : " + v() +
             " }";
  }
}

std::string random_change(Dice& dice, const Place& place) {
  switch (dice.below(place.conntrack ? 9 : 6)) {
    case 0:
    case 1:
      return std::string("meta mark set ") + dice.one_of(kMarks);
    case 2:
      return std::string("meta mark set meta mark | 0x5");
    case 3:
      return std::string("meta mark set meta mark & 0xff ^ 0x1");
    case 4:
      return std::string("meta mark set tcp dport map { 80 : 1, 22 : 5 }");
    case 5:
      return place.family == "ip6"
                 ? "meta mark set ip6 saddr map { fd01::10 : 1, fd02::/64 : 5 }"
                 : "meta mark set ip saddr map { 10.1.0.10 : 1, 10.2.0.0/16 : 5 }";
    case 6:
      return std::string("ct mark set ") + dice.one_of(kMarks);
    case 7:
      return std::string("ct mark set meta mark & 0xff | 0x4");
    default:
      return std::string("meta mark set ct mark");
  }
}

// nft refuses a rule whose fields are of two protocols: the words that stand for one, each with its
// layer.
bool contradicts(const std::string& rule) {
  struct Word {
    const char* text;
    int layer;
    const char* protocol;
  };
  const Word kWords[] = {
      {"tcp dport", 4, "tcp"},     {"tcp sport", 4, "tcp"},     {"tcp flags", 4, "tcp"},
      {"l4proto tcp", 4, "tcp"},   {"udp dport", 4, "udp"},     {"udp sport", 4, "udp"},
      {"sctp dport", 4, "sctp"},   {"sctp sport", 4, "sctp"},   {"icmp type", 4, "icmp"},
      {"l4proto icmp", 4, "icmp"}, {"icmpv6 type", 4, "icmp6"}, {"l4proto ipv6-icmp", 4, "icmp6"},
      {"l4proto udp", 4, "udp"},   {"protocol tcp", 4, "tcp"},  {"nexthdr tcp", 4, "tcp"},
      {"nexthdr 58", 4, "icmp6"},  {"nexthdr 17", 4, "udp"},    {"nexthdr 44", 4, "frag"},
      {"nexthdr 60", 4, "dst"},    {"protocol 17", 4, "udp"},   {"protocol 58", 4, "icmp6"},
      {"protocol 44", 4, "frag"},  {"protocol 60", 4, "dst"},   {"l4proto 50", 4, "esp"},
      {"ip saddr", 3, "ip"},       {"ip daddr", 3, "ip"},       {"ip protocol", 3, "ip"},
      {"ip ttl", 3, "ip"},         {"ip dscp", 3, "ip"},        {"ip length", 3, "ip"},
      {"ip frag-off", 3, "ip"},    {"icmp type", 3, "ip"},      {"nfproto ipv4", 3, "ip"},
      {"ip6 ", 3, "ip6"},          {"icmpv6 type", 3, "ip6"},   {"exthdr", 3, "ip6"},
      {"frag frag", 3, "ip6"},     {"nfproto ipv6", 3, "ip6"},  {"protocol ip ", 3, "ip"},
      {"protocol ip6", 3, "ip6"},
  };
  std::set<std::string> network, transport;
  for (const Word& word : kWords)
    if ((' ' + rule).find(std::string(" ") + word.text) != std::string::npos ||
        rule.find(std::string("meta ") + word.text) != std::string::npos)
      (word.layer == 3 ? network : transport).insert(word.protocol);
  return network.size() > 1 || transport.size() > 1;
}

std::string one_rule(Dice& dice, const Place& place, const std::vector<std::string>& below) {
  std::string rule;
  const auto say = [&](const std::string& part) {
    if (!part.empty())
      rule += (rule.empty() ? "" : " ") + part;
  };
  for (std::size_t i = dice.below(3); i-- > 0;)
    say(random_match(dice, place));
  if (dice.chance(15))
    say("counter");
  const std::size_t kind = dice.below(10);
  if (kind < 2)
    say(random_map(dice, place, below));
  else if (kind < 4)
    say(random_change(dice, place) + (dice.chance(40) ? " " + verdict(dice, below) : ""));
  else if (kind < 5 && place.hook != "prerouting" && place.hook != "postrouting")
    say("reject");
  else
    say(verdict(dice, below));
  return rule;
}

}  // namespace

std::string random_rule(Dice& dice, const Place& place, const std::vector<std::string>& below) {
  std::string rule = one_rule(dice, place, below);
  while (contradicts(rule))
    rule = one_rule(dice, place, below);
  return rule;
}

}  // namespace bulkhead::test
