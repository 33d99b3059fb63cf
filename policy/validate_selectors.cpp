// Names in flows, offers and nevers: what they mean, and whether their file may use them.
#include <algorithm>

#include <fmt/format.h>

#include "policy/support/text.h"
#include "policy/validate_parts.h"

namespace bulkhead::policy {

namespace {

using What = Selector::What;

class Resolver {
 public:
  Resolver(const Policy& policy, const InventoryNames& inventory, Diagnostics& diagnostics)
      : tenants_(names_of(policy.tenants)),
        externals_(names_of(policy.externals)),
        segments_(names_of(policy.segments)),
        partitions_(names_of(policy.partitions)),
        enforcers_(inventory.enforcers.begin(), inventory.enforcers.end()),
        segment_of_host_(inventory.segment_of_host),
        diagnostics_(diagnostics) {
    std::sort(enforcers_.begin(), enforcers_.end());
  }

  void resolve(std::vector<Selector>& selectors) {
    for (Selector& selector : selectors)
      resolve(selector);
  }

  void resolve(Selector& selector) {
    switch (selector.what) {
      case What::Any:
      case What::AnyTenant:
        return;
      case What::Tenant:
        return must_be_among(tenants_, "tenant", selector);
      case What::Enforcer:
        return must_be_among(enforcers_, "enforcer", selector);
      case What::External:
        return must_be_among(externals_, "external", selector);
      case What::Segment:
      case What::Partition:
      case What::Unresolved:
        return resolve_place(selector);
    }
  }

 private:
  using Names = std::vector<std::string_view>;  // sorted

  static bool holds(const Names& names, std::string_view name) {
    return std::binary_search(names.begin(), names.end(), name);
  }
  void must_be_among(const Names& names, std::string_view kind, Selector& selector) {
    if (holds(names, selector.name))
      return;
    selector.what = What::Unresolved;  // selects nobody, so that no warning follows
    diagnostics_.error("unknown-name", selector.at,
                       fmt::format("there is no {} {}", kind, in_backticks(selector.name)),
                       did_you_mean(selector.name, names));
  }
  void resolve_place(Selector& selector) {
    if (holds(segments_, selector.name)) {
      selector.what = What::Segment;
    } else if (holds(partitions_, selector.name)) {
      selector.what = What::Partition;
    } else {
      diagnostics_.error(
          "unknown-name", selector.at,
          fmt::format("there is no segment or partition {}", in_backticks(selector.name)),
          hint_for(selector.name));
    }
  }
  [[nodiscard]] std::string hint_for(const std::string& name) const {
    const std::pair<const Names*, std::string_view> others[] = {
        {&tenants_, "tenant"}, {&externals_, "external"}, {&enforcers_, "enforcer"}};
    for (const auto& [names, kind] : others) {
      if (holds(*names, name))
        return fmt::format("`{0}:{1}` is the {0} of that name", kind, name);
    }
    if (const auto host = segment_of_host_.find(name); host != segment_of_host_.end())
      return fmt::format(
          "a flow names segments, not hosts: that host sits in `{0}`; give it a label in the "
          "inventory and write `{0}.LABEL` if it is meant alone",
          host->second);
    Names places = segments_;
    places.insert(places.end(), partitions_.begin(), partitions_.end());
    return did_you_mean(name, places);
  }

