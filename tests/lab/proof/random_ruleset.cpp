#include "random_ruleset.h"

#include <algorithm>
#include <functional>
#include <set>

namespace bulkhead::test {

namespace {

using compiler::proof::Fragment;
using compiler::proof::PacketFacts;

const char* const kAddress4[] = {"10.1.0.1", "10.1.0.10", "10.1.0.11", "10.1.0.12",
                                 "10.2.0.1", "10.2.0.10", "10.2.0.11", "10.2.0.12"};
const char* const kAddress6[] = {"fd01::1", "fd01::10", "fd01::11", "fd01::12",
                                 "fd02::1", "fd02::10", "fd02::11", "fd02::12"};
const char* const kNet4[] = {"10.1.0.0/16", "10.1.0.10/31",        "10.2.0.8/30", "0.0.0.0/0",
                             "10.0.0.0/8",  "10.2.0.11-10.2.0.12", "10.1.0.0/28"};
const char* const kNet6[] = {"fd01::/64", "fd01::10/127", "fd02::8/125",
                             "::/0",      "fd00::/8",     "fd02::11-fd02::12"};
const unsigned kPorts[] = {1, 22, 53, 79, 80, 81, 443, 1023, 1024, 4791, 65535};
const char* const kMarks[] = {"0", "1", "2", "5", "0xff", "0x100", "0xffffffff"};
const char* const kApart[] = {"\"t0\"", "\"t1\"", "\"lo\"", "\"eth*\""};
const char* const kNames[] = {"\"t0\"", "\"t1\"", "\"t*\"", "\"lo\"", "\"t\"", "\"eth*\""};

// ---- rules

std::string port(Dice& dice) {
  return std::to_string(dice.one_of(kPorts));
}

std::string port_range(Dice& dice) {
  unsigned a = dice.one_of(kPorts), b = dice.one_of(kPorts);
  if (a > b)
    std::swap(a, b);
  return a == b ? std::to_string(a) : std::to_string(a) + "-" + std::to_string(b);
}

// "{ a, b }" of different values.
std::string braces(Dice& dice, const std::function<std::string()>& value) {
  std::set<std::string> values;
  for (std::size_t i = 0; i <= dice.below(3); ++i)
    values.insert(value());
  std::string text = "{ ";
  for (const auto& item : values)
    text += (text.size() > 2 ? ", " : "") + item;
  return text + " }";
}

std::string is(Dice& dice) {
  return dice.chance(25) ? "!= " : "";
}

std::string ports(Dice& dice) {
  switch (dice.below(5)) {
    case 0:
      return is(dice) + port(dice);
    case 1:
      return is(dice) + port_range(dice);
    case 2: {
      const char* const kOperators[] = {"< ", "> ", "<= ", ">= "};
      return dice.one_of(kOperators) + std::to_string(1 + dice.one_of(kPorts) % 65534);
    }
    default:
      return is(dice) + braces(dice, [&] { return port(dice); });
  }
}

std::string address4(Dice& dice) {
  return dice.one_of(kAddress4);
}

std::string addresses(Dice& dice, bool v6) {
  const auto one = [&] {
    return std::string(v6 ? dice.one_of(kAddress6) : dice.one_of(kAddress4));
  };
  switch (dice.below(4)) {
    case 0:
      return is(dice) + (v6 ? dice.one_of(kNet6) : dice.one_of(kNet4));
    case 1:
      return is(dice) + braces(dice, one);
    case 2:
      return is(dice) + braces(dice, [&] {
               return std::string(v6 ? dice.one_of(kNet6) : dice.one_of(kNet4));
             });
    default:
      return is(dice) + one();
  }
}

std::string flags(Dice& dice) {
  const char* const kTests[] = {"syn",
                                "! syn",
                                "== syn",
                                "!= ack",
                                "syn,ack",
                                "& (fin|syn|rst|ack) == syn",
                                "& ack != 0",
                                "& (syn|ack) == syn|ack",
                                "{ syn, ack, syn|ack }"};
  return dice.one_of(kTests);
}

struct Place {  // where a rule is to stand
  std::string family, hook;
  bool conntrack = false;
};

using MatchMaker = std::string (*)(Dice&, const Place&);

// Two columns: a weight, and the match.
struct Weighted {
  unsigned weight;
  MatchMaker make;
};

std::string end(Dice& dice) {
  return dice.chance(50) ? "saddr " : "daddr ";
}
std::string port_end(Dice& dice) {
  return dice.chance(70) ? "dport " : "sport ";
}

const Weighted kMatches[] = {
    {8,
     [](Dice& d, const Place& p) {
       const bool v6 = p.family == "ip6" || (p.family == "inet" && d.chance(40));
       return (v6 ? "ip6 " : "ip ") + end(d) + addresses(d, v6);
     }},
    {8,
     [](Dice& d, const Place&) {
       const char* const kProtocols[] = {"tcp ", "udp ", "th ", "sctp "};
       return d.one_of(kProtocols) + port_end(d) + ports(d);
     }},
    {4, [](Dice& d, const Place&) { return "tcp flags " + flags(d); }},
    {4,
     [](Dice& d, const Place&) {
       const char* const kValues[] = {"tcp",       "!= udp", "{ tcp, udp }", "icmp",
                                      "ipv6-icmp", "50",     "!= { 6, 17 }", "6-17"};
       return std::string("meta l4proto ") + d.one_of(kValues);
     }},
    {2,
     [](Dice& d, const Place& p) {
       const char* const kValues[] = {"tcp", "!= udp", "{ tcp, udp }", "44", "60", "58", "17"};
       return std::string(p.family == "ip6" || (p.family == "inet" && d.chance(50))
                              ? "ip6 nexthdr "
                              : "ip protocol ") +
              d.one_of(kValues);
     }},
    {3,
     [](Dice& d, const Place& p) {
       const char* const kTypes[] = {"echo-request", "!= echo-request", "{ echo-request, 3 }",
                                     "128", "0-8"};
       return std::string(p.family == "ip6" || (p.family == "inet" && d.chance(50))
                              ? "icmpv6 type "
                              : "icmp type ") +
              d.one_of(kTypes);
     }},
    {6,
     [](Dice& d, const Place& p) {
       if (!p.conntrack)
         return std::string();
       const char* const kValues[] = {"new",
                                      "established",
                                      "established,related",
                                      "invalid",
                                      "untracked",
                                      "{ new, established }",
                                      "!= new",
                                      "! established",
                                      "new,untracked",
                                      "!= { invalid, untracked }"};
       return std::string("ct state ") + d.one_of(kValues);
     }},
    {5,
     [](Dice& d, const Place& p) {
       if (!p.conntrack)
         return std::string();
       const char* const kValues[] = {"ct direction reply",
                                      "ct direction original",
                                      "ct direction != reply",
                                      "ct mark 1",
                                      "ct mark != 0",
                                      "ct mark & 0xff == 5",
                                      "ct status dnat",
                                      "ct status ! dnat",
                                      "ct status confirmed",
                                      "ct status seen-reply",
                                      "ct protocol tcp",
                                      "ct l3proto ipv4",
                                      "ct zone 0",
                                      "meta l4proto tcp ct original proto-dst 80",
                                      "meta l4proto udp ct original proto-dst { 53, 80 }"};
       std::string match = d.one_of(kValues);
       return match;
     }},
    {2,
     [](Dice& d, const Place& p) {
       if (!p.conntrack)
         return std::string();
       const bool v6 = p.family == "ip6" || (p.family == "inet" && d.chance(30));
       return std::string("ct ") + (d.chance(50) ? "original " : "reply ") +
              (p.family == "inet" ? v6 ? "ip6 " : "ip " : "") + end(d) +
              (v6 ? d.one_of(kAddress6) : d.one_of(kAddress4));
     }},
    {6,
     [](Dice& d, const Place& p) {
       const bool out = p.hook == "output" || p.hook == "postrouting" ||
                        (p.hook != "prerouting" && d.chance(40));
       return std::string(out ? "oifname " : "iifname ") + is(d) +
              (d.chance(60) ? std::string(d.one_of(kNames))
                            : braces(d, [&] { return std::string(d.one_of(kApart)); }));
     }},
    {3,
     [](Dice& d, const Place& p) {
       const char* const kIn[] = {"iif t0",     "iif != t1",        "iif { t0, lo }",
                                  "iifgroup 7", "iifgroup != 7",    "iifgroup default",
                                  "iif lo",     "iiftype != ether", "iiftype ether"};
       const char* const kOut[] = {"oif t0",   "oif != t1",  "oif 0",
                                   "oif != 0", "oifgroup 7", "oifgroup != { 7 }"};
       const bool out = p.hook == "output" || p.hook == "postrouting" ||
                        (p.hook != "prerouting" && d.chance(40));
       return std::string(out ? d.one_of(kOut) : d.one_of(kIn));
     }},
    {5,
     [](Dice& d, const Place&) {
       switch (d.below(4)) {
         case 0:
           return "meta mark " + is(d) + d.one_of(kMarks);
         case 1:
           return std::string("meta mark & 0xff == ") + (d.chance(50) ? "1" : "5");
         case 2:
           return std::string("meta mark < 0x100");
         default:
           return std::string("meta mark { 1, 5-255 }");
       }
     }},
    {3,
     [](Dice& d, const Place& p) {
       const char* const kInet[] = {"meta nfproto ipv4", "meta nfproto ipv6",
                                    "meta nfproto != ipv4", "meta protocol ip",
                                    "meta protocol ip6"};
       const char* const kAny[] = {"meta pkttype host", "meta pkttype != broadcast",
                                   "meta length > 60", "meta length 40-60", "meta length != 48"};
       return std::string(p.family == "inet" && d.chance(50) ? d.one_of(kInet) : d.one_of(kAny));
     }},
    {3,
     [](Dice& d, const Place& p) {
       const char* const k4[] = {"ip ttl 64",      "ip ttl 63",  "ip ttl > 63",
                                 "ip ttl != 64",   "ip dscp 10", "ip dscp { cs1, af11 }",
                                 "ip length 40-60"};
       const char* const k6[] = {"ip6 hoplimit 64",    "ip6 hoplimit < 64", "ip6 dscp != 10",
                                 "ip6 length > 20",    "exthdr dst exists", "exthdr frag missing",
                                 "exthdr frag exists", "exthdr hbh exists"};
       return std::string(p.family == "ip6" || (p.family == "inet" && d.chance(50)) ? d.one_of(k6)
                                                                                    : d.one_of(k4));
     }},
    {2,
     [](Dice& d, const Place& p) {
       if (p.family == "ip6")
         return std::string("frag frag-off != 0");
       const char* const k4[] = {"ip frag-off & 0x1fff != 0", "ip frag-off & 0x2000 != 0",
                                 "ip frag-off & 0x3fff == 0"};
       return std::string(d.one_of(k4));
     }},
    {4,
     [](Dice& d, const Place&) {
       const char* const kRaw[] = {"@th,64,8 0x64",          "@th,64,8 { 0, 0x11-0x12 }",
                                   "@th,80,16 0x8001",       "@th,104,24 != 1",
                                   "@th,104,24 { 1, 5-10 }", "udp dport 4791 @th,64,8 & 0x1f == 4",
                                   "@th,16,16 80",           "@th,232,8 7",
                                   "@th,352,16 0x10",        "@th,0,32 0x00350050"};
       return std::string(d.one_of(kRaw));
     }},
    {2,
     [](Dice& d, const Place& p) {
       if (p.hook == "output")
         return std::string();
       const char* const kEther[] = {"ether saddr 02:00:00:00:00:10",
                                     "ether daddr != 02:00:00:00:00:01",
                                     "ether daddr & 01:00:00:00:00:00 == 00:00:00:00:00:00",
                                     "ether type != ip6", "ether type ip"};
       return std::string(d.one_of(kEther));
     }},
    {5,
     [](Dice& d, const Place& p) {
       if (p.family == "ip6")
         return "ip6 saddr . tcp dport { fd01::10 . 80, fd01::/64 . " + port_range(d) + " }";
       switch (d.below(5)) {
         case 0:
           return "ip saddr . tcp dport { 10.1.0.10 . 80, 10.1.0.11 . " + port(d) + " }";
         case 1:
           return "ip saddr . udp dport { 10.1.0.0/24 . 53, 10.2.0.0/16 . " + port_range(d) + " }";
         case 2:
           return "th dport . meta l4proto != { 80 . tcp, " + port_range(d) + " . udp }";
         case 3:
           return "meta mark . ip daddr { 1 . " + address4(d) + ", 5 . 10.2.0.11 }";
         default:
           return "iifname . ip saddr { \"t0\" . 10.1.0.0/24, \"t*\" . " + address4(d) + " }";
       }
     }},
    {4,
     [](Dice& d, const Place& p) {
       const char* const k4[] = {"ip saddr @s_hosts", "ip daddr != @s_hosts", "ip daddr @s_nets",
                                 "ip saddr . th dport @s_pairs"};
       const char* const kAny[] = {"tcp dport @s_ports",  "th dport != @s_ports",
                                   "udp sport @s_ports",  "iifname @s_names",
                                   "iifname != @s_names", "meta l4proto . th dport @s_services",
                                   "th dport @s_empty",   "th dport != @s_empty"};
       return std::string(p.family != "ip6" && d.chance(40) ? d.one_of(k4) : d.one_of(kAny));
     }},
    {2,
     [](Dice& d, const Place& p) {
       const char* const k4[] = {"ip saddr & 255.255.0.0 == 10.1.0.0",
                                 "ip daddr & 0.0.0.1 == 0.0.0.1", "ip saddr & 0.0.0.15 < 0.0.0.11",
                                 "ip saddr > 10.1.0.10", "ip daddr <= 10.2.0.10"};
       const char* const k6[] = {"ip6 daddr & ::f == ::1", "ip6 saddr > fd01::10",
                                 "ip6 saddr != fd01::/16"};
       return std::string(p.family == "ip6" ? d.one_of(k6) : d.one_of(k4));
     }},
    {2,
     [](Dice& d, const Place& p) {
       if (p.hook == "output" || p.hook == "postrouting")
         return std::string(p.hook == "output" ? "meta skuid 0" : "meta skuid != 0");
       const char* const kFib[] = {"fib daddr type local", "fib daddr type != local",
                                   "fib saddr . iif oif exists", "fib saddr . iif oif missing",
                                   "fib daddr type { local, unicast }"};
       return std::string(d.one_of(kFib));
     }},
};

std::string random_match(Dice& dice, const Place& place) {
  unsigned total = 0;
  for (const Weighted& row : kMatches)
    total += row.weight;
  std::size_t at = dice.below(total);
  for (const Weighted& row : kMatches) {
    if (at < row.weight)
      return row.make(dice, place);
    at -= row.weight;
  }
  return {};
}

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

std::string random_rule(Dice& dice, const Place& place, const std::vector<std::string>& below) {
  std::string rule = one_rule(dice, place, below);
  while (contradicts(rule))
    rule = one_rule(dice, place, below);
  return rule;
}

const char* const kSets4 = R"(
  set s_hosts { type ipv4_addr; elements = { 10.1.0.10, 10.2.0.10, 10.2.0.1 }; }
  set s_nets { type ipv4_addr; flags interval; elements = { 10.2.0.8/30, 10.1.0.0/28 }; }
  set s_pairs { type ipv4_addr . inet_service; flags interval; elements = { 10.1.0.0/24 . 80, 10.2.0.10 . 1024-65535 }; })";
const char* const kSets = R"(
  set s_ports { type inet_service; flags interval; elements = { 22, 80-81, 1024-65535 }; }
  set s_names { type ifname; flags interval; elements = { "t1", "eth*" }; }
  set s_services { type inet_proto . inet_service; elements = { tcp . 80, udp . 53, tcp . 22 }; }
  set s_empty { type inet_service; })";

