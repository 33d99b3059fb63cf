#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/unit/judge/fake_agents.h"
#include "tests/unit/judge/small_site.h"

namespace bulkhead::probes {
namespace {

using compiler::Expect;
using compiler::Probe;
using compiler::ProbePlan;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

// Red to blue only, so that a whole run takes milliseconds.
ProbePlan small_plan() {
  compiler::PlanOptions options;
  options.include = {"blue-fe"};
  options.exclude = {"v6", "external:world", "enforcer:fw", "bmc", "spoofed"};
  return compiler::plan_probes(small_site(), options);
}

class Conduct : public testing::Test {
 protected:
  static constexpr std::size_t kPerRound = 12;

  Conduct() : launcher_(world_), plan_(small_plan()) {
    for (const Probe& probe : plan_.probes)
      by_id_[probe.id] = &probe;
    world_.fate = [this](const Expected& what) { return intended(what); };
    std::uint8_t last = 0;
    for (const auto& [name, host] : small_site().inventory.hosts) {
      Facts& facts = world_.facts[name];
      for (const compiler::Nic& nic : host.nics) {
        facts.interfaces.push_back(nic.name);
        facts.macs.push_back({2, 0, 0, 0, 0, ++last});
      }
    }
    options_.run = "test";
    options_.try_timeout = std::chrono::milliseconds(50);
    options_.patience = std::chrono::milliseconds(1500);
    options_.probes_per_round = kPerRound;
  }

  [[nodiscard]] std::size_t rounds() const {
    return (plan_.probes.size() + kPerRound - 1) / kPerRound;
  }
  // As the policy wants it.
  Fate intended(const Expected& what) {
    const Probe& probe = *by_id_.at(what.probe);
    if (probe.rule == compiler::kRuleBridged)
      return Fate::Lost;  // a frame that leaves its segment nowhere
    const bool explicit_deny = probe.expect == Expect::Deny && probe.rule != "default";
    if (explicit_deny)
      world_.rule = "pair";
    else
      world_.rule = "default";
    return probe.expect == Expect::Allow ? Fate::Delivered : Fate::Dropped;
  }
  // The first probe that is so.
  std::string find(Expect expect, compiler::Transport transport) {
    for (const Probe& probe : plan_.probes) {
      if (probe.expect == expect && probe.transport == transport && probe.from.host[0] == 'r' &&
          probe.to.host[0] == 'b' && probe.rule != compiler::kRuleBridged)
        return probe.id;
    }
    return {};
  }
  ProbeOutcome run() {
    auto outcome = conduct(small_site(), plan_, launcher_, watch_, options_);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? *std::move(outcome) : ProbeOutcome{};
  }
  static const Verdict& verdict(const ProbeOutcome& outcome, const std::string& id) {
    return *std::find_if(outcome.verdicts.begin(), outcome.verdicts.end(),
                         [&](const Verdict& v) { return v.probe == id; });
  }
  static std::map<Finding, int> count(const ProbeOutcome& outcome) {
    std::map<Finding, int> counts;
    for (const Verdict& v : outcome.verdicts)
      ++counts[v.finding];
    return counts;
  }
  void expect_all_conform(const ProbeOutcome& outcome) {
    EXPECT_EQ(outcome.verdicts.size(), plan_.probes.size());
    for (const Verdict& v : outcome.verdicts)
      EXPECT_EQ(v.finding, Finding::Conforms) << v.kind << ": " << v.reason;
  }

