#include "enforcement/enforce.h"

#include <fmt/format.h>

#include <thread>

#include "enforcement/recover.h"
#include "enforcement/restore.h"

namespace bulkhead::enforcement {

namespace {

using State = GenerationState;

constexpr auto kPatience = std::chrono::seconds(10);  // of others that are about to finish
constexpr auto kPoll = std::chrono::milliseconds(50);

class Loader {
 public:
  Loader(Backend& backend, Journal& journal, Change& change)
      : backend_(backend), journal_(journal), change_(change) {}

  Result<Outcome> run() {
    const auto lock = Lock::take(journal_.folder(), "apply");
    if (!lock)
      return fail(lock.error());
    if (Status ready = prepare(); !ready)
      return fail(ready.error());
    if (out_.was_in_force)
      return std::move(out_);
    if (Status written = write_down(); !written)
      return fail(written.error());
    if (Status loaded = load_and_read_back(); !loaded)
      return undone(loaded.error());
    if (!out_.faults.empty()) {
      if (Status back = restore(backend_, journal_, out_.generation, "not proven"); !back)
        return fail(back.error());
      return std::move(out_);
    }
    if (Status stays = settle(); !stays)
      return undone(stays.error());
    return std::move(out_);
  }

 private:
  // Everything that can refuse without a trace.
  Status prepare() {
    auto recovered = recover(backend_, journal_);
    if (!recovered)
      return fail(recovered.error());
    out_.notes = std::move(*recovered);
    auto live = backend_.read();
    if (!live)
      return fail(live.error());
    live_ = std::move(*live);
    if (change_.ours_and_foreign &&
        *change_.ours_and_foreign != std::pair(live_.ours, live_.foreign))
      return fail(ErrorKind::Environment,
                  "the rules are no longer those that the plan was made for: plan again");
    auto last = journal_.last_confirmed();
    if (!last)
      return fail(last.error());
    last_ = std::move(*last);
    if (is_in_force())
      return {};
    if (Status may = change_.may_load(live_); !may)
      return may;
    return backend_.check(change_.text);
  }

  // The same text, still there, and still right with all that others have loaded beside it.
  bool is_in_force() {
    if (!last_ || last_->after != live_.ours || last_->boot != boot_id() ||
        last_->netns != netns_inode())
      return false;
    const auto text = journal_.after(last_->number);
    if (!text || *text != change_.text || last_->bundle != change_.bundle ||
        !change_.prove(live_).empty())
      return false;
    out_.was_in_force = true;
    out_.generation = *last_;
    return true;
  }

  Status write_down() {
    Journal::Contents contents;
    contents.after = change_.text;
    contents.site = change_.site_files;
    auto before = text_of_live();
    if (!before)
      return fail(before.error());
    contents.before = std::move(*before);
    Generation generation;
    generation.enforcer = change_.enforcer;
    generation.member = change_.member;
    generation.bundle = change_.bundle;
    generation.policy = change_.policy;
    generation.as_of = change_.as_of;
    generation.why = "about to be loaded";
    generation.by = operator_name();
    generation.boot = boot_id();
    generation.netns = netns_inode();
    generation.applier = ProcessId::self();
    generation.before = live_.ours;
    generation.foreign = live_.foreign;
    auto added = journal_.add(std::move(generation), contents);
    if (!added)
      return fail(added.error());
    out_.generation = std::move(*added);
    if (Status watched = change_.start_watchdog(out_.generation); !watched) {
      out_.generation.state = State::Failed;
      out_.generation.why = watched.error().message;
      (void)journal_.write(out_.generation);  // recovered by the next verb otherwise
      return watched;
    }
    return {};
  }

  // What we loaded ourselves is known better than any listing tells it.
  Result<std::string> text_of_live() {
    if (last_ && last_->after == live_.ours)
      return journal_.after(last_->number);
    return backend_.undo(live_);
  }

  Status load_and_read_back() {
    if (Status applied = backend_.apply(change_.text); !applied)
      return applied;
    const auto now = backend_.read();
    if (!now)
      return fail(now.error());
    if (now->foreign != live_.foreign)
      out_.notes.emplace_back("another owner's rules changed meanwhile: they are in the proof");
    out_.generation.after = now->ours;
    out_.faults = change_.prove(*now);
    return {};
  }

