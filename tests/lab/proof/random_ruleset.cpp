#include "random_ruleset.h"

#include <set>

#include "random_rule.h"
#include "random_words.h"

namespace bulkhead::test {

namespace {

const char* const kSets4 = R"(
  set s_hosts { type ipv4_addr; elements = { 10.1.0.10, 10.2.0.10, 10.2.0.1 }; }
  set s_nets { type ipv4_addr; flags interval; elements = { 10.2.0.8/30, 10.1.0.0/28 }; }
  set s_pairs { type ipv4_addr . inet_service; flags interval; elements = { 10.1.0.0/24 . 80, 10.2.0.10 . 1024-65535 }; })";
const char* const kSets = R"(
  set s_ports { type inet_service; flags interval; elements = { 22, 80-81, 1024-65535 }; }
  set s_names { type ifname; flags interval; elements = { "t1", "eth*" }; }
  set s_services { type inet_proto . inet_service; elements = { tcp . 80, udp . 53, tcp . 22 }; }
  set s_empty { type inet_service; })";

struct Hooked {
  const char* hook;
  int priority;
};

}  // namespace

std::string RandomRuleset::text() const {
  std::set<std::pair<std::string, std::string>> tables;
  for (const Chain& chain : chains)
    tables.insert({chain.family, chain.table});
  std::string text;
  for (const auto& [family, table] : tables) {
    text += "table " + family + " " + table + " {" + (family == "ip6" ? "" : kSets4) + kSets + "\n";
    // Chains that are jumped to come first: the last ones.
    for (auto chain = chains.rbegin(); chain != chains.rend(); ++chain) {
      if (chain->family != family || chain->table != table)
        continue;
      text += "  chain " + chain->name + " {\n";
      if (!chain->base.empty())
        text += "    " + chain->base + "\n";
      for (const std::string& rule : chain->rules)
        text += "    " + rule + "\n";
      text += "  }\n";
    }
    text += "}\n";
  }
  return text;
}

RandomRuleset random_ruleset(Dice& dice) {
  const Hooked kHooks[] = {{"forward", 0},     {"forward", -5},      {"input", 0},
                           {"output", 0},      {"prerouting", -300}, {"prerouting", -150},
                           {"postrouting", 0}, {"postrouting", 150}, {"forward", 10},
                           {"output", -150}};
  RandomRuleset ruleset;
  ruleset.uses_conntrack = dice.chance(70);
  const std::size_t tables = 1 + dice.below(2);
  for (std::size_t t = 0; t < tables; ++t) {
    const std::string family = dice.chance(65) ? "inet" : dice.chance(50) ? "ip" : "ip6";
    const std::string table = "t" + std::to_string(t);
    std::set<std::size_t> hooks;
    for (std::size_t i = 0; i <= dice.below(4); ++i)
      hooks.insert(dice.below(std::size(kHooks)));
    if (dice.chance(70))
      hooks.insert(0);
    const std::size_t plain = dice.below(4);
    for (const std::size_t at : hooks) {
      const Hooked& hooked = kHooks[at];
      // Equal priorities of two tables have no promised order.
      const int priority = hooked.priority + static_cast<int>(t);
      RandomRuleset::Chain chain{
          family, table, "b_" + std::string(hooked.hook) + std::to_string(at), {}, {}};
      chain.base = "type filter hook " + std::string(hooked.hook) + " priority " +
                   std::to_string(priority) + "; policy " + (dice.chance(40) ? "drop" : "accept") +
                   ";";
      std::vector<std::string> below;
      for (std::size_t i = 0; i < plain; ++i)
        below.push_back("c" + std::to_string(i));
      const Place place{family, hooked.hook, ruleset.uses_conntrack};
      for (std::size_t i = dice.below(7); i-- > 0;)
        chain.rules.push_back(random_rule(dice, place, below));
      if (priority <= -299 && ruleset.uses_conntrack && dice.chance(50))
        chain.rules.push_back("udp dport " + ports(dice) + " notrack");
      ruleset.chains.push_back(std::move(chain));
    }
    if (ruleset.uses_conntrack && family != "ip6" && dice.chance(30)) {
      RandomRuleset::Chain nat{family, table, "n_pre", {}, {}};
      nat.base =
          "type nat hook prerouting priority " + std::to_string(-100 + static_cast<int>(t)) + ";";
      const std::string to = family == "inet" ? "dnat ip to " : "dnat to ";
      const std::string guard = family == "inet" ? "meta nfproto ipv4 " : "";
      nat.rules.push_back(guard + "tcp dport " + ports(dice) + " " + to + "10.2.0.12:443");
      nat.rules.push_back(guard + "udp dport 53 ip daddr 10.1.0.1 " + to + "10.2.0.11");
      if (dice.chance(30))
        nat.rules.push_back(guard + "udp dport 1023 redirect");
      ruleset.chains.push_back(std::move(nat));
      // Ports are unique in these tests, so the kernel keeps them.
      RandomRuleset::Chain post{family, table, "n_post", {}, {}};
      post.base =
          "type nat hook postrouting priority " + std::to_string(100 + static_cast<int>(t)) + ";";
      if (dice.chance(50))
        post.rules.push_back(guard + "oifname \"t1\" ip saddr 10.1.0.10-10.1.0.11 " +
                             (family == "inet" ? "snat ip to 10.2.0.1" : "snat to 10.2.0.1"));
      if (dice.chance(40))
        post.rules.push_back(guard + "oifname \"t1\" udp dport " + ports(dice) + " masquerade");
      ruleset.chains.push_back(std::move(post));
    }
    for (std::size_t i = 0; i < plain; ++i) {
      RandomRuleset::Chain chain{family, table, "c" + std::to_string(i), {}, {}};
      std::vector<std::string> below;
      for (std::size_t j = i + 1; j < plain; ++j)
        below.push_back("c" + std::to_string(j));
      // Called from any hook: no match that one of them refuses.
      const Place place{family, "any", ruleset.uses_conntrack};
      for (std::size_t n = dice.below(5); n-- > 0;) {
        std::string rule = random_rule(dice, place, below);
        if (rule.find("reject") == std::string::npos && rule.find("fib") == std::string::npos)
          chain.rules.push_back(std::move(rule));
      }
      ruleset.chains.push_back(std::move(chain));
    }
  }
  return ruleset;
}

}  // namespace bulkhead::test
