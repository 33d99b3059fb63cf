// Watches what the host's NICs receive, before any firewall of the host, and reports each expected
// try once: a SYN that arrives is one-way arrival, whatever becomes of the handshake, and a port
// that a real service holds is watched this way alone. A denied try that is for somebody else is
// reported, too, by each NIC that sees it. Sends nothing.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "policy/support/handle.h"
#include "probes/event_loop.h"
#include "probes/expectations.h"

namespace bulkhead::probes {

struct Sighting {
  ExpectedTry* expected = nullptr;        // null: a denied try that is for another host
  Outcome outcome = Outcome::PacketSeen;  // or SynSeen
  Tuple tuple;                            // as it arrived
  std::string token;                      // as far as it shows; empty: known by its 5-tuple alone
  std::string interface;
};

class Capture final : public Watcher {
 public:
  // Needs CAP_NET_RAW. `nics` are also put into promiscuous mode, as long as this lives: a copy for
  // another host has that host's address on its frame. None named: all but lo, as they are.
  // `loop` and `expectations` outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Capture>> open(
      EventLoop& loop, Expectations& expectations, const std::vector<std::string>& nics,
      std::function<void(const Sighting&)> report);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  void on_ready(std::uint32_t events) override;
  void drain();  // what is there, within reason
  // Packets that did not fit the socket's buffer since the last call.
  [[nodiscard]] std::uint64_t take_lost();

 private:
  // How a frame came.
  struct Frame {
    int interface = 0;
    bool for_us = false;  // the NIC's own address is on it
    bool tagged = false;  // of a VLAN that another interface than this one is for
  };

  Capture(EventLoop& loop, Expectations& expectations, std::function<void(const Sighting&)> report,
          UniqueFd fd);
  void watch_for_others(const std::vector<std::string>& nics);
  bool read_batch();  // false: nothing left
  void handle(std::span<const std::uint8_t> packet, const Frame& frame);
  // Completes the sighting of a try that is expected here; false: it is none, or nothing new.
  bool is_expected(const Opening& opening, compiler::Transport transport, Sighting& sighting);
  bool is_unwanted(const Opening& opening, const Frame& frame, Sighting& sighting);

  EventLoop& loop_;
  Expectations& expectations_;
  std::function<void(const Sighting&)> report_;
  UniqueFd fd_;
  std::set<int> nics_;  // by which packets for others are looked for; empty: all but lo
  std::set<std::pair<std::uint32_t, int>> unwanted_reported_;
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace bulkhead::probes
