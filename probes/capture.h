// Watches what the host's NICs receive, before any firewall of the host, and reports each expected
// try once: a SYN that arrives is one-way arrival, whatever becomes of the handshake, and a port
// that a real service holds is watched this way alone. Sends nothing.
#pragma once

#include <functional>
#include <memory>

#include "policy/support/handle.h"
#include "probes/event_loop.h"
#include "probes/expectations.h"

namespace bulkhead::probes {

struct Sighting {
  ExpectedTry* expected = nullptr;
  Outcome outcome = Outcome::PacketSeen;  // or SynSeen
  Tuple tuple;                            // as it arrived
  bool token_seen = false;                // false: known by its 5-tuple alone
  std::string interface;
};

class Capture final : public Watcher {
 public:
  // Needs CAP_NET_RAW. `loop` and `expectations` outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Capture>> open(
      EventLoop& loop, Expectations& expectations, std::function<void(const Sighting&)> report);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  void on_ready(std::uint32_t events) override;
  void drain();  // what is there, within reason
  // Packets that did not fit the socket's buffer since the last call.
  [[nodiscard]] std::uint64_t take_lost();

 private:
  Capture(EventLoop& loop, Expectations& expectations, std::function<void(const Sighting&)> report,
          UniqueFd fd);
  bool read_batch();  // false: nothing left
  void handle(std::span<const std::uint8_t> packet, int interface_index);

  EventLoop& loop_;
  Expectations& expectations_;
  std::function<void(const Sighting&)> report_;
  UniqueFd fd_;
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace bulkhead::probes
