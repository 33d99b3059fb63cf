#include "compiler/inventory_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "policy/identifier.h"
#include "policy/support/hostlist.h"
#include "policy/support/text.h"

namespace bulkhead::compiler {

using policy::Name;

std::optional<Address> address_field(const Name& text, Family family, Diagnostics& diagnostics) {
  const auto address = Address::parse(text.text);
  if (!address || address->family != family) {
    diagnostics.error(
        "bad-address", text.at,
        fmt::format("{} is not an IP{} address", in_backticks(text.text), to_string(family)),
        text.text.find('/') == std::string::npos
            ? ""
            : "a NIC's address has no prefix length: its segment has the prefixes");
    return std::nullopt;
  }
  if (address->is_multicast() || address->is_loopback() || address->is_unspecified()) {
    diagnostics.error("bad-address", text.at,
                      fmt::format("{} cannot be a host's own address", address->str()));
    return std::nullopt;
  }
  return address;
}

std::optional<InterfaceAddress> leg_address_field(const Name& text, Family family,
                                                  Diagnostics& diagnostics) {
  const auto address = InterfaceAddress::parse(text.text);
  if (!address || address->address.family != family) {
    diagnostics.error("bad-address", text.at,
                      fmt::format("{} is not an IP{} address with a prefix length",
                                  in_backticks(text.text), to_string(family)),
                      family == Family::V4 ? "write it as 10.1.0.1/22" : "write it as fd00::1/64");
    return std::nullopt;
  }
  return address;
}

std::optional<Mac> mac_field(const Name& text, Diagnostics& diagnostics) {
  Mac mac{};
  const char* next = text.text.data();
  const char* const end = next + text.text.size();
  bool good = text.text.size() == 17;
  for (std::size_t i = 0; good && i < mac.size(); ++i) {
    const auto [after, error] = std::from_chars(next, next + 2, mac[i], 16);
    good = error == std::errc() && after == next + 2 && (i + 1 == mac.size() || *after == ':');
    next += i + 1 == mac.size() ? 2 : 3;
  }
  if (good && next == end)
    return mac;
  diagnostics.error("bad-mac", text.at, in_backticks(text.text) + " is not a MAC address",
                    "write it as 02:00:5e:10:00:01");
  return std::nullopt;
}

std::string guid_field(const Name& text, Diagnostics& diagnostics) {
  std::uint64_t value = 0;
  const std::string_view digits =
      std::string_view(text.text).substr(std::min<std::size_t>(2, text.text.size()));
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (!text.text.starts_with("0x") || error != std::errc() ||
      end != digits.data() + digits.size()) {
    diagnostics.error("bad-guid", text.at, in_backticks(text.text) + " is not a port GUID",
                      "write it as 0x0002c90300a1b2c3");
    return {};
  }
  if (value == 0) {
    diagnostics.error("bad-guid", text.at, "an all-zero port GUID belongs to no port");
    return {};
  }
  return fmt::format("0x{:016x}", value);
}

bool check_interface_name(const Name& name, Diagnostics& diagnostics) {
  constexpr std::size_t kLongest = 15;  // IFNAMSIZ - 1
  if (name.text.size() > kLongest) {
    diagnostics.error("interface-name", name.at,
                      fmt::format("interface name {} has {} characters, the kernel takes {}",
                                  in_backticks(name.text), name.text.size(), kLongest));
    return false;
  }
  if (name.text.ends_with('*')) {
    diagnostics.error("interface-name", name.at,
                      in_backticks(name.text) + " is no interface but nft's word for many",
                      "name each interface, every one a leg of its own");
    return false;
  }
  // `lo` is trusted by every ruleset; `all` and `default` are the kernel's words for every
  // interface (net.ipv4.conf.all), so that no interface can be called so.
  constexpr std::string_view kTaken[] = {"lo", "all", "default"};
  if (std::find(std::begin(kTaken), std::end(kTaken), name.text) != std::end(kTaken)) {
    diagnostics.error("interface-name", name.at,
                      in_backticks(name.text) + " means something else to the kernel",
                      "`lo` is the loopback interface, `all` and `default` are every interface");
    return false;
  }
  const bool plain = !name.text.empty() && name.text != "." && name.text != ".." &&
                     std::all_of(name.text.begin(), name.text.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
                     });
  if (!plain)
    diagnostics.error("interface-name", name.at,
                      in_backticks(name.text) + " is not an interface name",
                      "letters, digits, `.`, `-` and `_`");
  return plain;
}

bool check_name(std::string_view what, const Name& name, Diagnostics& diagnostics) {
  if (!policy::is_good_name(name.text)) {
    diagnostics.error("bad-name", name.at,
                      fmt::format("{} is not a name for a {}", in_backticks(name.text), what),
                      "at most 63 letters, digits, `-` and `_`, a letter or digit first");
    return false;
  }
  if (policy::is_reserved_name(name.text)) {
    diagnostics.error(
        "reserved-name", name.at,
        fmt::format("{} means something else and cannot name a {}", in_backticks(name.text), what));
    return false;
  }
  return true;
}

std::vector<std::string> sorted_labels(const std::vector<Name>& labels, Diagnostics& diagnostics) {
  std::vector<std::string> out;
  for (const Name& label : labels)
    if (check_name("label", label, diagnostics))
      out.push_back(label.text);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<Name> spread(const Name& value, std::size_t count, Diagnostics& diagnostics) {
  auto names = expand_hostlist(value.text);
  if (!names) {
    diagnostics.error("bad-hostlist", value.at, names.error().message);
    return {};
  }
  if (names->size() != 1 && names->size() != count) {
    diagnostics.error("hostlist-count", value.at,
                      fmt::format("{} gives {} values for {} host{}", in_backticks(value.text),
                                  names->size(), count, count == 1 ? "" : "s"),
                      "give one value, or as many as the table's name has hosts");
    return {};
  }
  names->resize(count, names->front());
  std::vector<Name> out;
  out.reserve(count);
  for (std::string& name : *names)
    out.push_back({std::move(name), value.at});
  return out;
}

}  // namespace bulkhead::compiler