  FakeWorld world_;
  FakeLauncher launcher_;
  FakeWatch watch_;
  ProbePlan plan_;
  std::map<std::string, const Probe*> by_id_;
  ConductOptions options_;
};

TEST_F(Conduct, AWorldAsIntendedConforms) {
  std::vector<std::size_t> progress;
  options_.progress = [&](std::size_t done, std::size_t) { progress.push_back(done); };
  std::size_t lines = 0;
  options_.evidence_line = [&](const std::string&) { ++lines; };
  const ProbeOutcome outcome = run();
  expect_all_conform(outcome);
  EXPECT_EQ(outcome.rounds, rounds());
  EXPECT_EQ(outcome.retries, 0u);
  EXPECT_EQ(outcome.void_rounds, 0u);
  EXPECT_GT(outcome.packets_tried, plan_.probes.size());
  EXPECT_GT(lines, plan_.probes.size());
  EXPECT_EQ(progress.back(), plan_.probes.size());
  EXPECT_TRUE(watch_.disarmed);
  EXPECT_THAT(outcome.notes, testing::IsEmpty());
}

TEST_F(Conduct, OneSynThatArrivesIsALeak) {
  const std::string id = find(Expect::Deny, compiler::Transport::Tcp);
  world_.fate = [&](const Expected& what) {
    return what.probe == id ? Fate::SynOnly : intended(what);
  };
  const ProbeOutcome outcome = run();
  EXPECT_EQ(verdict(outcome, id).finding, Finding::Leak);
  EXPECT_EQ(verdict(outcome, id).tries, 1u);
  EXPECT_EQ(count(outcome)[Finding::Leak], 1);
}

// Whoever sees a denied packet says so; the operator knows whose it is, and who may see it.
TEST_F(Conduct, ACopyAtAnotherHostIsALeak) {
  options_.watchers = {"r1", "r2", "b1", "b2"};
  const std::string syn = find(Expect::Deny, compiler::Transport::Tcp);
  const std::string datagram = find(Expect::Deny, compiler::Transport::Udp);
  const std::string target = by_id_.at(syn)->to.host == "b1" ? "b2" : "b1";
  world_.fate = [&](const Expected& what) {
    if (what.probe == syn || what.probe == datagram) {
      Evidence seen;
      seen.end = End::Bystander;
      seen.outcome = what.probe == syn ? Outcome::SynSeen : Outcome::PacketSeen;
      seen.tuple = what.tuple;
      seen.interface = "e0";
      seen.token = to_hex(what.token).substr(0, what.probe == syn ? 8 : 32);
      world_.say(target, seen);
      world_.say(by_id_.at(syn)->from.host == "r1" ? "r2" : "r1", seen);  // flooded
    }
    return intended(what);
  };
  const ProbeOutcome outcome = run();
  for (const std::string& id : {syn, datagram}) {
    EXPECT_EQ(verdict(outcome, id).kind, "reached another host");
    EXPECT_THAT(verdict(outcome, id).reason, HasSubstr("(" + target + ", by e0 in blue-fe)"));
  }
  EXPECT_EQ(count(outcome)[Finding::Leak], 2);
  EXPECT_THAT(outcome.notes, testing::IsEmpty());
}

TEST_F(Conduct, WhatAStrangerSendsIsNobodysCopy) {
  options_.watchers = {"b1", "b2"};
  const std::string id = find(Expect::Deny, compiler::Transport::Udp);
  const std::string other = by_id_.at(id)->to.host == "b1" ? "b2" : "b1";
  world_.fate = [&](const Expected& what) {
    if (what.probe == id) {
      Evidence seen;
      seen.end = End::Bystander;
      seen.outcome = Outcome::SynSeen;
      seen.interface = "e0";
      seen.tuple = {*Address::parse("192.0.2.1"), 1, *Address::parse("192.0.2.2"), 2};
      seen.token = to_hex(what.token).substr(0, 8);
      world_.say(other, seen);  // by chance the same sequence number
      seen.token = to_hex(what.token).substr(0, 8) + std::string(24, '0');
      world_.say(other, seen);
    }
    return intended(what);
  };
  expect_all_conform(run());
}

TEST_F(Conduct, OnlyAllowedProbesAreTriedAgain) {
  const std::string allow = find(Expect::Allow, compiler::Transport::Tcp);
  const std::string deny = find(Expect::Deny, compiler::Transport::Tcp);
  world_.fate = [&](const Expected& what) {
    if (what.probe == deny || (what.probe == allow && what.attempt < 3))
      return Fate::Lost;
    return intended(what);
  };
  const ProbeOutcome outcome = run();
  EXPECT_EQ(verdict(outcome, allow).finding, Finding::Conforms);
  EXPECT_EQ(verdict(outcome, allow).tries, 3u);
  EXPECT_EQ(verdict(outcome, deny).kind, "silence");
  EXPECT_EQ(verdict(outcome, deny).tries, 1u);
  EXPECT_EQ(outcome.retries, 2u);
}

TEST_F(Conduct, RetriesEnd) {
  const std::string allow = find(Expect::Allow, compiler::Transport::Udp);
  world_.fate = [&](const Expected& what) {
    return what.probe == allow ? Fate::Lost : intended(what);
  };
  const ProbeOutcome outcome = run();
  EXPECT_EQ(verdict(outcome, allow).finding, Finding::Outage);
  EXPECT_EQ(verdict(outcome, allow).tries, 3u);
}

TEST_F(Conduct, AroundTheEnforcerIsSeen) {
  const std::string allow = find(Expect::Allow, compiler::Transport::Tcp);
  world_.fate = [&](const Expected& what) {
    return what.probe == allow ? Fate::Bypass : intended(what);
  };
  EXPECT_EQ(verdict(run(), allow).kind, "around the enforcer");
}

TEST_F(Conduct, AnAgentThatDiesMakesWhatNeededItInconclusive) {
  int dials = 0;
  world_.on_message = [&](const std::string& host, const ToAgent& message) {
    if (host[0] == 'b' && std::holds_alternative<Dial>(message) && ++dials == 2)
      world_.kill(host);
  };
  const ProbeOutcome outcome = run();
  int died = 0;
  for (const Verdict& v : outcome.verdicts) {
    EXPECT_TRUE(v.finding == Finding::Conforms || v.finding == Finding::Inconclusive) << v.reason;
    died += v.kind == "agent died" ? 1 : 0;
  }
  EXPECT_GT(died, 10);
  EXPECT_THAT(outcome.notes, Contains(HasSubstr("the agent is gone")));
}

// D05: the channel is cut before anything is reported, the runner itself ends well.
TEST_F(Conduct, D05_ACutChannelIsNoResult) {
  world_.on_message = [&](const std::string& host, const ToAgent& message) {
    if (host == "fw" && std::holds_alternative<Collect>(message))
      world_.kill(host);
  };
  options_.probes_per_round = 1000;
  for (const Verdict& v : run().verdicts) {
    if (v.cause == compiler::Cause::Rule) {
      EXPECT_EQ(v.kind, "agent died");
    }
  }
}

TEST_F(Conduct, AnAgentThatFallsSilentDoesNotHangTheRun) {
  options_.patience = std::chrono::milliseconds(200);
  world_.on_message = [&](const std::string& host, const ToAgent& message) {
    if (host[0] == 'r' && std::holds_alternative<Dial>(message))
      world_.mute.insert(host);
  };
  const ProbeOutcome outcome = run();
  EXPECT_GT(count(outcome)[Finding::Inconclusive], 0);
  EXPECT_EQ(count(outcome)[Finding::Leak], 0);
  EXPECT_EQ(count(outcome)[Finding::Outage], 0);
  EXPECT_THAT(outcome.notes, Contains(HasSubstr("did not answer in time")));
}

TEST_F(Conduct, AHostWithoutAgentIsInconclusiveAndNobodyAtAllAnError) {
  world_.unlaunchable = {plan_.probes.front().from.host};
  EXPECT_GT(count(run())[Finding::Inconclusive], 0);
  world_.unlaunchable = {"r1", "r2", "b1", "b2", "fw"};
  const auto none = conduct(small_site(), plan_, launcher_, watch_, options_);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::Environment);
}

TEST_F(Conduct, AVoidRoundIsRunAgainOnce) {
  int marks = 0;
  watch_.on_mark = [&](const std::string&) { return ++marks == 2 ? "changed" : "same"; };
  const ProbeOutcome outcome = run();
  expect_all_conform(outcome);
  EXPECT_EQ(outcome.void_rounds, 1u);
  EXPECT_EQ(outcome.rounds, rounds() + 1);
}

TEST_F(Conduct, ARulesetThatNeverRestsIsInconclusive) {
  int marks = 0;
  watch_.on_mark = [&](const std::string&) { return std::to_string(++marks); };
  options_.allow_retries = 0;
  const ProbeOutcome outcome = run();
  for (const Verdict& v : outcome.verdicts) {
    if (v.cause == compiler::Cause::Rule) {
      EXPECT_EQ(v.kind, "round void");
    }
  }
}

TEST_F(Conduct, LostEventsRepeatTheRound) {
  int collects = 0;
  world_.on_message = [&](const std::string& host, const ToAgent& message) {
    if (host == "fw" && std::holds_alternative<Collect>(message) && ++collects == 1)
      world_.agents[host].lost = 3;
  };
  const ProbeOutcome outcome = run();
  expect_all_conform(outcome);
  EXPECT_EQ(outcome.void_rounds, 0u);
  EXPECT_EQ(outcome.rounds, rounds() + 1);
}

TEST_F(Conduct, StopInterrupts) {
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  options_.progress = [&](std::size_t, std::size_t) { stop = true; };
  const auto outcome = conduct(small_site(), plan_, launcher_, watch_, options_);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::Interrupted);
  EXPECT_TRUE(watch_.disarmed);
}

