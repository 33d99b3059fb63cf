// Rules about frames against the kernel: ingress and bridge chains, tags of VLANs, ARP, by
// RapidCheck, which shrinks what does not agree and prints its seed.
//
//   RC_PARAMS="max_success=5000"    a longer run
//   RC_PARAMS="seed=N"              that one again
//
// Tags are seen as a bridge without VLAN filtering carries them: this kernel has neither that nor
// VLAN devices, so what those do with a tag is not held to it.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <iostream>
#include <sstream>
#include <thread>

#include "bridge_kernel.h"
#include "compiler/proof/interpret.h"
#include "compiler/proof/rule_loads.h"
#include "compiler/proof/ruleset_json.h"
#include "kernel.h"
#include "random_frames.h"

namespace bulkhead::test {

namespace {

using namespace compiler::proof;

constexpr Station kWay[] = {{TableFamily::Netdev, Hook::Ingress},
                            {TableFamily::Bridge, Hook::Prerouting},
                            {TableFamily::Bridge, Hook::Forward},
                            {TableFamily::Bridge, Hook::Postrouting}};

struct Tally {
  std::size_t rulesets = 0, refused = 0, frames = 0, passed = 0, tagged = 0, unknown = 0;
};

Packet packet_of(const Frame& frame) {
  Packet packet;
  packet.link = frame.link;
  packet.bytes = frame.bytes;
  packet.ethertype = frame.ethertype;
  packet.in = BridgeKernel::in();
  packet.out = BridgeKernel::out();
  packet.ct_state = kCtUntracked;
  return packet;
}

std::string told(const Frame& frame) {
  std::ostringstream text;
  text << frame;
  return text.str();
}

std::string told(const Ruleset& ruleset, const Answer& answer) {
  std::ostringstream text;
  text << "model: " << to_string(answer.outcome);
  for (const Run& run : answer.runs)
    for (const Step& step : run.steps)
      text << "\n  " << chain_name(ruleset, step.chain) << " rule " << static_cast<int>(step.rule)
           << ": " << step.what;
  return text.str();
}

void hold(BridgeKernel& kernel, const std::vector<FrameRule>& rules, unsigned drops,
          const std::vector<Frame>& frames, Tally& tally) {
  const std::string text = frame_ruleset(rules, drops);
  if (!kernel.load(text)) {
    ++tally.refused;  // fields of two protocols in one rule
    return;
  }
  ++tally.rulesets;
  const auto listing = kernel.list();
  const auto loads = kernel.loads();
  RC_ASSERT(bool{listing} && bool{loads});
  auto ruleset = parse_ruleset(*listing);
  if (!ruleset)
    RC_FAIL(ruleset.error().message);
  mark_unfaithful(*ruleset, *loads);
  // nft 1.0.6 does not list a chain's devices.
  for (Chain& chain : ruleset->chains)
    if (chain.base && chain.base->hook == Hook::Ingress)
      chain.base->devices = {"b0"};
  for (const Frame& frame : frames) {
    const Answer answer = interpret(*ruleset, packet_of(frame), kWay);
    std::vector<std::uint8_t> whole = frame.link;
    whole.insert(whole.end(), frame.bytes.begin(), frame.bytes.end());
    const bool passes = kernel.passes(whole);
    ++tally.frames;
    tally.passed += passes ? 1 : 0;
    tally.tagged += frame.link.size() > 14 ? 1 : 0;
    if (answer.outcome == Outcome::Unknown || answer.outcome == Outcome::Either)
      ++tally.unknown;
    else if (passes != (answer.outcome == Outcome::Accept))
      RC_FAIL(text + told(frame) + "\nkernel: " + (passes ? "passes" : "nothing came out") + "\n" +
              *loads + told(*ruleset, answer));
  }
}

TEST(Frames, KernelAndModelAgree) {
  if (const std::string missing = Kernel::missing(); !missing.empty())
    GTEST_SKIP() << missing;
  Tally tally;
  bool agree = false;
  std::thread([&] {
    BridgeKernel kernel;
    agree = rc::check("frames pass as the model says", [&] {
      const auto rules =
          *rc::gen::resize(16, rc::gen::container<std::vector<FrameRule>>(frame_rule()));
      const auto drops = *rc::gen::weightedElement<unsigned>({{6, 0}, {1, 1}, {1, 2}, {1, 4}});
      const auto frames = *rc::gen::container<std::vector<Frame>>(12, any_frame());
      hold(kernel, rules, drops, frames, tally);
    });
  }).join();
  EXPECT_TRUE(agree);
  std::cout << tally.rulesets << " rulesets (" << tally.refused << " refused by nft), "
            << tally.frames << " frames, " << tally.tagged << " tagged, " << tally.passed
            << " passed, " << tally.unknown << " unknown\n";
  EXPECT_LT(tally.refused * 4, tally.rulesets) << "the generator makes too much that nft refuses";
  EXPECT_GT(tally.passed * 20, tally.frames) << "hardly anything passes: a poor test";
  EXPECT_LT(tally.unknown * 10, tally.frames) << "hardly anything is known: a poor test";
}

}  // namespace

}  // namespace bulkhead::test
