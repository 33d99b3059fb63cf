#include "compiler/probe_tags.h"

#include "compiler/probe_bridges.h"
#include "compiler/probe_forgeries.h"
#include "compiler/probe_plan.h"

namespace bulkhead::compiler {

std::set<std::string> probe_tags(const Site& site) {
  std::set<std::string> tags{std::string(policy::kRuleDefault), std::string(policy::kRuleInside),
                             std::string(kRuleSpoofed), std::string(kRuleBridged), "forwards"};
  for (const Transport transport :
       {Transport::Tcp, Transport::Udp, Transport::Icmp, Transport::Raw})
    tags.emplace(to_string(transport));
  for (const Expect expect : {Expect::Allow, Expect::Deny})
    tags.emplace(to_string(expect));
  for (const Family family : kFamilies)
    tags.emplace(to_string(family));
  for (const policy::Class& cls : site.matrix.universe.classes)
    tags.insert({cls.name, cls.place, cls.tenant});
  for (const policy::Flow& flow : site.policy.flows)
    tags.insert(flow.id);
  tags.erase("");  // of classes without a tenant
  return tags;
}

}  // namespace bulkhead::compiler
