// Decodes nft trace events (NFNLGRP_NFTRACE) on an enforcer: groups them by packet, finds the try
// that the packet belongs to, and reports one last word for each packet and place. Reads only; what
// is traced is decided by the trace table that the operator loads: `inet bulkhead_trace`, whose
// trace_pre and trace_out see a packet first, and trace_last_post and trace_last_in last.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "probes/event_loop.h"
#include "probes/expectations.h"

namespace bulkhead::probes {

// Where a packet ended. A drop anywhere is final at once. Having passed the last chain of ours is
// not: a chain of another owner may come later still and drop, so that word waits a moment.
struct LastWord {
  ExpectedTry* expected = nullptr;
  Outcome outcome = Outcome::Dropped;  // or Left, Delivered
  Tuple tuple;                         // as the packet came in
  std::string hook, table, chain, verdict, interface;
  std::uint64_t handle = 0;
};

class Tracer final : public Watcher {
 public:
  // Needs CAP_NET_ADMIN. `loop` and `expectations` outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Tracer>> open(
      EventLoop& loop, Expectations& expectations, std::function<void(const LastWord&)> report);
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  void on_ready(std::uint32_t events) override;
  // Reads all that is there and reports every packet that waits for its last word.
  void drain();
  // How often the kernel had events that did not fit the socket's buffer, since the last call.
  [[nodiscard]] std::uint64_t take_lost();
  // Chains may have been made anew under old names: their hooks are asked for again.
  void forget_chains();

 private:
  struct State;
  explicit Tracer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Whether this process may receive trace events here.
[[nodiscard]] bool can_trace();

}  // namespace bulkhead::probes
