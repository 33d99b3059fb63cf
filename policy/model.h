// The intent as its authors wrote it: values of policy.toml and its includes, names not yet
// resolved to hosts. parse.h makes it, validate.h checks it, matrix.h derives what it means.
// docs/policy-language.md is the reference of each key.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/date.h"
#include "policy/support/address.h"
#include "policy/support/source.h"
#include "policy/traffic.h"

namespace bulkhead::policy {

// A name with the place where it was written.
struct Name {
  std::string text;
  SourcePos at;
};

struct Tenant {
  std::string name;
  std::string owner;
  SourcePos at;
};

struct VrfLeak {
  Name vrf;                      // whose prefixes become reachable from the VRF that says this
  std::vector<Prefix> prefixes;  // empty: all of that VRF's segments
  SourcePos at;
};
struct Vrf {
  std::string name;
  std::uint32_t table = 0;
  std::optional<std::uint32_t> vni;
  std::vector<VrfLeak> leaks;
  SourcePos at;
};

enum class Inside { Open, Isolated };

struct Segment {
  std::string name;
  Name tenant;
  std::optional<std::uint16_t> vlan;   // 1..4094
  std::optional<Name> vrf;             // none: the main table ("default")
  std::optional<Name> ib_partition;    // an IPoIB segment: instead of a VLAN
  std::vector<Prefix> prefixes;        // both families, as written
  std::vector<SourcePos> prefixes_at;  // of each
  std::optional<Name> gateway;         // an enforcer of the inventory; none: no router on it
  std::optional<Name> behind;          // LABEL, SEGMENT.LABEL or host: reached through these hosts
  std::optional<Inside> inside;        // must be said; validate reports a missing one
  std::optional<Name> isolated_by;
  SourcePos at;
};

struct External {
  std::string name;
  std::vector<Prefix> prefixes;
  bool rest_v4 = false;  // everything that no segment and no other external holds
  bool rest_v6 = false;
  SourcePos at;
};

struct IbPartition {
  std::string name;
  Name tenant;
  std::optional<std::uint16_t> pkey;  // 15 bits, 0x0001..0x7ffe
  SourcePos at;
};

struct Service {
  std::string name;
  std::vector<Traffic> terms;  // normal form: one term per key, sorted
  std::string authority;       // tenant whose include defined it; empty: the root file
  SourcePos at;
};

// SEGMENT, SEGMENT.LABEL, PARTITION, PARTITION.LABEL, tenant:NAME, tenant:*, enforcer:NAME,
// external:NAME, any
struct Selector {
  enum class What { Segment, Partition, Tenant, AnyTenant, Enforcer, External, Any, Unresolved };
  What what = What::Unresolved;
  std::string name;  // segment, partition, tenant, enforcer or external; empty for any and tenant:*
  std::string label;  // Segment and Partition only; empty: all of it
  SourcePos at;
  [[nodiscard]] std::string str() const;  // as the user writes it
};

enum class Action { Allow, Deny };

struct Flow {
  std::string id;  // unique in the site; travels to nft comments, evidence and reports
  std::vector<Selector> from;
  std::vector<Selector> to;  // an empty list is nobody
  std::vector<Name> services;
  Action action = Action::Allow;
  bool both_ways = false;
  std::string why;
  std::string owner;
  std::string ticket;
  std::optional<Date> expires;  // last day on which it is in force
  SourcePos expires_at;         // where that day is written
  std::string authority;        // tenant whose include wrote it; empty: the root file
  SourcePos at;
};

// Consent of one side to flows that another tenant's file may write.
struct Offer {
  std::vector<Selector> from;
  std::vector<Selector> to;
  std::vector<Name> services;
  std::string authority;
  SourcePos at;
};

// An assertion: an allow that crosses it is an error. Emits nothing.
struct Never {
  struct Except {
    bool same_tenant = false;  // the word "same-tenant"
    Selector selector;         // else: a pair with this on either side is excepted
  };
  std::string id;
  std::vector<Selector> from;
  std::vector<Selector> to;
  std::vector<Name> services;  // empty: every service
  std::vector<Except> except;
  std::string why;
  SourcePos at;
};

// A file given to a tenant: what it may define and name is bounded by that tenant.
struct Include {
  std::string file;
  Name tenant;
  SourcePos at;
};

struct Policy {
  std::string name;
  std::vector<Include> includes;
  std::map<std::string, Tenant> tenants;
  std::map<std::string, Vrf> vrfs;
  std::map<std::string, Segment> segments;
  std::map<std::string, External> externals;
  std::map<std::string, IbPartition> partitions;
  std::map<std::string, Service> services;
  std::vector<Flow> flows;  // in order of files and lines; order never changes a verdict
  std::vector<Offer> offers;
  std::vector<Never> nevers;
};

}  // namespace bulkhead::policy
