// Sites written in a test: texts in, a loaded Site out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/site.h"
#include "policy/date.h"

namespace bulkhead {

inline const policy::Date kToday = *policy::parse_date("2026-12-01");

// Two tenants, each with a VRF and a segment of the same prefix.
inline constexpr const char* kTwoVrfsOfOnePrefix = R"(name = "n"
[tenant.a]
[tenant.b]
[vrf.a]
table = 1
[vrf.b]
table = 2
[segment.a]
tenant = "a"
vlan = 1
vrf = "a"
v4 = "10.0.0.0/24"
gateway = "fw"
inside = "open"
[segment.b]
tenant = "b"
vlan = 2
vrf = "b"
v4 = "10.0.0.0/24"
gateway = "fw"
inside = "open"
)";

inline compiler::Site site_of(std::string policy, std::string inventory,
                              std::map<std::string, std::string> more = {}) {
  more["policy.toml"] = std::move(policy);
  more["inventory.toml"] = std::move(inventory);
  return compiler::load_site(policy::memory_reader(std::move(more)), kToday);
}

// "error duplicate-address inventory.toml:7", in the order shown to the user.
inline std::vector<std::string> findings(const compiler::Site& site) {
  std::vector<std::string> out;
  for (const Diagnostic& item : site.diagnostics.all()) {
    if (item.code.starts_with("unused-"))  // sites of tests share their services
      continue;
    std::string place = site.sources.place(item.at);
    place = place.substr(0, place.rfind(':'));
    out.push_back((item.severity == Severity::Error ? "error " : "warning ") + item.code + " " +
                  place);
  }
  return out;
}

inline std::string rendered(const compiler::Site& site) {
  return render(site.diagnostics, site.sources, false);
}

inline policy::ClassId id(const compiler::Site& site, std::string_view name) {
  return site.matrix.universe.id_of(name).value();
}

inline const compiler::CellCoverage& covered(const compiler::Site& site, std::string_view from,
                                             std::string_view to) {
  return site.coverage.at(id(site, from), id(site, to));
}

}  // namespace bulkhead