TEST_F(Conduct, TimeUpKeepsWhatWasFound) {
  options_.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  const std::string id = plan_.probes.front().id;
  world_.fate = [&](const Expected& what) {
    return what.probe == id ? Fate::SynOnly : intended(what);
  };
  options_.probes_per_round = plan_.probes.size() / 2 + 1;
  int rounds = 0;
  options_.progress = [&](std::size_t, std::size_t) {
    if (++rounds == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  };
  const ProbeOutcome outcome = run();
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.verdicts.size(), plan_.probes.size());
  EXPECT_GT(count(outcome)[Finding::Conforms] + count(outcome)[Finding::Leak], 0);
  EXPECT_GT(count(outcome)[Finding::Inconclusive], 0);
}

// A round does not outlive the deadline, and nobody is blamed for what was under way.
TEST_F(Conduct, TimeUpEndsARoundInItsMiddle) {
  options_.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  world_.on_message = [&](const std::string& host, const ToAgent& message) {
    if (const auto* dial = std::get_if<Dial>(&message); dial && dial->phase == Phase::Main)
      world_.mute.insert(host);
  };
  const auto began = std::chrono::steady_clock::now();
  const ProbeOutcome outcome = run();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_TRUE(watch_.disarmed);
  EXPECT_EQ(count(outcome)[Finding::Inconclusive], static_cast<int>(plan_.probes.size()));
  EXPECT_THAT(outcome.notes, Contains(HasSubstr("time was up")));
  for (const Verdict& verdict : outcome.verdicts)
    EXPECT_THAT(verdict.reason, Not(HasSubstr("ruleset")));
  EXPECT_THAT(outcome.notes, Not(Contains(HasSubstr("did not answer in time"))));
}

