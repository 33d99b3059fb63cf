#include "enforcement/plan.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "enforcement/backends/nft_backend.h"
#include "enforcement/backends/process.h"
#include "enforcement/lockout.h"
#include "enforcement/revoke.h"
#include "policy/support/handle.h"

namespace bulkhead::enforcement {

namespace {

namespace proof = compiler::proof;
using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "bulkhead.plan/1";
constexpr std::size_t kMostDifferences = 64;  // of a finding

// A file without a name that a child can open.
Result<UniqueFd> in_memory(const std::string& text) {
  UniqueFd file(::memfd_create("bulkhead", 0));
  if (!file)
    return fail_errno("keep a text in memory", errno);
  for (std::string_view left = text; !left.empty();) {
    const ssize_t wrote = ::write(file.get(), left.data(), left.size());
    if (wrote <= 0)
      return fail_errno("keep a text in memory", errno);
    left.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return file;
}

// What we loaded ourselves as we wrote it; what somebody else did to our table, as nft lists it.
Result<std::string> text_of_live(Backend& backend, const Snapshot& live, const Target* last,
                                 const Generation* generation) {
  if (live.ours == kNothing)
    return std::string();
  if (last != nullptr && generation != nullptr && generation->after == live.ours)
    return last->change;
  return backend.undo(live);
}

}  // namespace

std::string to_json(const SavedPlan& plan) {
  const Json json{{"schema", kSchema}, {"bundle", plan.bundle}, {"digest", plan.digest},
                  {"host", plan.host}, {"ours", plan.ours},     {"foreign", plan.foreign}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<SavedPlan> parse_plan(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    if (json.at("schema").get<std::string>() != kSchema)
      throw std::invalid_argument(fmt::format("schema is not {}", kSchema));
    return SavedPlan{json.at("bundle"), json.at("digest"), json.at("host"), json.at("ours"),
                     json.at("foreign")};
  } catch (const std::exception& wrong) {
    return fail(
        ErrorKind::Usage,
        fmt::format("neither a bundle nor a plan of `bulkhead plan --output`: {}", wrong.what()));
  }
}

Result<std::string> text_diff(const std::string& before_name, const std::string& before,
                              const std::string& after_name, const std::string& after) {
  const auto old_file = in_memory(before), new_file = in_memory(after);
  if (!old_file)
    return fail(old_file.error());
  if (!new_file)
    return fail(new_file.error());
  const auto path = [](const UniqueFd& file) {
    return fmt::format("/proc/{}/fd/{}", ::getpid(), file.get());
  };
  const auto ran = run_process({"diff", "-u", "--label", before_name, "--label", after_name,
                                path(*old_file), path(*new_file)},
                               "");
  if (!ran)
    return fail(ran.error());
  if (ran->status > 1)
    return fail(ErrorKind::Environment, "diff: " + ran->err);
  return ran->out;
}

Result<Planned> plan(Backend& backend, const Target& target, const Target* last,
                     const Generation* last_generation) {
  Planned out;
  auto live = backend.read();
  if (!live)
    return fail(live.error());
  out.live = std::move(*live);
  const auto before = rules_of(out.live);
  if (!before)
    return fail(before.error());
  const auto after = rules_with(out.live, target.change);
  if (!after)
    return fail(after.error());
  out.rules =
      proof::diff(*before, *after, proof::Naming(target.site.get(), target.view), kMostDifferences);
  const auto text = text_of_live(backend, out.live, last, last_generation);
  if (!text)
    return fail(text.error());
  auto diff = text_diff("live", *text, "new", target.change);
  if (!diff)
    return fail(diff.error());
  out.text_diff = std::move(*diff);
  out.is_loaded = out.text_diff.empty();
  auto cut = forbidden_connections(backend, target);
  if (!cut)
    return fail(cut.error());
  out.cut = std::move(*cut);
  auto locked = lockouts(out.live, target, last);
  if (!locked)
    return fail(locked.error());
  out.lockouts = std::move(*locked);
  return out;
}

}  // namespace bulkhead::enforcement
