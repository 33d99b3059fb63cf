// The interpreter against the kernel: random rulesets, random packets, one verdict.
//
//   BULKHEAD_PROOF_SEED=N       begin with this seed (printed by every run)
//   BULKHEAD_PROOF_SECONDS=N    how long to go on
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <sstream>
#include <thread>

#include "compiler/proof/interpret.h"
#include "compiler/proof/rule_loads.h"
#include "compiler/proof/ruleset_json.h"
#include "connections.h"
#include "kernel.h"
#include "random_ruleset.h"
#include "random_shots.h"

namespace bulkhead::test {

namespace {

using namespace compiler::proof;

constexpr std::size_t kShots = 40;

struct Mismatch {
  std::size_t shot = 0;
  std::string story;
};

struct Tally {
  std::size_t rulesets = 0, refused = 0, packets = 0, passed = 0, unknown = 0, unfaithful = 0,
              errors = 0;
};

Side side_of(const Address& address) {
  const std::string text = address.str();
  for (const char* own : {"10.1.0.1", "10.2.0.1", "fd01::1", "fd02::1"})
    if (text == own)
      return Side::Local;
  return text.starts_with("10.1.") || text.starts_with("fd01:") ? Side::Left : Side::Right;
}

Address destination(const Packet& packet) {
  const bool v4 = packet.ethertype == kEtherIp;
  const auto value = read(packet, {v4 ? Selector::Ip4Daddr : Selector::Ip6Daddr, {}, {}});
  return to_address(v4 ? Family::V4 : Family::V6, *value);
}

Address source(const Packet& packet) {
  const bool v4 = packet.ethertype == kEtherIp;
  const auto value = read(packet, {v4 ? Selector::Ip4Saddr : Selector::Ip6Saddr, {}, {}});
  return to_address(v4 ? Family::V4 : Family::V6, *value);
}

// The routing table of Kernel's namespace.
std::optional<Value> fib(const Packet& packet, const Operand& operand) {
  const Side side = side_of(operand.fib.saddr ? source(packet) : destination(packet));
  constexpr Value kUnicast = 1, kLocal = 2;
  if (operand.selector == Selector::FibType)
    return side == Side::Local ? kLocal : kUnicast;
  if (operand.selector != Selector::FibOif || !operand.fib.iif || !packet.in)
    return std::nullopt;
  // An own address has its route over lo.
  const std::string name = side == Side::Local ? "lo" : side == Side::Left ? kLeftName : kRightName;
  return packet.in->name == name ? 1 : 0;
}

std::string told(const PacketFacts& facts, Side from) {
  std::ostringstream text;
  text << (from == Side::Left    ? "from t0: "
           : from == Side::Right ? "from t1: "
                                 : "sent here: ")
       << facts.from.str() << " -> " << facts.to.str() << " protocol " << unsigned{facts.protocol}
       << " ports " << facts.sport << " -> " << facts.dport << " flags "
       << unsigned{facts.tcp_flags} << " type " << unsigned{facts.icmp_type}
       << (facts.destination_options ? " options" : "") << " payload";
  for (std::size_t i = 0; i + 16 < facts.payload.size() && i < 40; ++i)
    text << ' ' << unsigned{facts.payload[i]};
  if (facts.fragment)
    text << " fragment at " << facts.fragment->offset << (facts.fragment->more ? " more" : " last");
  return text.str();
}

std::string told(const Ruleset& ruleset, const Answer& answer) {
  std::ostringstream text;
  text << "model: " << to_string(answer.outcome) << "\n";
  for (const Run& run : answer.runs) {
    for (const Step& step : run.steps)
      text << "  " << to_string(step.hook) << ": " << chain_name(ruleset, step.chain) << " rule "
           << (step.rule == kNone ? std::string("end") : std::to_string(step.rule)) << ": "
           << step.what << "\n";
    for (const std::string& why : run.because)
      text << "  because " << why << "\n";
  }
  return text.str();
}

// What masquerade and redirect give.
std::optional<Value> device_address(const Packet& packet, Hook hook) {
  const auto& device = hook == Hook::Postrouting ? packet.out : packet.in;
  if (!device)
    return std::nullopt;
  const bool v4 = packet.ethertype == kEtherIp, left = device->name == kLeftName;
  return to_value(
      *Address::parse(v4 ? (left ? "10.1.0.1" : "10.2.0.1") : (left ? "fd01::1" : "fd02::1")));
}

// The connection that an ICMP error of this shot is about: one that nobody translated, so that the
// packet in the error is the one that was sent.
const Connections::Known* erroneous(const Shot& shot, const Connections& connections) {
  if (!shot.as_error || connections.all().empty())
    return nullptr;
  const auto& known = *connections.all()[shot.which % connections.all().size()];
  const Tuple& there = known.connection.original;
  const Tuple& back = known.connection.answer;
  return there.saddr == back.daddr && there.daddr == back.saddr && there.dport == back.sport &&
                 there.sport == back.dport
             ? &known
             : nullptr;
}

// A destination that is not to be reached, or a time that ran out.
PacketFacts error_about(const Connections::Known& known, const Shot& shot) {
  const Connection& connection = known.connection;
  PacketFacts inner;
  inner.protocol = connection.protocol;
  inner.from = to_address(known.family, connection.original.saddr);
  inner.to = to_address(known.family, connection.original.daddr);
  inner.sport = inner.icmp_id = connection.original.sport;
  inner.dport = connection.original.dport;
  inner.icmp_type = static_cast<std::uint8_t>(connection.original.dport >> 8);
  PacketFacts facts;
  const bool v4 = known.family == Family::V4;
  facts.protocol = v4 ? 1 : 58;
  facts.from = inner.to;
  facts.to = inner.from;
  facts.icmp_type = shot.as_reply ? (v4 ? 3 : 1) : (v4 ? 11 : 3);
  facts.payload = bytes_of(inner);
  return facts;
}

// The packet of a connection that is there, else the shot's own.
PacketFacts resolved(const Shot& shot, const Connections& connections) {
  PacketFacts facts = shot.facts;
  if (!shot.goes_on || connections.all().empty())
    return facts;
  const auto& known = *connections.all()[shot.which % connections.all().size()];
  const Connection& connection = known.connection;
  const Tuple& tuple = shot.as_reply ? connection.answer : connection.original;
  facts.protocol = connection.protocol;
  facts.from = to_address(known.family, tuple.saddr);
  facts.to = to_address(known.family, tuple.daddr);
  facts.sport = tuple.sport;
  facts.dport = tuple.dport;
  facts.fragment.reset();
  facts.destination_options = facts.destination_options && known.family == Family::V6;
  if (facts.protocol == 6)
    facts.tcp_flags =
        shot.as_reply ? (known.answered ? 0x10 : 0x12) : (known.answered ? 0x10 : 0x02);
  if (facts.protocol == 1 || facts.protocol == 58) {
    facts.icmp_id = connection.original.sport;
    facts.icmp_type = static_cast<std::uint8_t>(connection.original.dport >> 8);
    if (shot.as_reply)
      facts.icmp_type = facts.protocol == 58 ? 129 : facts.icmp_type == 8 ? 0 : 14;
  }
  return facts;
}

std::optional<Mismatch> play(Kernel& kernel, const RandomRuleset& random,
                             const std::vector<Shot>& shots, Tally& tally) {
  if (const Status loaded = kernel.load(random.text()); !loaded) {
    ++tally.refused;
    if (std::getenv("BULKHEAD_PROOF_VERBOSE") != nullptr)
      std::cout << loaded.error().message << "\n";
    return std::nullopt;
  }
  const auto listing = kernel.list();
  if (!listing)
    return Mismatch{0, "listing: " + listing.error().message};
  auto ruleset = parse_ruleset(*listing);
  if (!ruleset)
    return Mismatch{0, "parse: " + ruleset.error().message};
  const auto loads = kernel.loads();
  if (!loads)
    return Mismatch{0, "loads: " + loads.error().message};
  tally.unfaithful += mark_unfaithful(*ruleset, *loads);
  kernel.forget_connections();
  ++tally.rulesets;
  Connections connections;
  Surroundings surroundings;
  surroundings.fib = fib;
  surroundings.device_address = device_address;
  for (std::size_t i = 0; i < shots.size(); ++i) {
    const Connections::Known* about = erroneous(shots[i], connections);
    PacketFacts facts =
        about != nullptr ? error_about(*about, shots[i]) : resolved(shots[i], connections);
    // Long enough that no packet without it is taken for one.
    std::string token = "token" + std::to_string(tally.packets);
    token.resize(16, '.');
    facts.payload.insert(facts.payload.end(), token.begin(), token.end());
    Packet packet;
    packet.bytes = bytes_of(facts);
    packet.ethertype = facts.from.family == Family::V4 ? kEtherIp : kEtherIp6;
    if (about != nullptr)
      Connections::relate(*about, packet);
    else
      connections.look_up(facts, packet);
    const Side from = side_of(facts.from);
    const TableFamily family = family_of(packet);
    Answer answer;
    Side to = side_of(facts.to);
    if (from == Side::Local) {
      packet.uid = packet.gid = 0;
      packet.out = kernel.device(to);
      if (to == Side::Local)
        continue;
      const Station way[] = {{family, Hook::Output}, {family, Hook::Postrouting}};
      answer = interpret(*ruleset, packet, way, surroundings);
    } else {
      packet.in = kernel.device(from);
      if (from == Side::Left)
        packet.link = kernel.link_header(packet.ethertype);
      // Routing comes after the destination was translated.
      const Station before[] = {{family, Hook::Prerouting}};
      answer = interpret(*ruleset, packet, before, surroundings);
      if (answer.outcome == Outcome::Accept) {
        to = side_of(destination(answer.runs.front().after));
        if (to != Side::Local)
          packet.out = kernel.device(to);
        const Station here[] = {{family, Hook::Prerouting}, {family, Hook::Input}};
        const Station through[] = {
            {family, Hook::Prerouting}, {family, Hook::Forward}, {family, Hook::Postrouting}};
        answer = to == Side::Local ? interpret(*ruleset, packet, here, surroundings)
                                   : interpret(*ruleset, packet, through, surroundings);
      }
    }
    if (facts.fragment && to == Side::Local)
      continue;  // put together before it is delivered
    const Seen seen = kernel.inject(from, packet.bytes, token);
    ++tally.packets;
    tally.passed += seen.anywhere() ? 1 : 0;
    tally.errors += about != nullptr ? 1 : 0;
    const bool passes = answer.outcome == Outcome::Accept;
    if (answer.outcome == Outcome::Unknown || answer.outcome == Outcome::Either) {
      ++tally.unknown;
      return std::nullopt;  // and what conntrack knows from here on, too
    }
    const bool right_place = !passes || (to == Side::Left    ? seen.left
                                         : to == Side::Right ? seen.right
                                                             : seen.local);
    const Packet& after = answer.runs.front().after;
    const bool same_bytes =
        !passes || to == Side::Local ||
        (seen.bytes.size() == after.bytes.size() &&
         std::equal(after.bytes.begin() + 12, after.bytes.begin() + 24, seen.bytes.begin() + 12));
    if (passes != seen.anywhere() || !right_place || !same_bytes) {
      std::ostringstream story;
      story << told(facts, from) << "\nct state " << unsigned{packet.ct_state}
            << (packet.connection && packet.connection->reply ? " reply" : "")
            << "\nkernel: " << (seen.left ? "out t0 " : "") << (seen.right ? "out t1 " : "")
            << (seen.local ? "delivered " : "") << (seen.anywhere() ? "" : "nothing came out")
            << "\n"
            << told(*ruleset, answer);
      return Mismatch{i, story.str()};
    }
    // A connection to or from this machine is answered by this machine too, at its own time: one
    // packet of it is enough.
    if (about == nullptr && from != Side::Local && to != Side::Local)
      connections.learn(facts, after, seen.anywhere());
  }
  return std::nullopt;
}

// Leaves out rules and packets while the mismatch stays.
void shrink(Kernel& kernel, RandomRuleset& random, std::vector<Shot>& shots, Mismatch& mismatch) {
  Tally ignored;
  shots.resize(mismatch.shot + 1);
  const auto still = [&](const RandomRuleset& smaller, const std::vector<Shot>& fewer) {
    auto again = play(kernel, smaller, fewer, ignored);
    if (again)
      mismatch = *again;
    return again.has_value();
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = shots.size(); i-- > 0;) {
      auto fewer = shots;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (!fewer.empty() && still(random, fewer)) {
        shots = fewer;
        smaller = true;
      }
    }
    for (std::size_t c = 0; c < random.chains.size(); ++c)
      for (std::size_t r = random.chains[c].rules.size(); r-- > 0;) {
        RandomRuleset less = random;
        auto& rules = less.chains[c].rules;
        rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(r));
        if (still(less, shots)) {
          random = less;
          smaller = true;
        }
      }
    for (std::size_t c = random.chains.size(); c-- > 0;) {
      RandomRuleset less = random;
      less.chains.erase(less.chains.begin() + static_cast<std::ptrdiff_t>(c));
      if (still(less, shots)) {
        random = less;
        smaller = true;
      }
    }
  }
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

void run_differential(std::uint64_t seed, std::chrono::seconds time) {
  Kernel kernel;
  Tally tally;
  const auto until = std::chrono::steady_clock::now() + time;
  for (; std::chrono::steady_clock::now() < until; ++seed) {
    Dice dice(seed);
    RandomRuleset random = random_ruleset(dice);
    std::vector<Shot> shots = random_shots(dice, kShots, !random.uses_conntrack);
    auto mismatch = play(kernel, random, shots, tally);
    if (mismatch) {
      shrink(kernel, random, shots, *mismatch);
      ADD_FAILURE() << "seed " << seed << " (BULKHEAD_PROOF_SEED=" << seed << "), shrunk:\n"
                    << random.text() << mismatch->story;
      return;
    }
  }
  std::cout << tally.rulesets << " rulesets (" << tally.refused << " refused by nft), "
            << tally.packets << " packets, " << tally.passed << " passed, " << tally.unknown
            << " unknown, " << tally.errors << " ICMP errors, " << tally.unfaithful
            << " rules listed wrongly\n";
  EXPECT_GT(tally.rulesets, 20U);
  EXPECT_GT(tally.errors, 0U);
  EXPECT_LT(tally.refused * 5, tally.rulesets) << "the generator makes too much that nft refuses";
  EXPECT_GT(tally.passed * 10, tally.packets) << "hardly anything passes: a poor test";
}

TEST(Differential, KernelAndModelAgree) {
  if (const std::string missing = Kernel::missing(); !missing.empty())
    GTEST_SKIP() << missing;
  // The same rulesets in each run, so that a red run is this change's; another seed finds others.
  const std::uint64_t seed = number_from("BULKHEAD_PROOF_SEED", 1);
  const std::chrono::seconds time(number_from("BULKHEAD_PROOF_SECONDS", 20));
  std::cout << "BULKHEAD_PROOF_SEED=" << seed << "\n";
  std::thread(run_differential, seed, time).join();
}

}  // namespace

}  // namespace bulkhead::test
