#include "random_match.h"

#include "random_words.h"

namespace bulkhead::test {

namespace {

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
           return "ip saddr . tcp dport { 10.1.0.10 . 80, 10.1.0.11 . " +
                  std::to_string(d.one_of(kPorts)) + " }";
         case 1:
           return "ip saddr . udp dport { 10.1.0.0/24 . 53, 10.2.0.0/16 . " + port_range(d) + " }";
         case 2:
           return "th dport . meta l4proto != { 80 . tcp, " + port_range(d) + " . udp }";
         case 3:
           return "meta mark . ip daddr { 1 . " + std::string(d.one_of(kAddress4)) +
                  ", 5 . 10.2.0.11 }";
         default:
           return "iifname . ip saddr { \"t0\" . 10.1.0.0/24, \"t*\" . " +
                  std::string(d.one_of(kAddress4)) + " }";
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

}  // namespace

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

}  // namespace bulkhead::test
