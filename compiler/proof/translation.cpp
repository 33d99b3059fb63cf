#include "compiler/proof/translation.h"

#include <algorithm>
#include <array>

namespace bulkhead::compiler::proof {

namespace {

bool has_ports(const Packet& packet) {
  constexpr std::array<std::uint8_t, 5> kWithPorts{6, 17, 33, 132, 136};
  const auto transport = transport_of(packet);
  return transport && !transport->later_fragment &&
         std::find(kWithPorts.begin(), kWithPorts.end(), transport->protocol) != kWithPorts.end();
}

struct Fields {
  Selector address4, address6, port;
};
constexpr Fields kSource{Selector::Ip4Saddr, Selector::Ip6Saddr, Selector::ThSport};
constexpr Fields kDestination{Selector::Ip4Daddr, Selector::Ip6Daddr, Selector::ThDport};

Selector address_of(const Packet& packet, const Fields& fields) {
  return packet.ethertype == kEtherIp ? fields.address4 : fields.address6;
}

void put(Packet& packet, const Fields& fields, Value address, std::uint16_t port) {
  write(packet, address_of(packet, fields), address);
  if (has_ports(packet))
    write(packet, fields.port, port);
}

}  // namespace

Translated translate_new(Packet& packet, const Nat& nat, const Target& target) {
  constexpr std::array<std::string_view, 4> kNames{"dnat", "snat", "masquerade", "redirect"};
  const bool of_destination = nat.kind == NatKind::Dnat || nat.kind == NatKind::Redirect;
  const Fields& fields = of_destination ? kDestination : kSource;
  Translated translated{std::string(kNames[static_cast<std::size_t>(nat.kind)]), {}};
  Connection& connection = *packet.connection;
  Value& address = of_destination ? connection.answer.saddr : connection.answer.daddr;
  std::uint16_t& port = of_destination ? connection.answer.sport : connection.answer.dport;
  const Value old_address = address;
  const std::uint16_t old_port = port;

  // masquerade and redirect take an address of a device; a prefix map keeps the host's bits.
  const bool takes_device = nat.kind == NatKind::Masquerade || nat.kind == NatKind::Redirect;
  const bool unknown_address =
      target.unknown_address || nat.netmap || (takes_device && !target.address);
  if (unknown_address)
    translated.uncertain.push_back(address_of(packet, fields));
  else if (target.address)
    address = *target.address;
  // A source port is kept while nobody else has it.
  if (target.unknown_port || (!of_destination && !target.port))
    translated.uncertain.push_back(fields.port);
  else if (target.port)
    port = static_cast<std::uint16_t>(*target.port);
  put(packet, fields, address, port);

  if (unknown_address || target.unknown_port || address != old_address || port != old_port)
    connection.status |= of_destination ? kStatusDnat : kStatusSnat;
  const Family family = packet.ethertype == kEtherIp ? Family::V4 : Family::V6;
  if (target.address && !unknown_address)
    translated.what += " to " + to_address(family, *target.address).str();
  if (target.port)
    translated.what += " port " + decimal(*target.port);
  return translated;
}

void translate_known(Packet& packet, Hook hook) {
  if (!packet.connection)
    return;
  const Connection& connection = *packet.connection;
  const bool of_destination = hook == Hook::Prerouting || hook == Hook::Output;
  if (!of_destination && hook != Hook::Postrouting && hook != Hook::Input)
    return;
  // In the answer's direction the translations are undone, the source's at the destination.
  const bool is_dnat = of_destination != connection.reply;
  if ((connection.status & (is_dnat ? kStatusDnat : kStatusSnat)) == 0)
    return;
  const Tuple& from = connection.reply ? connection.original : connection.answer;
  const Fields& fields = of_destination ? kDestination : kSource;
  // The other direction's source is this one's destination.
  if (of_destination)
    put(packet, fields, from.saddr, from.sport);
  else
    put(packet, fields, from.daddr, from.dport);
}

std::int32_t translation_priority(Hook hook) {
  return hook == Hook::Postrouting || hook == Hook::Input ? 100 : -100;
}

}  // namespace bulkhead::compiler::proof
