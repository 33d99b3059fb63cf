// The tries that this agent was told to dial: waiting, in flight, over. Paces them, ends them at
// their deadline, and says when a dial message is done.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "probes/transports/transport.h"

namespace bulkhead::probes {

class DialQueue final : public DialSink {
 public:
  struct Reports {
    // What became of one try. Before its batch's `dialed`.
    std::function<void(std::uint32_t round, const DialTry&, const Ending&,
                       std::chrono::microseconds elapsed)>
        ended;
    std::function<void(std::uint32_t round, Phase)> dialed;
  };
  // At most `most_in_flight` at a time, since each holds a file descriptor.
  DialQueue(EventLoop& loop, Reports reports, std::size_t most_in_flight);

  void dial(Dial dial);
  // The round is over: what is in flight ends as Sent (or as far as it came), what was never sent
  // as SetupFailed.
  void end_round(std::uint32_t round);
  // Starts what may start now. True: call again without waiting for anything.
  bool pump();
  [[nodiscard]] bool idle() const { return in_flight_.empty() && waiting_.empty(); }

  void ended(TryId id, Ending ending) override;

 private:
  using Clock = EventLoop::Clock;
  struct Batch {
    std::uint32_t round;
    Phase phase;
    std::uint32_t pps;
    std::chrono::milliseconds timeout;
    std::size_t open;  // tries not over yet
  };
  struct Try {
    std::shared_ptr<Batch> batch;
    DialTry what;
    Clock::time_point started;
  };
  // Allows `pps` packets a second, and a twentieth of that at once.
  class Pace {
   public:
    bool take(std::uint32_t pps, std::uint32_t packets);
    [[nodiscard]] Clock::time_point next() const { return next_; }

   private:
    Clock::time_point next_{};
  };

  void start(Try entry);
  void finish(const Try& entry, const Ending& ending);
  void expire();
  Dialer& dialer_of(const DialTry& what);

  EventLoop& loop_;
  Reports reports_;
  std::size_t most_in_flight_;
  std::vector<std::pair<compiler::Transport, std::unique_ptr<Dialer>>> dialers_;
  std::unique_ptr<Dialer> detour_dialer_;
  std::deque<Try> waiting_;
  std::unordered_map<TryId, Try> in_flight_;
  std::priority_queue<std::pair<Clock::time_point, TryId>,
                      std::vector<std::pair<Clock::time_point, TryId>>, std::greater<>>
      deadlines_;
  std::optional<Clock::time_point> timer_;  // of the earliest deadline
  TryId next_id_ = 0;
  Pace pace_;
  bool paused_ = false;  // a timer of the pace will go on
};

}  // namespace bulkhead::probes
