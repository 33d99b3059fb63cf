// What a policy says and nothing asks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checked.h"

namespace bulkhead::policy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kSite = R"(name = "small"
[tenant.red]
[tenant.stor]
[segment.red]
tenant = "red"
v4 = "10.1.0.0/24"
gateway = "fw"
inside = "open"
[segment.nfs]
tenant = "stor"
v4 = "10.3.0.0/24"
gateway = "fw"
inside = "open"
[service.nfs]
tcp = [2049]
[[flow]]
id = "F1"
from = "red"
to = "nfs"
services = ["nfs"]
why = "files"
)";

std::vector<std::string> unused(const std::string& added, const std::string& red = {}) {
  std::map<std::string, std::string> files{{"policy.toml", kSite + added}};
  if (!red.empty()) {
    files["policy.toml"] =
        "include = [{ file = \"red.toml\", tenant = \"red\" }]\n" + files["policy.toml"];
    files["red.toml"] = red;
  }
  const Checked checked = check(std::move(files), {"red", "nfs"}, {});
  EXPECT_THAT(checked.codes(), IsEmpty()) << checked.rendered();
  std::vector<std::string> out;
  for (const Diagnostic& item : checked.unused)
    out.push_back(item.code + ": " + item.message);
  return out;
}

std::string flow(const std::string& id, const std::string& services, const std::string& more = {}) {
  return "[[flow]]\nid = \"" + id + "\"\nfrom = \"red\"\nto = \"nfs\"\nservices = [" + services +
         "]\nwhy = \"x\"\n" + more;
}

TEST(Unused, NothingIsTold) {
  EXPECT_THAT(unused(""), IsEmpty());
}

TEST(Unused, ServicesAndTenants) {
  EXPECT_THAT(
      unused("[service.web]\ntcp = [80]\n"),
      ElementsAre("unused-service: service `web` is not used: no flow, offer or never names "
                  "it"));
  EXPECT_THAT(unused("[tenant.blue]\n"),
              ElementsAre("unused-tenant: tenant `blue` is not used: no segment or partition is "
                          "its"));
}

TEST(Unused, Offers) {
  const std::string offer =
      "[[offer]]\nfrom = \"tenant:red\"\nto = \"nfs\"\nservices = [\"nfs\"]\n";
  EXPECT_THAT(unused(offer), ElementsAre("unused-offer: this offer is not used: no flow of a "
                                         "tenant's file needs it"));
  EXPECT_THAT(unused(offer, flow("R1", "\"nfs\"")),
              ElementsAre("repeated-flow: flow `R1` says again what flow `F1` says"));
}

TEST(Unused, FlowsThatRepeatOthers) {
  EXPECT_THAT(unused(flow("F2", "\"nfs\"")),
              ElementsAre("repeated-flow: flow `F2` says again what flow `F1` says"));
  const std::string web = "[service.web]\ntcp = [80]\n";
  EXPECT_THAT(unused(web + flow("F2", "\"nfs\", \"web\"")), IsEmpty());
  EXPECT_THAT(unused(flow("F2", "\"nfs\"", "both_ways = true\n")), IsEmpty());
}

}  // namespace
}  // namespace bulkhead::policy