struct Hooked {
  const char* hook;
  int priority;
};

}  // namespace

std::string RandomRuleset::text() const {
  std::set<std::pair<std::string, std::string>> tables;
  for (const Chain& chain : chains)
    tables.insert({chain.family, chain.table});
  std::string text;
  for (const auto& [family, table] : tables) {
    text += "table " + family + " " + table + " {" + (family == "ip6" ? "" : kSets4) + kSets + "\n";
    // Chains that are jumped to come first: the last ones.
    for (auto chain = chains.rbegin(); chain != chains.rend(); ++chain) {
      if (chain->family != family || chain->table != table)
        continue;
      text += "  chain " + chain->name + " {\n";
      if (!chain->base.empty())
        text += "    " + chain->base + "\n";
      for (const std::string& rule : chain->rules)
        text += "    " + rule + "\n";
      text += "  }\n";
    }
    text += "}\n";
  }
  return text;
}

RandomRuleset random_ruleset(Dice& dice) {
  const Hooked kHooks[] = {{"forward", 0},     {"forward", -5},      {"input", 0},
                           {"output", 0},      {"prerouting", -300}, {"prerouting", -150},
                           {"postrouting", 0}, {"postrouting", 150}, {"forward", 10},
                           {"output", -150}};
  RandomRuleset ruleset;
  ruleset.uses_conntrack = dice.chance(70);
  const std::size_t tables = 1 + dice.below(2);
  for (std::size_t t = 0; t < tables; ++t) {
    const std::string family = dice.chance(65) ? "inet" : dice.chance(50) ? "ip" : "ip6";
    const std::string table = "t" + std::to_string(t);
    std::set<std::size_t> hooks;
    for (std::size_t i = 0; i <= dice.below(4); ++i)
      hooks.insert(dice.below(std::size(kHooks)));
    if (dice.chance(70))
      hooks.insert(0);
    const std::size_t plain = dice.below(4);
    for (const std::size_t at : hooks) {
      const Hooked& hooked = kHooks[at];
      // Equal priorities of two tables have no promised order.
      const int priority = hooked.priority + static_cast<int>(t);
      RandomRuleset::Chain chain{
          family, table, "b_" + std::string(hooked.hook) + std::to_string(at), {}, {}};
      chain.base = "type filter hook " + std::string(hooked.hook) + " priority " +
                   std::to_string(priority) + "; policy " + (dice.chance(40) ? "drop" : "accept") +
                   ";";
      std::vector<std::string> below;
      for (std::size_t i = 0; i < plain; ++i)
        below.push_back("c" + std::to_string(i));
      const Place place{family, hooked.hook, ruleset.uses_conntrack};
      for (std::size_t i = dice.below(7); i-- > 0;)
        chain.rules.push_back(random_rule(dice, place, below));
      if (priority <= -299 && ruleset.uses_conntrack && dice.chance(50))
        chain.rules.push_back("udp dport " + ports(dice) + " notrack");
      ruleset.chains.push_back(std::move(chain));
    }
    if (ruleset.uses_conntrack && family != "ip6" && dice.chance(30)) {
      RandomRuleset::Chain nat{family, table, "n_pre", {}, {}};
      nat.base =
          "type nat hook prerouting priority " + std::to_string(-100 + static_cast<int>(t)) + ";";
      const std::string to = family == "inet" ? "dnat ip to " : "dnat to ";
      const std::string guard = family == "inet" ? "meta nfproto ipv4 " : "";
      nat.rules.push_back(guard + "tcp dport " + ports(dice) + " " + to + "10.2.0.12:443");
      nat.rules.push_back(guard + "udp dport 53 ip daddr 10.1.0.1 " + to + "10.2.0.11");
      ruleset.chains.push_back(std::move(nat));
      // Ports are unique in these tests, so the kernel keeps them.
      RandomRuleset::Chain post{family, table, "n_post", {}, {}};
      post.base =
          "type nat hook postrouting priority " + std::to_string(100 + static_cast<int>(t)) + ";";
      if (dice.chance(50))
        post.rules.push_back(guard + "oifname \"t1\" ip saddr 10.1.0.10-10.1.0.11 " +
                             (family == "inet" ? "snat ip to 10.2.0.1" : "snat to 10.2.0.1"));
      ruleset.chains.push_back(std::move(post));
    }
    for (std::size_t i = 0; i < plain; ++i) {
      RandomRuleset::Chain chain{family, table, "c" + std::to_string(i), {}, {}};
      std::vector<std::string> below;
      for (std::size_t j = i + 1; j < plain; ++j)
        below.push_back("c" + std::to_string(j));
      // Called from any hook: no match that one of them refuses.
      const Place place{family, "any", ruleset.uses_conntrack};
      for (std::size_t n = dice.below(5); n-- > 0;) {
        std::string rule = random_rule(dice, place, below);
        if (rule.find("reject") == std::string::npos && rule.find("fib") == std::string::npos)
          chain.rules.push_back(std::move(rule));
      }
      ruleset.chains.push_back(std::move(chain));
    }
  }
  return ruleset;
}