TEST_F(Conduct, TimeThatIsUpBeforeAnyAgentRunsIsNoFailureOfTheAgents) {
  options_.deadline = std::chrono::steady_clock::now();
  const ProbeOutcome outcome = run();
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.rounds, 0u);
}

// A login script of a remote host may speak before the agent.
TEST_F(Conduct, NoiseBeforeTheAgentsFirstWordIsNoAnswer) {
  world_.on_message = [&](const std::string& host, const ToAgent& message) {
    if (std::holds_alternative<Hello>(message))
      world_.agents[host].lines.insert(world_.agents[host].lines.begin(),
                                       {"Welcome!", "{ banner }"});
  };
  expect_all_conform(run());
}

TEST_F(Conduct, NoiseAfterTheAgentsFirstWordIsNoAgentOfOurs) {
  world_.on_message = [&](const std::string& host, const ToAgent& message) {
    if (std::holds_alternative<Listen>(message))
      world_.agents[host].lines.emplace_back("Welcome!");
  };
  EXPECT_THAT(run().notes, Contains(HasSubstr("does not speak our language")));
}

TEST_F(Conduct, AnAgentOfAnotherVersionIsNamedAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  world_.mute.insert("r1");
  world_.on_message = [&](const std::string& host, const ToAgent& message) {
    if (host == "r1" && std::holds_alternative<Hello>(message))
      world_.agents[host].lines.emplace_back(
          R"({"schema":"bulkhead.agent/1","type":"ready","version":"0.0.7","kernel":"6.1"})");
  };
  const ProbeOutcome outcome = run();
  EXPECT_THAT(outcome.notes, Contains(AllOf(HasSubstr("r1: "), HasSubstr("version 0.0.7"),
                                            HasSubstr("install the same version on both"))));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, options_.patience);
}