  Names tenants_, externals_, segments_, partitions_, enforcers_;
  const std::map<std::string, std::string>& segment_of_host_;
  Diagnostics& diagnostics_;
};

std::string hint_for_service(const std::string& text, const Policy& policy) {
  if (text == "any")
    return "`any` is everybody, never every service: name the services";
  std::string hint = did_you_mean(text, names_of(policy.services));
  // "tcp/22", "22", "udp:53": a port where a name is wanted.
  if (hint.empty() && text.find_first_of("0123456789") != std::string::npos)
    hint = "services have names: define one, [service.NAME] with tcp = [PORT], and write NAME here";
  return hint;
}

// A service that a tenant's file defines may be used by that file alone: whoever else named it
// would let the tenant widen what they said.
void check_services(const std::vector<Name>& services, const std::string& authority,
                    const Policy& policy, Diagnostics& diagnostics) {
  for (const Name& name : services) {
    const auto service = policy.services.find(name.text);
    if (service == policy.services.end()) {
      diagnostics.error("unknown-name", name.at,
                        fmt::format("there is no service {}", in_backticks(name.text)),
                        hint_for_service(name.text, policy));
      continue;
    }
    const std::string& owner = service->second.authority;
    if (!owner.empty() && owner != authority)
      diagnostics
          .error("not-yours", name.at,
                 fmt::format("service {} belongs to the file of tenant {}", in_backticks(name.text),
                             in_backticks(owner)),
                 "define it in policy.toml to share it")
          .related.push_back({service->second.at, "defined here"});
  }
}

bool is_own(const Selector& selector, const std::string& tenant, const Policy& policy) {
  switch (selector.what) {
    case What::Tenant:
      return selector.name == tenant;
    case What::Segment: {
      const auto segment = policy.segments.find(selector.name);
      return segment != policy.segments.end() && segment->second.tenant.text == tenant;
    }
    case What::Partition: {
      const auto partition = policy.partitions.find(selector.name);
      return partition != policy.partitions.end() && partition->second.tenant.text == tenant;
    }
    case What::Unresolved:
      return true;  // has been reported
    case What::AnyTenant:
    case What::Enforcer:
    case What::External:
    case What::Any:
      break;
  }
  return false;
}

const Selector* first_foreign(const std::vector<Selector>& selectors, const std::string& tenant,
                              const Policy& policy) {
  const auto found =
      std::find_if(selectors.begin(), selectors.end(),
                   [&](const Selector& selector) { return !is_own(selector, tenant, policy); });
  return found == selectors.end() ? nullptr : &*found;
}

SourcePos include_of(const Policy& policy, const std::string& tenant) {
  for (const Include& include : policy.includes) {
    if (include.tenant.text == tenant)
      return include.at;
  }
  return {};
}

template <class Rule>
void check_rule(const Rule& rule, const Policy& policy, Diagnostics& diagnostics) {
  if (rule.authority.empty())
    return;
  const Selector* source = first_foreign(rule.from, rule.authority, policy);
  const Selector* destination = first_foreign(rule.to, rule.authority, policy);
  if (!source || !destination)
    return;
  diagnostics
      .error("not-yours", source->at,
             fmt::format("neither {} nor {} is tenant {}'s own", in_backticks(source->str()),
                         in_backticks(destination->str()), in_backticks(rule.authority)),
             "one side must be wholly its own; what concerns others belongs in policy.toml")
      .related.push_back({include_of(policy, rule.authority), "the file is given to it here"});
}

}  // namespace

void resolve_selectors(Policy& policy, const InventoryNames& inventory, Diagnostics& diagnostics) {
  Resolver resolver(policy, inventory, diagnostics);
  for (Flow& flow : policy.flows) {
    resolver.resolve(flow.from);
    resolver.resolve(flow.to);
  }
  for (Offer& offer : policy.offers) {
    resolver.resolve(offer.from);
    resolver.resolve(offer.to);
  }
  for (Never& never : policy.nevers) {
    resolver.resolve(never.from);
    resolver.resolve(never.to);
    for (Never::Except& except : never.except) {
      if (!except.same_tenant)
        resolver.resolve(except.selector);
    }
  }
}

void check_service_names(const Policy& policy, Diagnostics& diagnostics) {
  for (const Flow& flow : policy.flows)
    check_services(flow.services, flow.authority, policy, diagnostics);
  for (const Offer& offer : policy.offers)
    check_services(offer.services, offer.authority, policy, diagnostics);
  for (const Never& never : policy.nevers)
    check_services(never.services, {}, policy, diagnostics);
}

void check_authority(const Policy& policy, Diagnostics& diagnostics) {
  for (const Flow& flow : policy.flows)
    check_rule(flow, policy, diagnostics);
  for (const Offer& offer : policy.offers)
    check_rule(offer, policy, diagnostics);
}

}  // namespace bulkhead::policy
