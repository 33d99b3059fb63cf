// Short ways to say what ends saw of one try, for tests of the judge.
#pragma once

#include <string>
#include <utility>

#include "probes/identity.h"
#include "probes/judge.h"

namespace bulkhead::probes {

inline const AgentKey kListenerKey{{7}};
inline const std::string kDialer = "r1", kListener = "b1", kFirewall = "fw-a";

inline Address addr(std::string_view text) {
  return *Address::parse(text);
}

// A TCP probe from r1 over fw-a to b1, all agents alive, controls good; each test adds what was
// seen.
inline ProbeCase some_case(compiler::Expect expect) {
  ProbeCase out;
  out.probe.id = "p-000001";
  out.probe.from = {0, kDialer, "e0", addr("10.1.0.11"), false, {}};
  out.probe.to = {1, kListener, "e0", addr("10.2.0.11"), false, {}};
  out.probe.transport = compiler::Transport::Tcp;
  out.probe.port = 22;
  out.probe.expect = expect;
  out.probe.cause =
      expect == compiler::Expect::Deny ? compiler::Cause::Rule : compiler::Cause::None;
  out.probe.enforcer = "fw";
  out.probe.rule = expect == compiler::Expect::Deny ? "default" : "F1";
  out.expected_answer_key = bytes_to_hex(kListenerKey);
  out.enforcers = {kFirewall, "fw-b"};
  out.planned_rules = {"default"};
  return out;
}
inline ProbeCase denied() {
  return some_case(compiler::Expect::Deny);
}
inline ProbeCase allowed() {
  return some_case(compiler::Expect::Allow);
}

class Try {
 public:
  explicit Try(ProbeCase& probe_case) : case_(probe_case) {
    TryRecord& record = case_.tries.emplace_back();
    record.attempt = static_cast<std::uint32_t>(case_.tries.size());
    record.round = record.attempt;
    record.token.fill(static_cast<std::uint8_t>(0x40 + record.attempt));
    record.sent = {case_.probe.from.address, static_cast<std::uint16_t>(20000 + record.attempt),
                   case_.probe.to.address, case_.probe.port};
    record.source = record.target = {Control3::Good, Control3::Good, false};
  }
  [[nodiscard]] TryRecord& record() { return case_.tries.back(); }

  Evidence& saw(End end, const std::string& agent, Outcome outcome) {
    Evidence& evidence = record().evidence.emplace_back();
    evidence.probe = case_.probe.id;
    evidence.attempt = record().attempt;
    evidence.end = end;
    evidence.agent = agent;
    evidence.outcome = outcome;
    evidence.tuple = record().sent;
    evidence.token = to_hex(record().token);
    return evidence;
  }
  Evidence& dialer(Outcome outcome) { return saw(End::Dialer, case_.probe.from.host, outcome); }
  // Until the deadline, with a sender that asked for the destination by ARP.
  Evidence& silence() {
    Evidence& evidence = dialer(Outcome::Timeout);
    evidence.next_hop = NextHop{case_.probe.to.address, std::nullopt, false, true};
    return evidence;
  }
  Evidence& listener(Outcome outcome) { return saw(End::Listener, case_.probe.to.host, outcome); }
  Evidence& answered() {
    Evidence& evidence = dialer(Outcome::Answered);
    evidence.answer = to_hex(answer_to(kListenerKey, record().token));
    return evidence;
  }
  Evidence& dropped(const std::string& rule = "default",
                    const std::string& table = "inet bulkhead") {
    Evidence& evidence = saw(End::Enforcer, kFirewall, Outcome::Dropped);
    evidence.rule = rule;
    evidence.table = table;
    evidence.chain = "c_red";
    evidence.verdict = "drop";
    return evidence;
  }
  Evidence& left() { return saw(End::Enforcer, kFirewall, Outcome::Left); }

 private:
  ProbeCase& case_;
};

}  // namespace bulkhead::probes
