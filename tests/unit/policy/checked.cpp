#include "tests/unit/policy/checked.h"

#include <algorithm>

namespace bulkhead::policy {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == separator)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

Class make_class(const std::string& name, const Policy& policy) {
  Class cls;
  cls.name = name;
  const std::size_t dot = name.find('.');
  cls.place = name.substr(0, dot);
  if (dot != std::string::npos)
    cls.labels = split(name.substr(dot + 1), '+');
  if (const auto segment = policy.segments.find(cls.place); segment != policy.segments.end()) {
    cls.kind = segment->second.behind ? ClassKind::Behind : ClassKind::Endpoint;
    cls.tenant = segment->second.tenant.text;
    for (const Prefix& prefix : segment->second.prefixes)
      cls.addresses.add(prefix.range());
  } else if (const auto found = policy.partitions.find(cls.place);
             found != policy.partitions.end()) {
    cls.kind = ClassKind::Partition;
    cls.tenant = found->second.tenant.text;
  }
  return cls;
}

Universe make(const Policy& policy, const std::vector<std::string>& names) {
  Universe universe;
  universe.enforcers = {"fw"};
  for (const std::string& name : names) {
    universe.classes.push_back(make_class(name, policy));
    for (const std::string& label : universe.classes.back().labels)
      universe.known_labels.push_back(label);
  }
  Class fw;
  fw.name = "enforcer:fw";
  fw.kind = ClassKind::Enforcer;
  fw.place = "fw";
  fw.addresses.add(Prefix::parse("10.254.0.1/32")->range());
  universe.classes.push_back(fw);
  for (const auto& [name, external] : policy.externals) {
    Class cls;
    cls.name = "external:" + name;
    cls.kind = ClassKind::External;
    cls.place = name;
    if (external.rest_v4)
      cls.addresses.add(whole(Family::V4));
    if (external.rest_v6)
      cls.addresses.add(whole(Family::V6));
    for (const Prefix& prefix : external.prefixes)
      cls.addresses.add(prefix.range());
    universe.classes.push_back(cls);
  }
  std::sort(universe.classes.begin(), universe.classes.end(),
            [](const Class& a, const Class& b) { return a.name < b.name; });
  return universe;
}

void set_unused_apart(Checked& checked) {
  Diagnostics kept;
  for (const Diagnostic& item : checked.diagnostics.all()) {
    if (item.code.starts_with("unused-") || item.code == "repeated-flow") {
      checked.unused.push_back(item);
      continue;
    }
    const auto add = item.severity == Severity::Error     ? &Diagnostics::error
                     : item.severity == Severity::Warning ? &Diagnostics::warning
                                                          : &Diagnostics::note;
    (kept.*add)(item.code, item.at, item.message, item.hint).related = item.related;
  }
  checked.diagnostics = std::move(kept);
}

}  // namespace

std::vector<std::string> Checked::codes() const {
  std::vector<std::string> out;
  for (const Diagnostic& item : diagnostics.all())
    out.push_back(item.code);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> Checked::places() const {
  std::vector<std::string> out;
  for (const Diagnostic& item : diagnostics.all())
    out.push_back(sources.place(item.at) + " " + item.code);
  return out;
}

std::string Checked::rendered() const {
  return render(diagnostics, sources, false);
}

Checked check(std::map<std::string, std::string> files, const std::vector<std::string>& classes,
              Date as_of) {
  Checked out;
  out.policy = parse_policy(memory_reader(std::move(files)), "", out.sources, out.diagnostics);
  validate_names(out.policy, {{"fw", "mgmt-sw"}}, out.diagnostics);
  out.universe = make(out.policy, classes);
  validate_flows(out.policy, out.universe, as_of, out.diagnostics);
  set_unused_apart(out);
  out.diagnostics.sort();
  return out;
}

const char* const kBasePolicy = R"(name = "base"
[tenant.red]
[tenant.blue]
[tenant.stor]
[vrf.red]
table = 101
[segment.red-a]
tenant = "red"
vrf = "red"
v4 = "10.1.0.0/24"
v6 = "fd00:1::/64"
gateway = "fw"
inside = "open"
[segment.blue-a]
tenant = "blue"
v4 = "10.2.0.0/24"
v6 = "fd00:2::/64"
gateway = "fw"
inside = "open"
[segment.nfs]
tenant = "stor"
v4 = "10.3.0.0/24"
gateway = "fw"
inside = "open"
[segment.only6]
tenant = "stor"
v6 = "fd00:3::/64"
gateway = "fw"
inside = "open"
[external.world]
v4 = "rest"
v6 = "rest"
[ib_partition.red-ib]
tenant = "red"
[ib_partition.stor-ib]
tenant = "stor"
[service.ssh]
tcp = 22
[service.web]
tcp = [80, 443]
[service.dns]
tcp = 53
udp = 53
[service.ping]
icmp = "echo"
[service.verbs]
ib = true
)";

const std::vector<std::string> kBaseClasses = {"red-a.web", "red-a.db",   "blue-a", "nfs.server",
                                               "only6",     "red-ib.web", "stor-ib"};

Checked check_base(const std::string& added) {
  return check({{"policy.toml", kBasePolicy + added}}, kBaseClasses);
}

}  // namespace bulkhead::policy
