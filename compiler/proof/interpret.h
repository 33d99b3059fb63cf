// One packet through a ruleset, chain by chain, as the kernel would: the reference that the
// symbolic evaluator is held to, and itself held to the kernel by tests/lab/proof. Also what
// `bulkhead query` prints. Slow and plain on purpose.
//
// What the packet alone does not decide (limits, quotas, queues, what the model does not know) is
// followed both ways. Where all ways end alike, that is the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/proof/packet.h"
#include "compiler/proof/ruleset.h"

namespace bulkhead::compiler::proof {

enum class Outcome : std::uint8_t {
  Accept,
  Drop,
  Reject,
  Either,   // a limit, a quota, a queue or an offloaded flow decides
  Unknown,  // an expression outside the model decides
};
[[nodiscard]] std::string_view to_string(Outcome outcome);

// A base chain is met at a hook by packets of a family: one station of the way.
struct Station {
  TableFamily family = TableFamily::Ip;
  Hook hook = Hook::Forward;
};
// The ways of an IP packet between network cards, to this machine, and from it, without the bridge.
[[nodiscard]] std::vector<Station> forward_way(TableFamily family);
[[nodiscard]] std::vector<Station> input_way(TableFamily family);
[[nodiscard]] std::vector<Station> output_way(TableFamily family);

struct Step {
  Hook hook = Hook::Forward;
  Index chain = kNone;
  Index rule = kNone;  // in the chain; kNone: its policy, or its end
  std::string what;    // "accept", "jump c_web", "mark set 5", "policy drop"
};

struct Run {
  Outcome outcome = Outcome::Accept;
  std::vector<Step> steps;           // rules that did something, in order
  std::vector<std::string> because;  // what was taken one way or the other, and what is unknown
  Packet after;                      // as translated and marked
};

struct Answer {
  Outcome outcome = Outcome::Accept;
  std::vector<Run> runs;  // one for each way that it can end; the first is the answer's own
};

struct Surroundings {
  // Answers a fib query (the operand's selector and fib; without mask and flip). Without it such a
  // question is unknown.
  std::function<std::optional<Value>(const Packet&, const Operand&)> fib;
  // The address that masquerade or redirect gives to this packet at this hook. Without it the
  // address is not known.
  std::function<std::optional<Value>(const Packet&, Hook)> device_address;
  // Sets with timeouts, or that rules fill, are taken as listed. Otherwise what they hold now is
  // unknown.
  bool sets_as_listed = false;
};

// Devices of the packet: `in` is taken away at Output and `out` before routing and at Input, as the
// kernel does it. The caller says where the packet goes, also after a translation. nat chains are
// asked only for the first packet of a connection; later ones are translated by their connection.
[[nodiscard]] Answer interpret(const Ruleset& ruleset, const Packet& packet,
                               std::span<const Station> way, const Surroundings& surroundings = {});

}  // namespace bulkhead::compiler::proof
