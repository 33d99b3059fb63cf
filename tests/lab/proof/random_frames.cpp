#include "random_frames.h"

#include <ostream>

#include "compiler/proof/packet_bytes.h"

namespace bulkhead::test {

namespace {

using compiler::proof::PacketFacts;
using Words = std::vector<std::string>;

// Of any frame.
const Words kLink{"ether saddr 02:00:00:00:00:0a",
                  "ether saddr != 02:00:00:00:00:0b",
                  "ether daddr { 02:00:00:00:00:0c, 02:00:00:00:00:0d }",
                  "ether daddr & 01:00:00:00:00:00 == 00:00:00:00:00:00",
                  "vlan id 5",
                  "vlan id != 5",
                  "vlan id { 5, 7-9 }",
                  "vlan id 4-6",
                  "vlan pcp 3",
                  "vlan pcp != 3",
                  "vlan id 7 vlan pcp 0",
                  "meta mark 1",
                  "meta mark != 1",
                  "meta mark & 0xf == 2",
                  ""};
// Where nothing else says what the frame carries.
const Words kTypes{"ether type ip",
                   "ether type != ip6",
                   "ether type arp",
                   "ether type 0x88b5",
                   "ether type vlan",
                   "ether type { ip, arp }",
                   "meta protocol ip",
                   "meta protocol arp",
                   "meta protocol != ip6",
                   "meta l4proto tcp",
                   "meta l4proto { tcp, udp }",
                   "tcp dport 80",
                   "udp dport 53",
                   "th dport 80-90",
                   ""};
const Words k4{"ip saddr 10.0.0.1",
               "ip daddr 10.0.0.0/30",
               "ip saddr != 10.0.0.2",
               "ip protocol tcp",
               "ip saddr 10.0.0.1 tcp dport { 22, 80 }",
               "ip daddr 10.0.0.3 udp dport 53",
               "icmp type echo-request",
               "ip ttl 64"};
const Words k6{"ip6 saddr fd00::1", "ip6 daddr fd00::/126", "ip6 saddr fd00::2 tcp dport 80",
               "ip6 nexthdr udp", "ip6 hoplimit > 63"};
const Words kArp{"arp operation request", "arp operation != reply", "arp operation { 1, 2 }"};
const Words kVerdicts{"accept",
                      "drop",
                      "drop",
                      "accept",
                      "continue",
                      "return",
                      "meta mark set 1",
                      "meta mark set meta mark | 0x2",
                      "counter drop"};
const Words kMaps{"vlan id vmap { 5 : drop, 7 : accept, 8-9 : continue }",
                  "ether type vmap { ip : accept, arp : drop }",
                  "meta mark vmap { 0 : continue, 1 : drop }",
                  "ether saddr vmap { 02:00:00:00:00:0a : accept, 02:00:00:00:00:0b : drop }"};

rc::Gen<std::string> interfaces(FramePlace place) {
  Words words{"", ""};
  if (place != FramePlace::Postrouting)
    for (const char* name : {"iifname b0", "iifname != \"b1\"", "iifname \"b*\""})
      words.emplace_back(name);
  else
    words.emplace_back("iifname b0");  // it has none any more
  if (place == FramePlace::Forward || place == FramePlace::Postrouting)
    for (const char* name : {"oifname b1", "oifname != b1", "oifname \"b*\""})
      words.emplace_back(name);
  return rc::gen::elementOf(words);
}

void append(std::string& rule, const std::string& part) {
  if (!part.empty())
    rule += (rule.empty() ? "" : " ") + part;
}

void put16(std::vector<std::uint8_t>& out, unsigned value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value));
}

std::vector<std::uint8_t> ip_packet(bool v6) {
  PacketFacts facts;
  const auto one_of_three = rc::gen::elementOf(std::vector<std::string>{"1", "2", "3"});
  const std::string net = v6 ? "fd00::" : "10.0.0.";
  facts.from = *Address::parse(net + *one_of_three);
  facts.to = *Address::parse(net + *one_of_three);
  facts.protocol = *rc::gen::element<std::uint8_t>(6, 17, v6 ? 58 : 1);
  facts.sport = 40000;
  facts.dport = *rc::gen::element<std::uint16_t>(22, 53, 80, 81);
  facts.tcp_flags = 2;
  facts.icmp_type = *rc::gen::element<std::uint8_t>(8, 0, 128);
  facts.hop_limit = *rc::gen::element<std::uint8_t>(64, 63);
  facts.payload.assign(16, 0);
  return bytes_of(facts);
}

