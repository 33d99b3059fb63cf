// The facts: hosts, NICs and addresses, which segment each sits in, enforcers with members and
// legs. Facts come from inventory.toml and the CSV files it names; intent never does.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/class.h"
#include "policy/model.h"
#include "policy/parse.h"
#include "policy/support/diagnostic.h"

namespace bulkhead::compiler {

using policy::Date;
using policy::Name;

enum class EnforcerKind { Router, Bridge, Switch, Ib };
enum class Manage {
  Bulkhead,  // we compile for it, load it (in the lab) and trace it
  Declared,  // we only believe what is said of it
};

struct AcceptSilence {  // an external control whose silence may count
  std::string why;
  std::string owner;
  std::optional<Date> expires;
  SourcePos at;
};

struct Leg {
  std::string interface;         // at most 15 characters
  std::optional<Name> segment;   // directly attached
  std::optional<Name> external;  // towards an outside world
  std::optional<Name> vrf;       // a leg inside a VRF; default: its segment's
  std::vector<Name> behind;      // segments (or globs) reached over this leg
  std::optional<InterfaceAddress> v4, v6;
  SourcePos at;
};

struct Enforcer {
  std::string name;
  EnforcerKind kind = EnforcerKind::Router;
  Manage manage = Manage::Bulkhead;
  std::vector<std::string> members;  // host names of the pair, first is active; default {name}
  std::string sync;
  std::vector<Name> foreign;           // other owners' rulesets, files of the site
  std::vector<std::string> separates;  // of a switch: "vlan", "vrf", "port"
  std::optional<AcceptSilence> accept_silence;
  std::vector<Leg> legs;
  std::string ssh;      // how a member is reached live; default: the member's name
  std::string manager;  // kind ib: "opensm" | "ufm"
  std::vector<std::string> sm;
  std::string m_key_file;
  SourcePos at;
};

struct Nic {
  std::string name;
  Name segment;
  std::vector<Address> v4, v6;
  std::optional<std::array<std::uint8_t, 6>> mac;
  std::string rdma;      // device name, "mlx5_0"
  bool offload = false;  // hardware RDMA: a host firewall does not see it
  std::string port_guid;
  std::string switch_name, switch_port;
  SourcePos at;
};

struct Host {
  std::string name;
  std::vector<std::string> labels;  // sorted
  std::string ssh;                  // default: the host's name
  std::vector<Nic> nics;
  std::optional<bool> forwards;  // must be said where NICs sit in two segments
  bool agentless = false;
  std::string stand_in;  // this host is probed in place of the agentless host named
  bool spare = false;
  std::optional<Name> rdma_netns;  // "exclusive" | "shared", as `rdma system` says; none: unsaid
  std::vector<Name> rdma_nodes;    // of /dev/infiniband, what workloads are given: "uverbs0"
  SourcePos at;
};

struct ProbeSettings {
  std::optional<std::uint32_t> max_pps;
  std::vector<Address> never;
  std::vector<SourcePos> never_at;          // of each
  std::vector<std::uint16_t> canary_ports;  // default below
  std::uint32_t min_coverage = 100;         // percent of cells
};
inline constexpr std::uint16_t kCanaryPorts[] = {7, 4444, 47808};

struct Inventory {
  std::map<std::string, Enforcer> enforcers;
  std::map<std::string, Host> hosts;
  ProbeSettings probe;
};

[[nodiscard]] Inventory parse_inventory(const policy::FileReader& read,
                                        const std::string& display_prefix, SourceMap& sources,
                                        Diagnostics& diagnostics);

// Cross-checks against the policy: segments exist, addresses lie in their segment's prefixes, no
// address twice in a VRF, multi-homed hosts say `forwards`, stand-ins exist, legs match gateways,
// names do not collide.
void validate_inventory(const Inventory& inventory, const policy::Policy& policy,
                        Diagnostics& diagnostics);

// Hosts -> classes. Addresses of `rest` externals are the complement of all segments and other
// externals.
[[nodiscard]] policy::Universe make_universe(const policy::Policy& policy,
                                             const Inventory& inventory);

}  // namespace bulkhead::compiler
