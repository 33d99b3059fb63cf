// Single values of the inventory: text -> typed value, or a diagnostic at the text's place. Shared
// by the tables of inventory.toml and the rows of the CSV files it names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/model.h"
#include "policy/parse.h"
#include "policy/support/address.h"
#include "policy/support/diagnostic.h"
#include "policy/support/source.h"

namespace bulkhead::compiler {

// Where the files of one inventory come from and where its mistakes go.
struct InventorySource {
  const policy::FileReader& read;
  const std::string& display_prefix;
  SourceMap& sources;
  Diagnostics& diagnostics;
};

using Mac = std::array<std::uint8_t, 6>;

// An address that a host can have: unicast, not loopback, not unspecified.
[[nodiscard]] std::optional<Address> address_field(const policy::Name& text, Family family,
                                                   Diagnostics& diagnostics);
[[nodiscard]] std::optional<InterfaceAddress> leg_address_field(const policy::Name& text,
                                                                Family family,
                                                                Diagnostics& diagnostics);
[[nodiscard]] std::optional<Mac> mac_field(const policy::Name& text, Diagnostics& diagnostics);
// Sixteen hex digits after 0x, as OpenSM wants it: without 0x it reads decimal, and a node's GUID
// or an all-zero one silently matches no port. Empty after a mistake.
[[nodiscard]] std::string guid_field(const policy::Name& text, Diagnostics& diagnostics);
// Names of interfaces: 1 to 15 bytes that the kernel and nft take as they stand.
bool check_interface_name(const policy::Name& name, Diagnostics& diagnostics);
// Names of hosts, members and labels. `what`: "host", "label".
bool check_name(std::string_view what, const policy::Name& name, Diagnostics& diagnostics);
[[nodiscard]] std::vector<std::string> sorted_labels(const std::vector<policy::Name>& labels,
                                                     Diagnostics& diagnostics);

// One value of a hostlist table for each of `count` hosts: "10.1.0.[11-18]" names as many as there
// are hosts, a value without brackets (or with one name) is the same for all. Empty after a
// mistake.
[[nodiscard]] std::vector<policy::Name> spread(const policy::Name& value, std::size_t count,
                                               Diagnostics& diagnostics);

}  // namespace bulkhead::compiler