std::vector<Shot> random_shots(Dice& dice, std::size_t count, bool fragments) {
  const char* const kClient4[] = {"10.1.0.10", "10.1.0.11", "10.1.0.12"};
  const char* const kClient6[] = {"fd01::10", "fd01::11", "fd01::12"};
  const char* const kServer4[] = {"10.2.0.10", "10.2.0.11", "10.2.0.12"};
  const char* const kServer6[] = {"fd02::10", "fd02::11", "fd02::12"};
  const std::uint8_t kProtocols[] = {6, 6, 6, 17, 17, 17, 1, 58, 50, 132};
  const std::uint8_t kFlags[] = {0x02, 0x02, 0x10, 0x12, 0x01, 0x04, 0x18, 0x00, 0x29, 0x11};
  const std::uint8_t kTypes4[] = {8, 8, 0, 3, 13};
  const std::uint8_t kTypes6[] = {128, 128, 129, 1, 4};
  std::vector<Shot> shots;
  std::uint16_t unique = 20000;
  for (std::size_t i = 0; i < count; ++i) {
    Shot shot;
    shot.goes_on = dice.chance(35);
    shot.as_reply = dice.chance(60);
    shot.which = dice.below(1000);
    PacketFacts& facts = shot.facts;
    facts.protocol = dice.one_of(kProtocols);
    const bool v6 = facts.protocol == 58 || (facts.protocol != 1 && dice.chance(40));
    const auto client = [&] { return v6 ? dice.one_of(kClient6) : dice.one_of(kClient4); };
    const auto server = [&] { return v6 ? dice.one_of(kServer6) : dice.one_of(kServer4); };
    std::string from = client(), to = server();
    if (dice.chance(30))
      std::swap(from, to);
    if (dice.chance(20))
      to = v6 ? "fd01::1" : "10.1.0.1";
    else if (dice.chance(20))
      from = to.starts_with("10.2") || to.starts_with("fd02") ? v6 ? "fd02::1" : "10.2.0.1"
             : v6                                             ? "fd01::1"
                                                              : "10.1.0.1";
    facts.from = *Address::parse(from);
    facts.to = *Address::parse(to);
    facts.sport = ++unique;
    facts.dport = static_cast<std::uint16_t>(dice.one_of(kPorts));
    facts.tcp_flags = dice.one_of(kFlags);
    facts.icmp_type = v6 ? dice.one_of(kTypes6) : dice.one_of(kTypes4);
    facts.icmp_id = unique;
    facts.dscp = dice.chance(20) ? 10 : 0;
    facts.destination_options = v6 && dice.chance(20);
    if (fragments && dice.chance(20))
      facts.fragment =
          Fragment{static_cast<std::uint16_t>(dice.chance(50) ? 0 : 9), dice.chance(70)};
    // BTH and management fields, where they are read: a few values that rules ask for.
    facts.payload.resize(dice.chance(50) ? 64 : 8 * dice.below(4));
    for (auto& byte : facts.payload)
      byte = dice.chance(60) ? 0 : static_cast<std::uint8_t>(dice.below(256));
    if (facts.payload.size() == 64 && dice.chance(50)) {
      facts.payload[0] = dice.chance(50) ? 0x64 : 0x11;
      facts.payload[2] = 0x80;
      facts.payload[3] = 0x01;
      facts.payload[7] = static_cast<std::uint8_t>(dice.below(12));
      facts.payload[21] = 7;
      facts.payload[37] = 0x10;
    }
    if (facts.protocol == 132)
      std::fill_n(facts.payload.begin(), std::min<std::size_t>(8, facts.payload.size()), 0);
    shots.push_back(std::move(shot));
  }
  return shots;
}

}  // namespace bulkhead::test
