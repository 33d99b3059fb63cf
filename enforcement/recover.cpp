#include "enforcement/recover.h"

#include <fmt/format.h>

#include "enforcement/restore.h"

namespace bulkhead::enforcement {

namespace {

using State = GenerationState;

// The kernel forgot the rules, whatever they were; `bulkhead boot` loads what was confirmed.
Status end_by_boot(Journal& journal, Generation& generation) {
  generation.state = generation.state == State::Loaded ? State::Undone : State::Failed;
  generation.why = "the machine was started anew before it was confirmed";
  generation.deadline.reset();
  return journal.write(generation);
}

}  // namespace

std::optional<std::string> why_it_must_end(const Generation& generation) {
  if (!generation.applier.is_alive())
    return fmt::format("`apply` (pid {}) ended before it was confirmed", generation.applier.pid);
  if (generation.deadline && since_boot() >= *generation.deadline)
    return "not confirmed in time";
  return std::nullopt;
}

Result<std::vector<std::string>> recover(Backend& backend, Journal& journal) {
  auto generations = journal.all();
  if (!generations)
    return fail(generations.error());
  std::vector<std::string> done;
  for (Generation& generation : *generations) {
    if (is_final(generation.state))
      continue;
    if (generation.boot != boot_id()) {
      if (Status ended = end_by_boot(journal, generation); !ended)
        return fail(ended.error());
    } else if (generation.netns != netns_inode()) {
      return fail(ErrorKind::Environment,
                  fmt::format("{} is of another network namespace, and generation {} is not "
                              "finished there: give each namespace its own --state",
                              journal.folder().string(), generation.number));
    } else {
      // Prepared is only ever seen by others when its process, which held the lock, is gone.
      auto why = why_it_must_end(generation);
      if (!why && generation.state == State::Loaded)
        return fail(ErrorKind::Environment,
                    fmt::format("generation {0} waits for its confirmation: `bulkhead confirm {0}` "
                                "or `bulkhead rollback {0}` first",
                                generation.number));
      const std::string reason = why.value_or("its process did not finish it");
      if (Status restored = restore(backend, journal, generation, reason); !restored)
        return fail(restored.error());
    }
    done.push_back(fmt::format("generation {} was unfinished: {}, {}", generation.number,
                               to_string(generation.state), generation.why));
  }
  return done;
}

}  // namespace bulkhead::enforcement
