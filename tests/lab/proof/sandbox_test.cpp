// The throw-away namespace that reads a ruleset: what it refuses, and that it never gives less.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "compiler/proof/ruleset_json.h"
#include "enforcement/backends/nft_sandbox.h"
#include "kernel.h"

namespace bulkhead::test {

namespace {

using compiler::proof::parse_ruleset;
using enforcement::list_in_sandbox;

std::string many_elements(std::size_t count) {
  std::string text = "table ip t { set s { type ipv4_addr; elements = { ";
  for (std::size_t i = 0; i < count; ++i)
    text += "10." + std::to_string(i / 65536) + '.' + std::to_string(i / 256 % 256) + '.' +
            std::to_string(i % 256) + ", ";
  return text + "11.0.0.1 }; }\n}\n";
}

class Sandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = Kernel::missing(); !missing.empty())
      GTEST_SKIP() << missing;
  }
};

TEST_F(Sandbox, GivesBackWhatWasLoaded) {
  const auto listing = list_in_sandbox(many_elements(5000), {});
  ASSERT_TRUE(listing) << listing.error().message;
  const auto ruleset = parse_ruleset(listing->json);
  ASSERT_TRUE(ruleset) << ruleset.error().message;
  EXPECT_EQ(ruleset->sets.at(0).elements.size(), 5001U);
}

TEST_F(Sandbox, SaysWhereTheTextIsWrong) {
  const auto listing = list_in_sandbox("table ip t { chain c { bogus } }", {});
  ASSERT_FALSE(listing);
  EXPECT_EQ(listing.error().kind, ErrorKind::Usage);
  EXPECT_NE(listing.error().message.find("ruleset:1:30-30: Error: syntax error"), std::string::npos)
      << listing.error().message;
}

TEST_F(Sandbox, TakesDormantTablesOut) {
  const auto listing = list_in_sandbox(
      "table ip old {\n flags dormant\n chain c {\n"
      "  type filter hook input priority 0; policy drop;\n}\n}\n"
      "table ip now {\nchain c {\n type filter hook input priority 0;\n}\n}\n",
      {});
  ASSERT_TRUE(listing) << listing.error().message;
  EXPECT_EQ(listing->dormant, std::vector<std::string>{"ip old"});
  const auto ruleset = parse_ruleset(listing->json);
  ASSERT_TRUE(ruleset) << ruleset.error().message;
  ASSERT_EQ(ruleset->tables.size(), 1U);
  EXPECT_EQ(ruleset->tables[0].name, "now");
}

// nft 1.0.6 ends its process over this listing; ours stays.
TEST_F(Sandbox, OutlivesAnNftThatAborts) {
  const auto listing =
      list_in_sandbox("table ip t { chain c { iifname { \"a*\", \"b*\" } accept\n}\n}\n", {});
  ASSERT_FALSE(listing);
  EXPECT_NE(listing.error().message.find("nft failed"), std::string::npos)
      << listing.error().message;
}

// What is loaded, not what a text says; with the kernel's own view of each rule.
TEST_F(Sandbox, ListsANamespace) {
  Kernel kernel;
  ASSERT_TRUE(kernel.load("table ip now {\nchain c {\n tcp dport 22 accept\n}\n}\n"));
  const auto listing = enforcement::list_netns("");
  ASSERT_TRUE(listing) << listing.error().message;
  EXPECT_NE(listing->loads.find("ip now c "), std::string::npos) << listing->loads;
  const auto ruleset = parse_ruleset(listing->json);
  ASSERT_TRUE(ruleset) << ruleset.error().message;
  ASSERT_EQ(ruleset->chains.size(), 1U);

  ASSERT_TRUE(
      kernel.load("table ip old {\n flags dormant\n chain c {\n"
                  "  type filter hook input priority 0; policy drop;\n}\n}\n"));
  const auto dormant = enforcement::list_netns("");
  ASSERT_FALSE(dormant);
  EXPECT_NE(dormant.error().message.find("ip old"), std::string::npos) << dormant.error().message;
  EXPECT_FALSE(enforcement::list_netns("/nowhere"));
}

// As a user without rights, in a child: a namespace of users is refused to threads, and the tests'
// own process keeps its rights.
TEST_F(Sandbox, SaysThatAUserNamespaceIsTooSmall) {
  const auto as_nobody = [](std::size_t elements) {
    const pid_t child = ::fork();
    if (child == 0) {
      // Whoever gave up rights may not write its own /proc/self/uid_map until it says so.
      if (::setgid(65534) != 0 || ::setuid(65534) != 0 || ::prctl(PR_SET_DUMPABLE, 1) != 0)
        ::_exit(9);
      const auto listing = list_in_sandbox(many_elements(elements), {});
      if (listing)
        ::_exit(0);
      const std::string& message = listing.error().message;
      ::_exit(message.find("too large for a user namespace") != std::string::npos ? 1
              : message.find("throw-away namespace") != std::string::npos         ? 2
                                                                                  : 3);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const int few = as_nobody(10);
  if (few == 2)
    GTEST_SKIP() << "no user namespaces for users here";
  EXPECT_EQ(few, 0);
  EXPECT_EQ(as_nobody(20000), 1);
}

}  // namespace

}  // namespace bulkhead::test