TEST_F(Conduct, AHostThatForwardsAgainstItsWordIsAFinding) {
  compiler::Site site = site_of(std::string(kSmallPolicy),
                                std::string(kSmallInventory) +
                                    "[host.two]\nforwards = false\n"
                                    "nic.a = { segment = \"red-fe\", v4 = \"10.1.0.77\" }\n"
                                    "nic.b = { segment = \"blue-fe\", v4 = "
                                    "\"10.2.0.77\" }\n");
  ASSERT_TRUE(site.ok());
  std::erase_if(plan_.probes, [](const Probe& p) { return p.expect == Expect::Deny; });
  plan_.probes.resize(1);
  plan_.probes[0].from.host = "two";
  world_.facts["two"].forwards_v6 = true;
  auto outcome = conduct(site, plan_, launcher_, watch_, options_);
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->findings.size(), 1u);
  EXPECT_EQ(outcome->findings[0].subject, "two");
  EXPECT_THAT(outcome->findings[0].reason, HasSubstr("forwards IPv6"));
}

// Only one member of a pair is probed; the other's rules must be the same.
TEST_F(Conduct, TheSecondMemberOfAPairIsHeldAgainstTheFirst) {
  std::string inventory(kSmallInventory);
  inventory.replace(inventory.find("manage ="), 0, "members = [\"fw\", \"fw2\"]\n");
  const compiler::Site site = site_of(std::string(kSmallPolicy), inventory);
  ASSERT_TRUE(site.ok());
  auto alike = conduct(site, plan_, launcher_, watch_, options_);
  ASSERT_TRUE(alike);
  EXPECT_THAT(alike->findings, testing::IsEmpty());
  watch_.on_mark = [](const std::string& member) { return member == "fw2" ? "empty" : "same"; };
  auto unlike = conduct(site, plan_, launcher_, watch_, options_);
  ASSERT_TRUE(unlike);
  ASSERT_EQ(unlike->findings.size(), 1U);
  EXPECT_EQ(unlike->findings[0].subject, "fw2");
  EXPECT_THAT(unlike->findings[0].reason, HasSubstr("its rules are not those of fw"));
}

TEST_F(Conduct, PassivePortsAreWatchedAndFailedListenersProveNothing) {
  const Probe& allow = *by_id_.at(find(Expect::Allow, compiler::Transport::Tcp));
  const Probe& deny = *by_id_.at(find(Expect::Deny, compiler::Transport::Tcp));
  world_.passive[allow.to.host] = {
      {{allow.transport, allow.to.address, allow.port}, "address already in use"}};
  world_.failed[deny.to.host] = {{{deny.transport, deny.to.address, deny.port}, "no memory"}};
  const ProbeOutcome outcome = run();
  EXPECT_EQ(verdict(outcome, deny.id).kind, "agent died");
  EXPECT_THAT(outcome.notes, Contains(HasSubstr("a real service holds the port")));
  EXPECT_THAT(outcome.notes, Contains(HasSubstr("no listener")));
}

TEST_F(Conduct, AReportForATryThatNobodyMadeIsNoted) {
  bool said = false;
  world_.on_message = [&](const std::string& host, const ToAgent& message) {
    if (host[0] == 'b' && std::holds_alternative<Collect>(message) && !said) {
      said = true;
      Evidence forged;
      forged.probe = "p-999999";
      forged.end = End::Listener;
      forged.outcome = Outcome::TokenSeen;
      forged.token = std::string(32, 'a');
      forged.tuple = {*Address::parse("10.1.0.11"), 1, *Address::parse("10.2.0.11"), 2};
      world_.say(host, forged);
    }
  };
  EXPECT_THAT(run().notes, Contains(HasSubstr("nobody made: p-999999")));
}

