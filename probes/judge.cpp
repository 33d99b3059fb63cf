#include "probes/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "probes/sight.h"
#include "probes/verdict_text.h"

namespace bulkhead::probes {
namespace {

using compiler::Cause;
using compiler::Expect;
using compiler::Transport;

// One line of docs/verdicts.md. Of a table the first row that is true decides.
struct Row {
  Finding finding;
  const char* kind;
  bool (*is_so)(const Sight&);
  const char* reason;
  // Always: no other try of the probe changes it. Again: another try decides, if there is one.
  enum class Weight { Normal, Always, Again } weight = Row::Weight::Normal;
};

// A packet that the policy denies. Rows that show it on the far side come first, whatever else is
// known: a packet that was there was there.
constexpr Row kDenied[] = {
    {Finding::Leak, "delivered", [](const Sight& s) { return s.token_arrived != nullptr; },
     "the listener read it", Row::Weight::Always},
    {Finding::Leak, "arrived", [](const Sight& s) { return s.packet_arrived != nullptr; },
     "it arrived at the listener's interface", Row::Weight::Always},
    {Finding::Leak, "delivered", [](const Sight& s) { return s.delivered_locally != nullptr; },
     "the enforcer's own socket received it", Row::Weight::Always},
    {Finding::Leak, "reached another host", [](const Sight& s) { return s.astray != nullptr; },
     "a host received it that it was not for", Row::Weight::Always},
    {Finding::Leak, "answered", [](const Sight& s) { return s.answer_valid; },
     "the listener's answer came back", Row::Weight::Always},
    {Finding::Leak, "answered by another host",
     [](const Sight& s) { return s.answer_stranger || s.dialer_says(Outcome::Accepted); },
     "something that is not our listener answered at this address", Row::Weight::Always},
    {Finding::Leak, "passed the enforcer",
     [](const Sight& s) { return s.left != nullptr && !s.dropped(); },
     "the enforcer let it out towards its destination", Row::Weight::Always},
    {Finding::Leak, "refused by host",
     [](const Sight& s) {
       return s.dialer_says(Outcome::Refused) && !s.dropped() &&
              s.dialer->icmp_from == s.probe_case.probe.to.address;
     },
     "the destination itself answered that the port is closed: the path is open",
     Row::Weight::Always},

    {Finding::Inconclusive, "agent died", [](const Sight& s) { return s.agent_missing(); },
     "an agent that had to send or watch was not there"},
    {Finding::Inconclusive, "time was up", [](const Sight& s) { return s.attempt.cut_short; },
     "time was up in the middle of its round", Row::Weight::Again},
    {Finding::Inconclusive, "round void", [](const Sight& s) { return s.attempt.round_void; },
     "its round decides nothing", Row::Weight::Again},
    {Finding::Inconclusive, "events lost", [](const Sight& s) { return s.attempt.events_lost; },
     "the kernel dropped events that would have told", Row::Weight::Again},
    {Finding::Inconclusive, "set-up failed",
     [](const Sight& s) { return s.dialer_says(Outcome::SetupFailed); }, "it could not be sent"},
    {Finding::Inconclusive, "forged token", [](const Sight& s) { return s.forged != nullptr; },
     "a report carries a token, a host or a 5-tuple that is not this try's"},
    {Finding::Inconclusive, "no result",
     [](const Sight& s) { return s.dialer == nullptr && !s.dropped(); },
     "its sender never said what became of it"},

    {Finding::Inconclusive, "controls failed",
     [](const Sight& s) {
       return (s.dropped_as_planned || s.route_is_absent()) && !s.controls_good();
     },
     "it was blocked, but the exchanges around it failed too"},
    {Finding::Inconclusive, "blocked by another cause",
     [](const Sight& s) { return s.dropped_as_planned && s.left; },
     "an enforcer that should have dropped it let it pass, a later one dropped it"},
    {Finding::Conforms, "rejected",
     [](const Sight& s) { return s.dropped_as_planned && s.dialer_says(Outcome::Refused); },
     "the planned rule rejected it"},
    {Finding::Conforms, "blocked", [](const Sight& s) { return s.dropped_as_planned != nullptr; },
     "the planned rule dropped it"},
    {Finding::Inconclusive, "blocked by another cause",
     [](const Sight& s) { return s.dropped_otherwise != nullptr; },
     "it was dropped, but not by the planned cause"},
    {Finding::Conforms, "no route", [](const Sight& s) { return s.route_is_absent(); },
     "there is no route, as planned"},
    {Finding::Conforms, "not joined", [](const Sight& s) { return s.not_joined(); },
     "no frame of the one segment came to the other"},
    {Finding::Inconclusive, "nothing was sent",
     [](const Sight& s) { return s.dialer_says(Outcome::NoRoute); },
     "the sender's own stack has no route, which says nothing of the network"},
    {Finding::Inconclusive, "nothing was sent", [](const Sight& s) { return s.refused_locally(); },
     "it never left the sender, which says nothing of the network"},
    {Finding::Inconclusive, "blocked by another cause",
     [](const Sight& s) { return s.dialer_says(Outcome::Unreachable) && !s.silence(); },
     "it was answered unreachable, but not by the planned cause"},
    {Finding::Inconclusive, "refused by an unknown",
     [](const Sight& s) { return s.dialer_says(Outcome::Refused); },
     "it was refused, and nobody saw whether by the host or on the way"},

    {Finding::Inconclusive, "sender not in order",
     [](const Sight& s) {
       return s.probe_case.silence_external && s.silence() && !s.sender_in_order();
     },
     "silence, and the sender's own stack may be why"},
    {Finding::Conforms, "silence accepted",
     [](const Sight& s) {
       return s.probe_case.silence_external && s.probe_case.silence_accepted && s.silence() &&
              s.flow_controls_good();
     },
     "silence, which accept_silence lets count for this control"},
    {Finding::Silent, "silent",
     [](const Sight& s) {
       return s.probe_case.silence_external && s.silence() && s.flow_controls_good();
     },
     "silence under a control that cannot be read"},
    {Finding::Inconclusive, "silence", [](const Sight&) { return true; },
     "silence, and the planned cause was not seen"},
};

// The kernel takes it: at a host the capture sees it, at an enforcer the trace.
bool has_no_listener(const Sight& s) {
  const Transport transport = s.probe_case.probe.transport;
  return transport == Transport::Icmp || transport == Transport::Raw;
}

// Delivered, answered where an answer is due.
bool complete(const Sight& s) {
  const bool delivered = s.token_arrived || (s.packet_arrived && s.one_way()) ||
                         (has_no_listener(s) && (s.packet_arrived || s.delivered_locally)) ||
                         (s.answer_valid && s.probe_case.probe.transport != Transport::Icmp);
  return delivered && (s.answer_valid || s.one_way());
}

// A real service holds the port: it takes the packet, but cannot answer our token. What arrives at
// an enforcer its own trace tells.
bool complete_at_service(const Sight& s) {
  return s.probe_case.passive && (s.packet_arrived || s.delivered_locally) &&
         (s.probe_case.probe.transport != Transport::Tcp || s.dialer_says(Outcome::Accepted) ||
          s.dialer_says(Outcome::Answered));
}

bool bypassed(const Sight& s) {
  return !s.probe_case.enforcers.empty() && !s.passed_enforcer();
}

bool agentless(const Sight& s) {
  return s.probe_case.probe.to.agentless;
}

bool host_spoke(const Sight& s) {
  return s.dialer_says(Outcome::Answered) || s.dialer_says(Outcome::Accepted) ||
         s.dialer_says(Outcome::Refused);
}

// A packet that the policy allows. It has to be seen by everybody that it concerns.
constexpr Row kAllowed[] = {
    {Finding::Inconclusive, "agent died", [](const Sight& s) { return s.agent_missing(); },
     "an agent that had to send, answer or watch was not there"},
    {Finding::Inconclusive, "time was up", [](const Sight& s) { return s.attempt.cut_short; },
     "time was up in the middle of its round", Row::Weight::Again},
    {Finding::Inconclusive, "round void", [](const Sight& s) { return s.attempt.round_void; },
     "its round decides nothing", Row::Weight::Again},
    {Finding::Inconclusive, "set-up failed",
     [](const Sight& s) { return s.dialer_says(Outcome::SetupFailed); }, "it could not be sent"},
    {Finding::Inconclusive, "forged token", [](const Sight& s) { return s.forged != nullptr; },
     "a report carries a token, a host or a 5-tuple that is not this try's"},
    {Finding::Inconclusive, "no result", [](const Sight& s) { return s.dialer == nullptr; },
     "its sender never said what became of it"},
    {Finding::Inconclusive, "answered by another host",
     [](const Sight& s) { return s.answer_stranger; },
     "something that is not our listener answered at this address", Row::Weight::Always},

    {Finding::Inconclusive, "events lost",
     [](const Sight& s) {
       return (complete(s) || complete_at_service(s)) && bypassed(s) && s.attempt.events_lost;
     },
     "it arrived, but the enforcer's events were lost", Row::Weight::Again},
    {Finding::Inconclusive, "around the enforcer",
     [](const Sight& s) { return (complete(s) || complete_at_service(s)) && bypassed(s); },
     "it arrived, but the enforcer on its path never saw it", Row::Weight::Always},
    {Finding::Conforms, "delivered", [](const Sight& s) { return complete(s); },
     "the listener read it"},
    {Finding::Conforms, "at a real service", [](const Sight& s) { return complete_at_service(s); },
     "it arrived at a port that a real service holds"},

    {Finding::Outage, "dropped", [](const Sight& s) { return s.dropped(); }, "a rule dropped it"},
    {Finding::Conforms, "left", [](const Sight& s) { return agentless(s) && s.left; },
     "it left the enforcer towards a host without an agent"},
    {Finding::Conforms, "host spoke",
     [](const Sight& s) { return agentless(s) && s.probe_case.enforcers.empty() && host_spoke(s); },
     "the host without an agent answered"},
    {Finding::Inconclusive, "silence",
     [](const Sight& s) {
       return agentless(s) && s.probe_case.enforcers.empty() && s.dialer_says(Outcome::Timeout);
     },
     "silence of a host without an agent, with no enforcer that could have seen it leave"},

    {Finding::Inconclusive, "dead listener",
     [](const Sight& s) { return s.arrived() && s.dialer_says(Outcome::Refused); },
     "it arrived and was refused: the path is open, nobody listens"},
    {Finding::Outage, "reply blocked", [](const Sight& s) { return s.arrived(); },
     "the request arrived, the reply did not"},
    {Finding::Inconclusive, "events lost", [](const Sight& s) { return s.attempt.events_lost; },
     "the kernel dropped events that would have told", Row::Weight::Again},
    {Finding::Outage, "no route", [](const Sight& s) { return s.dialer_says(Outcome::NoRoute); },
     "the sender has no route"},
    {Finding::Outage, "unreachable",
     [](const Sight& s) { return s.dialer_says(Outcome::Unreachable); },
     "it was answered unreachable"},
    {Finding::Outage, "refused on the way",
     [](const Sight& s) { return s.dialer_says(Outcome::Refused); },
     "it was refused and never arrived"},
    {Finding::Outage, "lost behind the enforcer",
     [](const Sight& s) { return s.passed_enforcer(); },
     "the enforcer let it out, it did not arrive"},
    {Finding::Outage, "lost", [](const Sight&) { return true; }, "it did not arrive"},
};

const Row& first_true(std::span<const Row> table, const Sight& sight) {
  // The last row of each table is always true.
  return *std::find_if(table.begin(), table.end(),
                       [&](const Row& row) { return row.is_so(sight); });
}

struct Judged {
  const TryRecord* attempt = nullptr;
  const Row* row = nullptr;
};

// Sticky rows first; then, for an allowed probe, any try that came through; then the last try whose
// round was good.
Judged decisive(const std::vector<Judged>& tries, Expect expect) {
  for (const Judged& judged : tries) {
    if (judged.row->weight == Row::Weight::Always)
      return judged;
  }
  if (expect == Expect::Allow) {
    for (const Judged& judged : tries) {
      if (judged.row->finding == Finding::Conforms)
        return judged;
    }
  }
  for (auto judged = tries.rbegin(); judged != tries.rend(); ++judged) {
    if (judged->row->weight != Row::Weight::Again)
      return *judged;
  }
  return tries.back();
}

// A drop of an honest packet does not stop a neighbour on the same leg from claiming the address
// that may.
void weaken_unseparated(const ProbeCase& probe_case, Verdict& verdict) {
  if (probe_case.probe.expect != Expect::Deny || verdict.finding != Finding::Conforms ||
      probe_case.not_separated_from.empty())
    return;
  verdict.finding = Finding::NotCovered;
  verdict.kind = "not separated";
  verdict.reason += fmt::format("; but nothing tells the sender from {}, which may do this",
                                probe_case.not_separated_from);
}

}  // namespace

std::string_view to_string(Finding finding) {
  switch (finding) {
    case Finding::Conforms:
      return "Conforms";
    case Finding::NotCovered:
      return "NotCovered";
    case Finding::Silent:
      return "Silent";
    case Finding::Inconclusive:
      return "Inconclusive";
    case Finding::Outage:
      return "Outage";
    case Finding::Leak:
      return "Leak";
  }
  return "Inconclusive";
}

Verdict judge(const ProbeCase& probe_case) {
  const compiler::Probe& probe = probe_case.probe;
  Verdict verdict;
  verdict.probe = probe.id;
  verdict.cause = probe.cause;
  verdict.tries = static_cast<std::uint32_t>(probe_case.tries.size());
  if (probe_case.tries.empty()) {
    verdict.kind = "never tried";
    verdict.reason = flow_text(probe) + ": it was never tried";
    return verdict;
  }
  const std::span<const Row> table =
      probe.expect == Expect::Deny ? std::span<const Row>(kDenied) : std::span<const Row>(kAllowed);
  std::vector<Judged> tries;
  for (const TryRecord& attempt : probe_case.tries)
    tries.push_back({&attempt, &first_true(table, look_at(probe_case, attempt))});

  const Judged decided = decisive(tries, probe.expect);
  const Sight sight = look_at(probe_case, *decided.attempt);
  verdict.finding = decided.row->finding;
  verdict.kind = decided.row->kind;
  verdict.seen = seen_text(*decided.attempt);
  verdict.controls = controls_text(sight);
  verdict.reason = fmt::format("{}: {}", flow_text(probe), decided.row->reason);
  if (const std::string detail = detail_text(sight); !detail.empty())
    verdict.reason += " (" + detail + ")";
  weaken_unseparated(probe_case, verdict);
  return verdict;
}

Finding worst_of(const std::vector<Verdict>& verdicts) {
  Finding worst = Finding::Conforms;
  for (const Verdict& verdict : verdicts)
    worst = std::max(worst, verdict.finding);
  return worst;
}

std::string to_json_line(const Verdict& verdict) {
  const nlohmann::ordered_json line = {
      {"schema", "bulkhead.verdict/1"},
      {"probe", verdict.probe},
      {"finding", to_string(verdict.finding)},
      {"kind", verdict.kind},
      {"cause", to_string(verdict.cause)},
      {"seen", verdict.seen},
      {"controls", verdict.controls},
      {"tries", verdict.tries},
      {"reason", verdict.reason},
  };
  // Names that a kernel reports may hold any bytes.
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace bulkhead::probes
