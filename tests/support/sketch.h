// A site in a few lines, for tests of what comes after the matrix: one enforcer "fw", classes on
// its legs, cells said directly. No parser is involved, so that a fault there does not show here.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/site.h"

namespace bulkhead::test {

// "10.1.0.0/24", "10.1.0.1-10.1.0.9", "fd00::1"
[[nodiscard]] AddressRange range(std::string_view text);

// Terms of a service: tcp(22), udp(6800, 7300), icmp("echo"), ip(112, "224.0.0.18"), roce(), dhcp()
[[nodiscard]] policy::Piece tcp(std::uint16_t first, std::uint16_t last = 0);
[[nodiscard]] policy::Piece udp(std::uint16_t first, std::uint16_t last = 0);
[[nodiscard]] policy::Piece icmp(std::string_view query);
[[nodiscard]] policy::Piece ip(std::uint8_t protocol, std::string_view group = {});
[[nodiscard]] policy::Piece roce();
[[nodiscard]] policy::Piece dhcp();

class Sketch {
 public:
  Sketch& leg(const std::string& interface, std::initializer_list<std::string_view> addresses,
              const std::string& vrf = {});
  Sketch& members(std::vector<std::string> names);
  Sketch& cls(const std::string& name, const std::string& leg,
              std::initializer_list<std::string_view> addresses);
  Sketch& allow(const std::string& rule, const std::string& from, const std::string& to,
                std::initializer_list<policy::Piece> pieces);
  Sketch& deny(const std::string& rule, const std::string& from, const std::string& to,
               std::initializer_list<policy::Piece> pieces);
  Sketch& inside_open(const std::string& from, const std::string& to);
  [[nodiscard]] compiler::Site site() const;
  [[nodiscard]] std::string nft() const;  // the ruleset of "fw"

 private:
  Sketch& say(policy::Action action, const std::string& rule, const std::string& from,
              const std::string& to, std::initializer_list<policy::Piece> pieces);
  struct Leg {
    std::string interface, vrf;
    std::vector<InterfaceAddress> addresses;
  };
  std::vector<Leg> legs_;
  std::vector<std::string> members_{"fw"};
  std::map<std::string, std::pair<std::string, AddressSet>> classes_;  // leg, addresses
  std::map<std::pair<std::string, std::string>, policy::Cell> cells_;
};

}  // namespace bulkhead::test
