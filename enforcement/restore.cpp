#include "enforcement/restore.h"

#include <fmt/format.h>

#include <algorithm>

#include "enforcement/revoke.h"

namespace bulkhead::enforcement {

namespace {

Status bring_back(Backend& backend, const Journal& journal, const Generation& generation,
                  std::string& why) {
  const auto live = backend.read();
  if (!live)
    return fail(live.error());
  if (live->ours == generation.before)
    return {};
  if (!generation.after.empty() && live->ours != generation.after)
    why += "; somebody else had changed the rules of bulkhead since";
  const auto change = journal.before(generation.number);
  if (!change)
    return fail(change.error());
  if (Status applied = backend.apply(*change); !applied)
    return applied;
  const auto now = backend.read();
  if (!now)
    return fail(now.error());
  if (now->ours != generation.before)
    return fail(ErrorKind::Environment, "other rules are there than before");
  return {};
}

// What the undone rules let in is not left to live on under the old ones. Only a state that a
// generation of ours made has a policy to ask.
Status cut_what_it_opened(Backend& backend, const Journal& journal, const std::string& state) {
  const auto generations = journal.all();
  if (!generations)
    return fail(generations.error());
  const auto maker =
      std::find_if(generations->rbegin(), generations->rend(), [&](const Generation& one) {
        return one.state == GenerationState::Confirmed && one.after == state;
      });
  if (maker == generations->rend())
    return {};
  const auto target = target_of(journal, *maker);
  if (!target)
    return fail(target.error());
  return revoke(backend, *target).map([](auto&&) {});
}

}  // namespace

Status restore(Backend& backend, Journal& journal, Generation& generation, const std::string& why) {
  const bool was_loaded = !generation.after.empty();
  generation.why = why;
  if (Status back = bring_back(backend, journal, generation, generation.why); !back)
    return fail(back.error().context(fmt::format(
        "generation {} could not be undone, look at the rules at once", generation.number)));
  if (was_loaded)
    if (Status cut = cut_what_it_opened(backend, journal, generation.before); !cut)
      generation.why += "; connections that it let in may live on: " + cut.error().message;
  generation.state = was_loaded ? GenerationState::Undone : GenerationState::Failed;
  generation.deadline.reset();
  return journal.write(generation);
}

}  // namespace bulkhead::enforcement
