#include "probes/packet.h"

#include <netinet/in.h>

#include <algorithm>

namespace bulkhead::probes {
namespace {

std::optional<IpHeader> read_v4(std::span<const std::uint8_t> packet) {
  if (packet.size() < 20)
    return std::nullopt;
  IpHeader header;
  header.length = (packet[0] & 15U) * 4U;
  const bool later_fragment = (packet[6] & 0x1f) != 0 || packet[7] != 0;
  if (header.length < 20 || later_fragment)
    return std::nullopt;
  header.protocol = packet[9];
  std::copy_n(packet.begin() + 12, 4, header.from.bytes.begin());
  std::copy_n(packet.begin() + 16, 4, header.to.bytes.begin());
  return header;
}

std::optional<IpHeader> read_v6(std::span<const std::uint8_t> packet) {
  if (packet.size() < 40)
    return std::nullopt;
  IpHeader header;
  header.from.family = header.to.family = Family::V6;
  header.protocol = packet[6];
  header.length = 40;
  std::copy_n(packet.begin() + 8, 16, header.from.bytes.begin());
  std::copy_n(packet.begin() + 24, 16, header.to.bytes.begin());
  if (header.protocol == IPPROTO_FRAGMENT) {
    // A trace shows 40 bytes of the header only: then what follows is unknown here.
    if (packet.size() < 48)
      return header;
    const bool later_fragment = packet[42] != 0 || (packet[43] & 0xf8) != 0;
    if (later_fragment)
      return std::nullopt;
    header.protocol = packet[40];
    header.length = 48;
  }
  return header;
}

}  // namespace

std::optional<IpHeader> read_ip_header(std::span<const std::uint8_t> packet) {
  if (packet.empty())
    return std::nullopt;
  switch (packet[0] >> 4) {
    case 4:
      return read_v4(packet);
    case 6:
      return read_v6(packet);
  }
  return std::nullopt;
}

std::uint16_t internet_checksum(std::span<const std::uint8_t> bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    sum += i % 2 == 0 ? std::uint32_t{bytes[i]} << 8 : bytes[i];
  while (sum >> 16 != 0)
    sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace bulkhead::probes
