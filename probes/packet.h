// The start of an IP packet, as far as captures and traces need it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "policy/support/address.h"

namespace bulkhead::probes {

struct IpHeader {
  Address from, to;
  std::uint8_t protocol = 0;  // of the transport, beyond a fragment header
  std::size_t length = 0;     // where the transport starts
};

// None: not IP, cut short, a later fragment, or an extension header that no packet of ours has.
[[nodiscard]] std::optional<IpHeader> read_ip_header(std::span<const std::uint8_t> packet);

// RFC 1071. A checksum field among `bytes` is zero.
[[nodiscard]] std::uint16_t internet_checksum(std::span<const std::uint8_t> bytes);

}  // namespace bulkhead::probes