TEST_F(Conduct, ThePaceIsSharedOut) {
  compiler::Site site = site_of(std::string(kSmallPolicy),
                                std::string(kSmallInventory) + "[probe]\nmax_pps = 100000\n");
  ASSERT_TRUE(site.ok());
  auto outcome = conduct(site, plan_, launcher_, watch_, options_);
  ASSERT_TRUE(outcome);
  std::map<std::pair<std::uint32_t, Phase>, std::pair<std::uint32_t, std::uint32_t>> by_phase;
  for (const Dial& dial : world_.dials) {
    EXPECT_GT(dial.pps, 0u);
    by_phase[{dial.round, dial.phase}].first += dial.pps;
  }
  for (const auto& [phase, sum] : by_phase)
    EXPECT_LE(sum.first, 100000u);
}

TEST_F(Conduct, LateEvidenceFindsItsTry) {
  // The listener's report of a denied packet comes only at the end of the next round.
  const std::string id = find(Expect::Deny, compiler::Transport::Udp);
  std::optional<Evidence> late;
  world_.fate = [&](const Expected& what) {
    if (what.probe == id) {
      late.emplace();
      late->probe = id;
      late->end = End::Listener;
      late->outcome = Outcome::PacketSeen;
      late->tuple = what.tuple;
      late->token = to_hex(what.token);
    }
    return intended(what);
  };
  int collects_since = 0;
  world_.on_message = [&](const std::string& host, const ToAgent& message) {
    if (host == by_id_.at(id)->to.host && late && std::holds_alternative<Collect>(message) &&
        ++collects_since == 2)
      world_.say(host, *late);
  };
  const ProbeOutcome outcome = run();
  ASSERT_GE(collects_since, 2);
  EXPECT_EQ(verdict(outcome, id).finding, Finding::Leak);
}

// A copy of a dropped packet that somebody held back until the last round was over.
TEST_F(Conduct, WhatArrivesAfterTheLastRoundIsALeak) {
  const std::string id = find(Expect::Deny, compiler::Transport::Tcp);
  options_.probes_per_round = 1000;
  int collects = 0;
  world_.on_message = [&](const std::string& host, const ToAgent& message) {
    if (host != by_id_.at(id)->to.host || !std::holds_alternative<Collect>(message) ||
        ++collects != 2)
      return;
    const Expected what = world_.agents[host].expected.at({id, 1});
    Evidence late;
    late.probe = id;
    late.round = 1;
    late.end = End::Listener;
    late.outcome = Outcome::SynSeen;
    late.tuple = what.tuple;
    late.token = to_hex(what.token);
    world_.say(host, late);
  };
  const ProbeOutcome outcome = run();
  EXPECT_EQ(outcome.rounds, 1U);
  EXPECT_EQ(verdict(outcome, id).finding, Finding::Leak);
}

TEST_F(Conduct, AListenerThatCannotBeAskedAtTheEndProvesNoSilence) {
  const std::string id = find(Expect::Deny, compiler::Transport::Tcp);
  const std::string listener = by_id_.at(id)->to.host;
  options_.probes_per_round = 1000;
  int collects = 0;
  world_.on_message = [&](const std::string& host, const ToAgent& message) {
    if (host == listener && std::holds_alternative<Collect>(message) && ++collects == 2)
      world_.kill(host);
  };
  EXPECT_EQ(verdict(run(), id).kind, "agent died");
  collects = 0;
  world_.agents.clear();
  world_.on_message = [&](const std::string& host, const ToAgent& message) {
    if (host == listener && std::holds_alternative<Collect>(message) && ++collects == 2)
      world_.agents[host].lost = 1;
  };
  EXPECT_EQ(verdict(run(), id).kind, "events lost");
}

}  // namespace
}  // namespace bulkhead::probes
