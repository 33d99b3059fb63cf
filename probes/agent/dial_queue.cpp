#include "probes/agent/dial_queue.h"

#include <algorithm>

namespace bulkhead::probes {
namespace {

// Between two looks at the sockets: enough to be quick, few enough that answers do not pile up.
constexpr int kSlice = 32;

std::uint32_t packets_of(const DialTry& what) {
  constexpr std::uint32_t kFragment = 1400;
  return 1 + what.size / kFragment;
}

}  // namespace

bool DialQueue::Pace::take(std::uint32_t pps, std::uint32_t packets) {
  if (pps == 0)
    return true;
  using namespace std::chrono_literals;
  const auto now = Clock::now();
  if (next_ > now)
    return false;
  const auto cost = std::chrono::duration_cast<Clock::duration>(1s) * packets / pps;
  next_ = std::max(next_, now - 50ms) + cost;
  return true;
}

DialQueue::DialQueue(EventLoop& loop, Reports reports, std::size_t most_in_flight)
    : loop_(loop),
      reports_(std::move(reports)),
      most_in_flight_(most_in_flight),
      detour_dialer_(make_detour_dialer(*this)) {
  for (const TransportRow& row : transports())
    dialers_.emplace_back(row.transport, row.make_dialer(loop, *this));
}

Dialer& DialQueue::dialer_of(const DialTry& what) {
  if (what.frame)
    return *detour_dialer_;
  return *std::find_if(dialers_.begin(), dialers_.end(), [&](const auto& entry) {
            return entry.first == what.what.transport;
          })->second;
}

void DialQueue::dial(Dial dial) {
  auto batch = std::make_shared<Batch>(
      Batch{dial.round, dial.phase, dial.pps, dial.timeout, dial.tries.size()});
  if (dial.tries.empty())
    reports_.dialed(batch->round, batch->phase);
  for (DialTry& what : dial.tries)
    waiting_.push_back({batch, std::move(what), {}});
}

bool DialQueue::pump() {
  for (int i = 0; i < kSlice; ++i) {
    if (waiting_.empty() || paused_ || in_flight_.size() >= most_in_flight_)
      return false;
    if (!pace_.take(waiting_.front().batch->pps, packets_of(waiting_.front().what))) {
      paused_ = true;
      loop_.at(pace_.next(), [this] { paused_ = false; });
      return false;
    }
    Try entry = std::move(waiting_.front());
    waiting_.pop_front();
    start(std::move(entry));
  }
  return true;
}

void DialQueue::start(Try entry) {
  const TryId id = next_id_++;
  entry.started = Clock::now();
  const auto deadline = entry.started + entry.batch->timeout;
  const auto [placed, fresh] = in_flight_.emplace(id, std::move(entry));
  deadlines_.emplace(deadline, id);
  if (!timer_ || deadline < *timer_) {
    timer_ = deadline;
    loop_.at(deadline, [this] { expire(); });
  }
  // A copy: the try may end, and its entry with it, inside.
  const DialTry what = placed->second.what;
  dialer_of(what).start(id, what);
}

void DialQueue::ended(TryId id, Ending ending) {
  const auto found = in_flight_.find(id);
  const Try entry = std::move(found->second);
  in_flight_.erase(found);
  finish(entry, ending);
}

void DialQueue::finish(const Try& entry, const Ending& ending) {
  const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(
      entry.started == Clock::time_point{} ? Clock::duration::zero()
                                           : Clock::now() - entry.started);
  reports_.ended(entry.batch->round, entry.what, ending, elapsed);
  if (--entry.batch->open == 0)
    reports_.dialed(entry.batch->round, entry.batch->phase);
}

void DialQueue::expire() {
  timer_.reset();
  const auto now = Clock::now();
  while (!deadlines_.empty()) {
    const auto [deadline, id] = deadlines_.top();
    const auto found = in_flight_.find(id);
    if (found != in_flight_.end()) {
      if (deadline > now) {
        timer_ = deadline;
        loop_.at(deadline, [this] { expire(); });
        return;
      }
      ended(id, dialer_of(found->second.what).give_up(id));
    }
    deadlines_.pop();
  }
}

void DialQueue::end_round(std::uint32_t round) {
  std::vector<TryId> open;
  for (const auto& [id, entry] : in_flight_) {
    if (entry.batch->round == round)
      open.push_back(id);
  }
  std::sort(open.begin(), open.end());
  for (const TryId id : open) {
    Ending ending = dialer_of(in_flight_.at(id).what).give_up(id);
    if (ending.outcome == Outcome::Timeout)
      ending.outcome = Outcome::Sent;
    ended(id, std::move(ending));
  }
  std::deque<Try> others;
  for (Try& entry : std::exchange(waiting_, {})) {
    if (entry.batch->round != round) {
      others.push_back(std::move(entry));
      continue;
    }
    Ending ending;
    ending.detail = "the round ended before it was sent";
    finish(entry, ending);
  }
  waiting_ = std::move(others);
}

}  // namespace bulkhead::probes