std::vector<std::uint8_t> arp_packet() {
  std::vector<std::uint8_t> out{0, 1, 8, 0, 6, 4, 0, *rc::gen::element<std::uint8_t>(1, 2)};
  out.resize(28);
  return out;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const FrameRule& rule) {
  constexpr const char* kNames[] = {"ingress", "prerouting", "forward", "postrouting"};
  return out << kNames[static_cast<std::size_t>(rule.place)] << ": " << rule.text;
}

std::ostream& operator<<(std::ostream& out, const Frame& frame) {
  for (const std::uint8_t byte : frame.link)
    out << int{byte} << ' ';
  out << "| ";
  for (const std::uint8_t byte : frame.bytes)
    out << int{byte} << ' ';
  return out;
}

rc::Gen<FrameRule> frame_rule() {
  return rc::gen::exec([] {
    FrameRule rule;
    rule.place = *rc::gen::elementOf(
        std::vector<FramePlace>(std::begin(kFramePlaces), std::end(kFramePlaces)));
    append(rule.text, *interfaces(rule.place));
    append(rule.text, *rc::gen::elementOf(kLink));
    append(rule.text, *rc::gen::elementOf(*rc::gen::elementOf(
                          std::vector<Words>{kTypes, kTypes, k4, k4, k6, kArp})));
    append(rule.text,
           *rc::gen::elementOf(*rc::gen::weightedElement<Words>({{5, kVerdicts}, {1, kMaps}})));
    return rule;
  });
}

std::string frame_ruleset(const std::vector<FrameRule>& rules, unsigned drops) {
  struct Head {
    const char* table;
    const char* chain;
  };
  constexpr Head kHeads[] = {
      {"table netdev n", "type filter hook ingress device \"b0\" priority 0"},
      {"table bridge n", "type filter hook prerouting priority 0"},
      {"table bridge n", "type filter hook forward priority 0"},
      {"table bridge n", "type filter hook postrouting priority 0"}};
  std::string text;
  for (const FramePlace place : kFramePlaces) {
    const auto at = static_cast<std::size_t>(place);
    text += std::string(kHeads[at].table) + " {\n chain c" + std::to_string(at) + " {\n  " +
            kHeads[at].chain + "; policy " + ((drops >> at & 1U) != 0 ? "drop" : "accept") + ";\n";
    for (const FrameRule& rule : rules)
      if (rule.place == place)
        text += "  " + rule.text + "\n";
    text += " }\n}\n";
  }
  return text;
}

rc::Gen<Frame> any_frame() {
  return rc::gen::exec([] {
    Frame frame;
    const auto mac = [&](std::vector<std::uint8_t> last) {
      for (int i = 0; i < 5; ++i)
        frame.link.push_back(i == 0 ? 2 : 0);
      frame.link.push_back(*rc::gen::elementOf(last));
    };
    mac({0x0c, 0x0d, 0x0e});
    mac({0x0a, 0x0b});
    switch (*rc::gen::inRange(0, 6)) {
      case 0:
        frame.ethertype = compiler::proof::kEtherArp;
        frame.bytes = arp_packet();
        break;
      case 1:
        frame.ethertype = 0x88b5;  // for experiments (IEEE 802)
        frame.bytes.assign(46, 0);
        break;
      default: {
        const bool v6 = *rc::gen::arbitrary<bool>();
        frame.ethertype = v6 ? compiler::proof::kEtherIp6 : compiler::proof::kEtherIp;
        frame.bytes = ip_packet(v6);
      }
    }
    if (*rc::gen::inRange(0, 10) < 6) {
      put16(frame.link, 0x8100);
      put16(frame.link,
            *rc::gen::element<unsigned>(0, 3) << 13 | *rc::gen::element<unsigned>(4, 5, 7, 8, 10));
    }
    put16(frame.link, frame.ethertype);
    return frame;
  });
}

}  // namespace bulkhead::test
