// The data types of nft and the words it lists for their values ("established", "echo-request").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/proof/value.h"

namespace bulkhead::compiler::proof {

enum class ValueType : std::uint8_t {
  Integer,
  Ipv4,
  Ipv6,
  Ether,
  EtherType,
  Protocol,
  Service,
  IcmpType,
  IcmpCode,
  Icmpv6Type,
  Icmpv6Code,
  IgmpType,
  TcpFlag,
  CtState,
  CtStatus,
  CtDirection,
  PacketType,
  NfProto,
  FibType,
  Dscp,
  Ecn,
  InterfaceName,
  InterfaceIndex,  // listed as the interface's name, or as a number where it is gone
  InterfaceGroup,
  InterfaceType,
  ArpOperation,
  Mark,
  Boolean,
  Verdict,
};

// By nft's name of the type: "ipv4_addr". Types that have only numbers are Integer; so are those
// that nobody knows: their words cannot be read then.
[[nodiscard]] ValueType type_named(std::string_view name);

// "established" -> 2; of every type also "5" and "0x5". The words of mark, group and protocol come
// from files of the machine that listed them (/etc/iproute2, /etc/protocols): only those that
// Debian 12 ships are known.
[[nodiscard]] std::optional<Value> read_word(ValueType type, std::string_view word);
// The inverse, for people: "established", "10.0.0.1", "22".
[[nodiscard]] std::string written(ValueType type, Value value);

}  // namespace bulkhead::compiler::proof
