// The conversation between operator and agent: JSON lines over one stream, schema bulkhead.agent/1.
// The operator speaks first; an agent acts only on what it was told and sends no packet that the
// plan does not name.
//
//   operator              agent
//   hello{run,agent,key}  ready{facts}                   version and identity; facts about
//   forwarding and interfaces listen{...}           listening{opened,passive,failed}   barrier: no
//   dial before every agent said so expect{round,...}     expecting{round}               tokens and
//   tuples that may arrive or cross here in this round, and by four bytes each what may arrive
//   nowhere dial{round,phase,...} evidence*,
//   dialed{round,phase} sends at most `pps` collect{round}        evidence*,
//   collected{round,generation,lost}   everything seen since; `lost`: the kernel dropped events
//   stop{}                bye{}
//                         failed{reason}                 at any time: this agent can do nothing
//                         more
// Evidence is sent as soon as it is known, by every end: the operator ends a phase early when
// nothing is open any more. A Dial does not wait for an earlier one: tries still pending stay
// pending. Dialed says that every try of the phase has its evidence. Collect ends what is still
// pending in its round (outcome Sent: no word, deadline not reached), so Dialed comes before
// Collected.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/probe_plan.h"
#include "probes/evidence.h"

namespace bulkhead::probes {

struct Hello {
  std::string run;
  std::string agent;
  std::array<std::uint8_t, 32> key{};  // this agent's alone; proves who answered
  bool enforcer = false;               // decode nft trace events too
  // By which packets that are for others are looked for as well; none: by all but lo.
  std::vector<std::string> nics{};
};
struct Listener {
  compiler::Transport transport = compiler::Transport::Tcp;
  Address address;
  std::uint16_t port = 0;
};
struct Listen {
  std::vector<Listener> listeners;
};
struct Expected {  // one try as it may be seen by a listener or an enforcer
  std::string probe;
  std::uint32_t attempt = 1;
  compiler::Transport transport = compiler::Transport::Tcp;
  compiler::Payload payload = compiler::Payload::Token;  // where in the packet the token is
  Tuple tuple;
  Token token{};
};
struct Expect {
  std::uint32_t round = 0;
  std::vector<Expected> tries;
  // Of every denied try of the round, whoever it is for: initial_sequence of its token, which no
  // two tries of a run share. Whatever carries one of them is reported by whoever sees it.
  std::vector<std::uint32_t> unwanted{};
};
// What a try is sent in, whatever the sender's routes say.
struct Frame {
  Mac to{};
  std::string nic;         // of the sender
  bool broadcast = false;  // once more to everybody
};
struct DialTry {
  Expected what;
  std::uint16_t size = 0;        // payload bytes after the token, UDP and ICMP echo only
  std::optional<Frame> frame{};  // sent whole in it, whatever the transport
};
enum class Phase : std::uint8_t { Before, Main, After };
[[nodiscard]] std::string_view to_string(Phase phase);
struct Dial {
  std::uint32_t round = 0;
  Phase phase = Phase::Main;
  std::uint32_t pps = 0;  // 0: as fast as it goes
  std::chrono::milliseconds timeout{1000};
  std::vector<DialTry> tries;
};
struct Collect {
  std::uint32_t round = 0;
};
struct Stop {};
using ToAgent = std::variant<Hello, Listen, Expect, Dial, Collect, Stop>;

struct Facts {
  std::string kernel;
  bool forwards_v4 = false,
       forwards_v6 = false;  // net.ipv4.ip_forward, net.ipv6.conf.all.forwarding
  std::vector<std::string> interfaces;
  bool can_trace = false;
  std::vector<Mac> macs{};  // of each interface; zero where it has none
};
struct Ready {
  std::string version;
  Facts facts;
};
struct Listening {
  struct Other {
    Listener listener;
    std::string reason;
  };
  std::uint32_t opened = 0;
  std::vector<Other> passive;  // a real service holds it: watched, not taken
  std::vector<Other> failed;
};
struct Expecting {
  std::uint32_t round = 0;
};
struct Dialed {
  std::uint32_t round = 0;
  Phase phase = Phase::Main;
};
struct Collected {
  std::uint32_t round = 0;
  std::uint32_t generation = 0;  // nf_tables generation now; 0 where not an enforcer
  std::uint64_t lost = 0;        // capture or trace events that the kernel could not deliver
};
struct Bye {};
struct Failed {
  std::string reason;
};
using FromAgent =
    std::variant<Ready, Listening, Expecting, Evidence, Dialed, Collected, Bye, Failed>;

[[nodiscard]] std::string to_json_line(const ToAgent& message);
[[nodiscard]] std::string to_json_line(const FromAgent& message);
// Strict: unknown type, missing or ill-typed fields, wrong schema, lines over 16 MiB are errors,
// never a crash (fuzzed).
[[nodiscard]] Result<ToAgent> to_agent_from_json(std::string_view line);
[[nodiscard]] Result<FromAgent> from_agent_from_json(std::string_view line);
// Of a line that is no message of ours: the version of the agent, where it is some agent's `ready`
// or `failed` all the same ("unknown" where it does not say). Else none: a login script's words.
[[nodiscard]] std::optional<std::string> stranger_version(std::string_view line);

}  // namespace bulkhead::probes