  Status settle() {
    Generation& generation = out_.generation;
    generation.state = State::Loaded;
    generation.why = "proven, waits for its confirmation";
    if (change_.confirm_within)
      generation.deadline = since_boot() + *change_.confirm_within;
    if (Status written = journal_.write(generation); !written)
      return written;
    auto cut = change_.cut();
    if (!cut)
      return fail(cut.error());
    out_.notes.insert(out_.notes.end(), cut->begin(), cut->end());
    if (change_.confirm_within)
      return {};
    generation.state = State::Confirmed;
    generation.why = "proven";
    if (Status written = journal_.write(generation); !written) {
      generation.state = State::Loaded;
      return written;
    }
    return journal_.prune();
  }

  tl::unexpected<Error> undone(const Error& error) {
    const Status back = restore(backend_, journal_, out_.generation, error.message);
    return back ? fail(error) : fail(back.error().context(error.message));
  }

  Backend& backend_;
  Journal& journal_;
  Change& change_;
  Outcome out_;
  Snapshot live_;
  std::optional<Generation> last_;
};

// With the lock held, and the record read anew: somebody may have been quicker.
Result<Generation> waiting(const Journal& journal, std::uint64_t number) {
  auto generation = journal.get(number);
  if (!generation)
    return generation;
  if (generation->state != State::Loaded)
    return fail(ErrorKind::Usage,
                fmt::format("generation {} does not wait for confirmation: it is {} ({})", number,
                            to_string(generation->state), generation->why));
  if (generation->boot != boot_id() || generation->netns != netns_inode())
    return fail(ErrorKind::Environment,
                fmt::format("generation {} was loaded in another network namespace or before the "
                            "last boot",
                            number));
  return generation;
}

}  // namespace

Result<Outcome> load(Backend& backend, Journal& journal, Change& change) {
  return Loader(backend, journal, change).run();
}

Result<Generation> confirm(Backend& backend, Journal& journal, std::uint64_t number) {
  const auto lock = Lock::take(journal.folder(), "confirm", kPatience);
  if (!lock)
    return fail(lock.error());
  auto generation = waiting(journal, number);
  if (!generation)
    return generation;
  if (const auto why = why_it_must_end(*generation)) {
    if (Status restored = restore(backend, journal, *generation, *why); !restored)
      return fail(restored.error());
    return fail(ErrorKind::Timeout, fmt::format("generation {} is undone: {}", number, *why));
  }
  const auto live = backend.read();
  if (!live)
    return fail(live.error());
  if (live->ours != generation->after)
    return fail(
        ErrorKind::Environment,
        fmt::format("the rules are no longer those of generation {}: it is not confirmed", number));
  generation->state = State::Confirmed;
  generation->why = "confirmed by " + operator_name();
  generation->deadline.reset();
  if (Status written = journal.write(*generation); !written)
    return fail(written.error());
  if (Status pruned = journal.prune(); !pruned)
    return fail(pruned.error());
  return generation;
}

Result<Generation> give_up(Backend& backend, Journal& journal, std::uint64_t number,
                           const std::string& why) {
  const auto lock = Lock::take(journal.folder(), "rollback", kPatience);
  if (!lock)
    return fail(lock.error());
  auto generation = waiting(journal, number);
  if (!generation)
    return generation;
  if (Status restored = restore(backend, journal, *generation, why); !restored)
    return fail(restored.error());
  return generation;
}

Result<Generation> wait_for_confirmation(Backend& backend, Journal& journal, std::uint64_t number,
                                         const std::atomic<bool>& stop) {
  for (;; std::this_thread::sleep_for(kPoll)) {
    auto generation = journal.get(number);
    if (!generation || is_final(generation->state))
      return generation;
    const auto watchdog = journal.watchdog(number);
    const bool is_alone = !watchdog || !watchdog->is_alive();
    if (!stop && !(is_alone && why_it_must_end(*generation)))
      continue;
    auto ended = give_up(backend, journal, number,
                         stop ? "interrupted before it was confirmed" : "not confirmed in time");
    if (ended || ended.error().kind != ErrorKind::Usage)
      return ended;  // a usage error: the watchdog was quicker
  }
}

}  // namespace bulkhead::enforcement
