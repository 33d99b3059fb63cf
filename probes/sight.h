// What all ends together saw of one try: the evidence sorted by what it says about the packet, with
// forged and foreign pieces set apart. judge.cpp's tables ask only this.
#pragma once

#include <string>

#include "probes/judge.h"

namespace bulkhead::probes {

// Pointers go into the try, which must outlive this; null: not seen.
struct Sight {
  const ProbeCase& probe_case;
  const TryRecord& attempt;

  // Dialer: its last word, and what its answer is worth.
  const Evidence* dialer = nullptr;
  bool answer_valid = false;     // the listener's own MAC over this try's token (ICMP: echo reply)
  bool answer_stranger = false;  // something answered, or shook hands, that is not the listener

  // Listener, through the channel of the very host that was asked.
  const Evidence* token_arrived = nullptr;   // a socket read this try's token
  const Evidence* packet_arrived = nullptr;  // the NIC received its SYN, datagram or echo request
  bool translated = false;                   // it arrived with another 5-tuple than was sent

  // By a host that it was not for, and that must not see it.
  const Evidence* astray = nullptr;

  // Enforcers of the path.
  const Evidence* dropped_as_planned = nullptr;
  const Evidence* dropped_otherwise = nullptr;  // by another rule, table or machine
  const Evidence* left = nullptr;
  const Evidence* delivered_locally = nullptr;

  // Evidence that cannot be of this try: token or host wrong, or one token from two places.
  const Evidence* forged = nullptr;

  [[nodiscard]] bool arrived() const { return token_arrived || packet_arrived; }
  [[nodiscard]] bool dropped() const { return dropped_as_planned || dropped_otherwise; }
  [[nodiscard]] bool passed_enforcer() const { return left || delivered_locally; }
  [[nodiscard]] bool agent_missing() const {
    return !attempt.dialer_alive || !attempt.listener_alive || !attempt.watcher_alive;
  }
  [[nodiscard]] bool dialer_says(Outcome outcome) const {
    return dialer && dialer->outcome == outcome;
  }
  // Nothing came back to a packet that was sent. Where no neighbour answers ARP or ND (ports kept
  // apart), the sender's own stack reports "host unreachable" from its own address after three
  // seconds: silence as well.
  [[nodiscard]] bool silence() const;
  // A rule of the sender's own host took it, and no enforcer of ours saw it: it says nothing of the
  // network.
  [[nodiscard]] bool refused_locally() const;
  [[nodiscard]] bool one_way() const {  // its arrival is all there is to see
    return probe_case.probe.payload != compiler::Payload::Token ||
           probe_case.probe.transport == compiler::Transport::Raw;
  }
  [[nodiscard]] bool source_good() const { return attempt.source.good(); }
  [[nodiscard]] bool target_good() const {
    return probe_case.probe.to.agentless || attempt.target.good();
  }
  [[nodiscard]] bool controls_good() const { return source_good() && target_good(); }
  // Silence proves something only where real flows crossed the network to and from both ends: an
  // anchor would also answer behind a cut cable.
  [[nodiscard]] bool flow_controls_good() const {
    return controls_good() && !attempt.source.anchor && !attempt.target.anchor;
  }
  // No frame came across to another segment. Nobody sees it stop, so both ends have to be well.
  [[nodiscard]] bool not_joined() const {
    return probe_case.bridged() && silence() && controls_good();
  }
  // The sender's own stack sends it where it has to go: over a link that works, on the link to
  // nobody but the destination, and else to the segment's gateway. An entry written by hand goes
  // wherever that says, and silence then proves nothing.
  [[nodiscard]] bool sender_in_order() const;
  // The gateway itself, or the sender's stack in a segment without a router, knows no way.
  [[nodiscard]] bool route_is_absent() const;
};

[[nodiscard]] Sight look_at(const ProbeCase& probe_case, const TryRecord& attempt);

}  // namespace bulkhead::probes
