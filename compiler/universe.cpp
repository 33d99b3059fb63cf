#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/inventory.h"

namespace bulkhead::compiler {
namespace {

using policy::Class;
using policy::ClassKind;

std::string class_name(const std::string& place, const std::vector<std::string>& labels) {
  std::string name = place;
  char separator = '.';
  for (const std::string& label : labels) {
    name += separator + label;
    separator = '+';
  }
  return name;
}

std::string spare_class(const std::string& segment) {
  return segment + "!spare";
}

// Never an endpoint's own address, so no source binding of `rest` may let it in: "this network",
// loopback, link-local, multicast, reserved (RFC 6890), IPv4-mapped.
constexpr std::string_view kNobodys[] = {"0.0.0.0/8",   "127.0.0.0/8", "169.254.0.0/16",
                                         "224.0.0.0/4", "240.0.0.0/4", "::/127",
                                         "fe80::/10",   "ff00::/8",    "::ffff:0:0/96"};

class UniverseMaker {
 public:
  UniverseMaker(const policy::Policy& policy, const Inventory& inventory)
      : policy_(policy), inventory_(inventory) {}

  policy::Universe make() {
    for (const auto& [name, enforcer] : inventory_.enforcers)
      add_enforcer(enforcer);
    for (const auto& [name, segment] : policy_.segments)
      if (segment.behind)
        add_behind(segment);
    for (const auto& [name, host] : inventory_.hosts)
      for (const Nic& nic : host.nics)
        add_nic(host, nic);
    for (const auto& [name, external] : policy_.externals)
      add_external(external);

    policy::Universe universe;
    for (auto& [name, cls] : classes_) {
      cls.addresses = AddressSet::from(std::move(ranges_[name]));
      if (cls.kind == ClassKind::External || cls.kind == ClassKind::Behind)
        cls.addresses = cls.addresses - enforcers_own_;
      if (cls.kind == ClassKind::Behind)
        cls.addresses = cls.addresses - AddressSet::from(ranges_[spare_class(name)]);
      universe.classes.push_back(std::move(cls));
    }
    std::set<std::string> labels;
    for (const auto& [name, host] : inventory_.hosts)
      labels.insert(host.labels.begin(), host.labels.end());
    universe.known_labels.assign(labels.begin(), labels.end());
    for (const auto& [name, enforcer] : inventory_.enforcers)
      universe.enforcers.push_back(name);
    return universe;
  }

 private:
  Class& class_of(const std::string& name, ClassKind kind, const std::string& place) {
    Class& cls = classes_[name];
    cls.name = name;
    cls.kind = kind;
    cls.place = place;
    return cls;
  }

  void add_enforcer(const Enforcer& enforcer) {
    const std::string name = "enforcer:" + enforcer.name;
    std::vector<AddressRange> own;
    for (const Leg& leg : enforcer.legs)
      for (const auto& address : {leg.v4, leg.v6})
        if (address)
          own.push_back({address->address, address->address});
    if (own.empty())
      return;
    class_of(name, ClassKind::Enforcer, enforcer.name).has_peers = enforcer.members.size() > 1;
    enforcers_own_ = enforcers_own_ | AddressSet::from(own);
    ranges_[name] = std::move(own);
  }

  void add_behind(const policy::Segment& segment) {
    Class& cls = class_of(segment.name, ClassKind::Behind, segment.name);
    cls.tenant = segment.tenant.text;
    cls.vrf = segment.vrf ? segment.vrf->text : "";
    for (const Prefix& prefix : segment.prefixes)
      ranges_[segment.name].push_back(prefix.range());
  }

  void add_nic(const Host& host, const Nic& nic) {
    const auto found = policy_.segments.find(nic.segment.text);
    if (found == policy_.segments.end())
      return;  // validate_inventory says so
    if (found->second.behind && !host.spare)
      return;  // its class has the whole prefix
    const policy::Segment& segment = found->second;
    const std::vector<std::string>& labels = labels_of(host);
    std::string name = host.spare ? spare_class(segment.name) : class_name(segment.name, labels);
    Class& cls = class_of(name, host.spare ? ClassKind::Spare : ClassKind::Endpoint, segment.name);
    cls.tenant = host.spare ? "" : segment.tenant.text;
    cls.vrf = segment.vrf ? segment.vrf->text : "";
    cls.labels = host.spare ? std::vector<std::string>{} : labels;
    for (const auto* addresses : {&nic.v4, &nic.v6})
      for (const Address& address : *addresses)
        ranges_[name].push_back({address, address});
    if (segment.ib_partition && !host.spare)
      add_port(segment.ib_partition->text, labels);
  }

  void add_port(const std::string& partition, const std::vector<std::string>& labels) {
    const auto found = policy_.partitions.find(partition);
    if (found == policy_.partitions.end())
      return;
    Class& cls = class_of(class_name(partition, labels), ClassKind::Partition, partition);
    cls.tenant = found->second.tenant.text;
    cls.labels = labels;
  }

  void add_external(const policy::External& external) {
    const std::string name = "external:" + external.name;
    class_of(name, ClassKind::External, external.name);
    std::vector<AddressRange>& ranges = ranges_[name];
    for (const Prefix& prefix : external.prefixes)
      ranges.push_back(prefix.range());
    for (const Family family : kFamilies) {
      if (!(family == Family::V4 ? external.rest_v4 : external.rest_v6))
        continue;
      const AddressSet rest = AddressSet{whole(family)} - named();
      ranges.insert(ranges.end(), rest.begin(), rest.end());
    }
  }

  // Everything that a segment or an external names, and what is nobody's.
  const AddressSet& named() {
    if (!named_.empty())
      return named_;
    std::vector<AddressRange> ranges;
    for (const std::string_view text : kNobodys)
      ranges.push_back(Prefix::parse(text)->range());
    for (const auto& [name, segment] : policy_.segments)
      for (const Prefix& prefix : segment.prefixes)
        ranges.push_back(prefix.range());
    for (const auto& [name, external] : policy_.externals)
      for (const Prefix& prefix : external.prefixes)
        ranges.push_back(prefix.range());
    named_ = AddressSet::from(std::move(ranges));
    return named_;
  }

  // A stand-in is probed in the place of another host, so it is of that host's class.
  const std::vector<std::string>& labels_of(const Host& host) const {
    const auto real = inventory_.hosts.find(host.stand_in);
    const bool borrows = host.labels.empty() && real != inventory_.hosts.end();
    return borrows ? real->second.labels : host.labels;
  }

  const policy::Policy& policy_;
  const Inventory& inventory_;
  std::map<std::string, Class> classes_;
  std::map<std::string, std::vector<AddressRange>> ranges_;
  AddressSet enforcers_own_;
  AddressSet named_;
};

}  // namespace

policy::Universe make_universe(const policy::Policy& policy, const Inventory& inventory) {
  return UniverseMaker(policy, inventory).make();
}

}  // namespace bulkhead::compiler
