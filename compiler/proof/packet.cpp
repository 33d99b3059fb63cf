#include "compiler/proof/packet.h"

#include <algorithm>

namespace bulkhead::compiler::proof {

namespace {

using Bytes = std::vector<std::uint8_t>;

std::optional<Value> slice(const Bytes& bytes, std::size_t begin, std::size_t offset,
                           std::size_t bits) {
  const std::size_t first = begin * 8 + offset;
  if (first + bits > bytes.size() * 8)
    return std::nullopt;
  Value value = 0;
  for (std::size_t bit = first; bit < first + bits; ++bit)
    value = value << 1 | (bytes[bit / 8] >> (7 - bit % 8) & 1);
  return value;
}

void put(Bytes& bytes, std::size_t begin, std::size_t offset, std::size_t bits, Value value) {
  const std::size_t first = begin * 8 + offset;
  for (std::size_t bit = first + bits; bit-- > first; value >>= 1) {
    const auto mask = static_cast<std::uint8_t>(0x80U >> (bit % 8));
    std::uint8_t& byte = bytes[bit / 8];
    byte = static_cast<std::uint8_t>((value & 1) != 0 ? byte | mask : byte & ~mask);
  }
}

// ---- extension headers, as ipv6_find_hdr() walks them

constexpr std::uint8_t kHopByHop = 0, kRouting = 43, kFragment = 44, kAuthentication = 51,
                       kDestination = 60, kMobility = 135;

bool is_extension(std::uint8_t header) {
  return header == kHopByHop || header == kRouting || header == kFragment ||
         header == kAuthentication || header == kDestination;
}

struct Found {
  std::uint8_t header = 0;
  std::size_t offset = 0;
  std::uint16_t fragment_offset = 0;
};

// The first header of type `wanted`; without one, the first that is no extension header. In a later
// fragment nothing is behind the fragment header but the type of what was cut.
std::optional<Found> find_header(const Bytes& bytes, std::optional<std::uint8_t> wanted) {
  if (bytes.size() < 40)
    return std::nullopt;
  Found at{bytes[6], 40, 0};
  while (at.header != wanted) {
    if (!is_extension(at.header))
      return wanted ? std::nullopt : std::optional(at);
    if (at.offset + 8 > bytes.size())
      return std::nullopt;
    const std::uint8_t next = bytes[at.offset];
    std::size_t length = 8;
    if (at.header == kFragment) {
      const auto fragment = static_cast<std::uint16_t>(*slice(bytes, at.offset, 16, 13));
      if (fragment != 0) {
        if (wanted || is_extension(next))
          return std::nullopt;
        return Found{next, at.offset, fragment};
      }
    } else if (at.header == kAuthentication) {
      length = (std::size_t{bytes[at.offset + 1]} + 2) * 4;
    } else {
      length = (std::size_t{bytes[at.offset + 1]} + 1) * 8;
    }
    at = {next, at.offset + length, 0};
  }
  return at;
}

std::optional<Value> read_extension(const Packet& packet, Selector selector) {
  if (packet.ethertype != kEtherIp6)
    return std::nullopt;
  const auto has = [&](std::uint8_t header) -> Value {
    return find_header(packet.bytes, header) ? 1 : 0;
  };
  switch (selector) {
    case Selector::ExtHopByHop:
      return has(kHopByHop);
    case Selector::ExtRouting:
      return has(kRouting);
    case Selector::ExtFragment:
      return has(kFragment);
    case Selector::ExtDestination:
      return has(kDestination);
    case Selector::ExtMobility:
      return has(kMobility);
    default:
      break;
  }
  const auto fragment = find_header(packet.bytes, kFragment);
  if (!fragment)
    return std::nullopt;
  const SelectorInfo& place = info(selector);
  return slice(packet.bytes, fragment->offset, place.offset, place.bits);
}

// ---- metadata

std::optional<Value> if_there(const auto& value) {
  return value ? std::optional<Value>(*value) : std::nullopt;
}

std::optional<Value> group_of(const std::optional<Device>& device) {
  return device ? std::optional<Value>(device->group) : std::nullopt;
}

std::optional<Value> type_of(const std::optional<Device>& device) {
  return device ? std::optional<Value>(device->type) : std::nullopt;
}

// No device is the empty name and index 0, not a failure (kernel 6.18).
Value name_of_device(const std::optional<Device>& device) {
  return device ? interface_name(device->name) : 0;
}

Value index_of(const std::optional<Device>& device) {
  return device ? device->index : 0;
}

std::optional<Value> read_meta(const Packet& packet, Selector selector) {
  switch (selector) {
    case Selector::MetaNfproto:
      return packet.ethertype == kEtherIp ? 2 : packet.ethertype == kEtherIp6 ? 10 : 3;
    case Selector::MetaProtocol:
      return packet.ethertype;
    case Selector::MetaL4proto: {
      const auto transport = transport_of(packet);
      return transport ? std::optional<Value>(transport->protocol) : std::nullopt;
    }
    case Selector::MetaMark:
      return packet.mark;
    case Selector::MetaIif:
      return index_of(packet.in);
    case Selector::MetaOif:
      return index_of(packet.out);
    case Selector::MetaIifname:
      return name_of_device(packet.in);
    case Selector::MetaOifname:
      return name_of_device(packet.out);
    case Selector::MetaIifgroup:
      return group_of(packet.in);
    case Selector::MetaOifgroup:
      return group_of(packet.out);
    case Selector::MetaIiftype:
      return type_of(packet.in);
    case Selector::MetaOiftype:
      return type_of(packet.out);
    case Selector::MetaPkttype:
      return packet.type;
    case Selector::MetaLength:
      return packet.bytes.size();
    case Selector::MetaPriority:
      return packet.priority;
    case Selector::MetaSkuid:
      return if_there(packet.uid);
    case Selector::MetaSkgid:
      return if_there(packet.gid);
    case Selector::MetaSdif:
      return index_of(packet.port);
    case Selector::MetaSdifname:
      return name_of_device(packet.port);
    default:
      return 0;  // nftrace
  }
}

std::optional<Value> read_conntrack(const Packet& packet, Selector selector) {
  if (selector == Selector::CtState)
    return packet.ct_state;
  if (!packet.connection)
    return std::nullopt;
  const Connection& connection = *packet.connection;
  const bool v4 = packet.ethertype == kEtherIp;
  const auto of_family = [&](bool asked_v4, Value address) {
    return asked_v4 == v4 ? std::optional<Value>(address) : std::nullopt;
  };
  switch (selector) {
    case Selector::CtDirection:
      return connection.reply ? 1 : 0;
    case Selector::CtStatus:
      return connection.status;
    case Selector::CtMark:
      return connection.mark;
    case Selector::CtZone:
      return connection.zone;
    case Selector::CtL3proto:
      return v4 ? 2 : 10;
    case Selector::CtProtocol:
      return connection.protocol;
    case Selector::CtOriginalSaddr4:
      return of_family(true, connection.original.saddr);
    case Selector::CtOriginalDaddr4:
      return of_family(true, connection.original.daddr);
    case Selector::CtOriginalSaddr6:
      return of_family(false, connection.original.saddr);
    case Selector::CtOriginalDaddr6:
      return of_family(false, connection.original.daddr);
    case Selector::CtOriginalSport:
      return connection.original.sport;
    case Selector::CtOriginalDport:
      return connection.original.dport;
    case Selector::CtReplySaddr4:
      return of_family(true, connection.answer.saddr);
    case Selector::CtReplyDaddr4:
      return of_family(true, connection.answer.daddr);
    case Selector::CtReplySaddr6:
      return of_family(false, connection.answer.saddr);
    case Selector::CtReplyDaddr6:
      return of_family(false, connection.answer.daddr);
    case Selector::CtReplySport:
      return connection.answer.sport;
    default:
      return connection.answer.dport;
  }
}

Place place_of(const Operand& operand) {
  if (operand.selector == Selector::Raw)
    return operand.place;
  const SelectorInfo& known = info(operand.selector);
  return {known.base, known.offset, known.bits};
}

std::optional<Value> read_whole(const Packet& packet, const Operand& operand) {
  const Place place = place_of(operand);
  switch (place.base) {
    case Base::Link:
      return packet.link.empty() ? std::nullopt : slice(packet.link, 0, place.offset, place.bits);
    case Base::Network:
      return slice(packet.bytes, 0, place.offset, place.bits);
    case Base::Transport: {
      const auto transport = transport_of(packet);
      if (!transport || (transport->later_fragment && !is_read_in_fragments(place)))
        return std::nullopt;
      return slice(packet.bytes, transport->offset, place.offset, place.bits);
    }
    case Base::Extension:
      return read_extension(packet, operand.selector);
    case Base::Meta:
      return read_meta(packet, operand.selector);
    case Base::Conntrack:
      return read_conntrack(packet, operand.selector);
    case Base::Lookup:
      break;
  }
  return std::nullopt;
}

bool write_payload(Packet& packet, const SelectorInfo& field, Value value) {
  Bytes& bytes = field.base == Base::Link ? packet.link : packet.bytes;
  std::size_t begin = 0;
  if (field.base == Base::Transport) {
    const auto transport = transport_of(packet);
    if (!transport || transport->later_fragment)
      return false;
    begin = transport->offset;
  }
  if (begin * 8 + field.offset + field.bits > bytes.size() * 8)
    return false;
  put(bytes, begin, field.offset, field.bits, value);
  return true;
}

}  // namespace

std::optional<Transport> transport_of(const Packet& packet) {
  const Bytes& bytes = packet.bytes;
  if (packet.ethertype == kEtherIp && bytes.size() >= 20) {
    const bool later = (*slice(bytes, 0, 48, 16) & 0x1fff) != 0;
    return Transport{bytes[9], std::size_t{bytes[0] & 15U} * 4, later};
  }
  if (packet.ethertype != kEtherIp6)
    return std::nullopt;
  const auto found = find_header(bytes, std::nullopt);
  if (!found)
    return std::nullopt;
  // ipv6_find_hdr() gives no offset where it meets a later fragment (kernel 6.18.44), and nf_tables
  // then counts from the network header.
  const bool later = found->fragment_offset != 0;
  return Transport{found->header, later ? 0 : found->offset, later};
}

bool is_read_in_fragments(const Place& place) {
  const unsigned first = place.offset / 8;
  const unsigned bytes = (place.offset + place.bits + 7U) / 8 - first;
  return (bytes == 1 || bytes == 2 || bytes == 4) && first % bytes == 0;
}

std::optional<Value> read(const Packet& packet, const Operand& operand) {
  const auto whole = read_whole(packet, operand);
  if (!whole)
    return std::nullopt;
  return (*whole & operand.mask) ^ operand.flip;
}

bool write(Packet& packet, Selector selector, Value value) {
  const SelectorInfo& field = info(selector);
  switch (field.base) {
    case Base::Link:
    case Base::Network:
    case Base::Transport:
      return write_payload(packet, field, value);
    default:
      break;
  }
  switch (selector) {
    case Selector::MetaMark:
      packet.mark = static_cast<std::uint32_t>(value);
      return true;
    case Selector::MetaPriority:
      packet.priority = static_cast<std::uint32_t>(value);
      return true;
    case Selector::MetaPkttype:
      packet.type = static_cast<std::uint8_t>(value);
      return true;
    case Selector::CtMark:
      if (packet.connection)
        packet.connection->mark = static_cast<std::uint32_t>(value);
      return packet.connection.has_value();
    case Selector::CtZone:
      if (packet.connection)
        packet.connection->zone = static_cast<std::uint16_t>(value);
      return packet.connection.has_value();
    case Selector::MetaNftrace:
      return true;
    default:
      return false;
  }
}

TableFamily family_of(const Packet& packet) {
  if (packet.ethertype == kEtherIp6)
    return TableFamily::Ip6;
  return packet.ethertype == kEtherArp ? TableFamily::Arp : TableFamily::Ip;
}

}  // namespace bulkhead::compiler::proof
