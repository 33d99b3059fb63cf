#include "enforcement/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>

#include "enforcement/file.h"
#include "policy/support/handle.h"

namespace bulkhead::enforcement {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKept = 10;

Status make_folder(const fs::path& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fail_errno("make " + path.string(), errno);
  return {};
}

Status make_parents(const fs::path& root, const fs::path& relative) {
  fs::path path = root;
  for (const fs::path& part : relative.parent_path())
    if (Status made = make_folder(path /= part); !made)
      return made;
  return {};
}

Status sync_folder(const fs::path& path) {
  const UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0)
    return fail_errno("write " + path.string(), errno);
  return {};
}

std::optional<std::uint64_t> number_of(const fs::path& path) {
  const std::string name = path.filename().string();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size())
    return std::nullopt;
  return number;
}

Result<std::vector<std::uint64_t>> numbers_in(const fs::path& folder) {
  std::vector<std::uint64_t> out;
  std::error_code error;
  if (!fs::exists(folder, error) && !error)
    return out;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (const auto number = number_of(it->path()))
      out.push_back(*number);
  if (error)
    return fail(ErrorKind::Environment,
                fmt::format("read {}: {}", folder.string(), error.message()));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

fs::path Journal::path_of(std::uint64_t number) const {
  return folder_ / "generations" / std::to_string(number);
}

Result<Journal> Journal::open(const fs::path& folder) {
  std::error_code error;
  if (folder.has_parent_path())
    fs::create_directories(folder.parent_path(), error);
  if (error)
    return fail(ErrorKind::Environment,
                fmt::format("make {}: {}", folder.parent_path().string(), error.message()));
  for (const fs::path& path : {folder, folder / "generations"})
    if (Status made = make_folder(path); !made)
      return fail(made.error());
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0)
    return fail_errno("look at " + folder.string(), errno);
  if (status.st_uid != ::geteuid() || (status.st_mode & 022) != 0)
    return fail(ErrorKind::Environment,
                folder.string() + " can be written by others, who could have rules loaded by it");
  return Journal(folder);
}

// Under a name that is no number until it is complete: a crash leaves nothing that looks like a
// generation.
Result<Generation> Journal::add(Generation generation, const Contents& contents) {
  const auto numbers = numbers_in(folder_ / "generations");
  if (!numbers)
    return fail(numbers.error());
  generation.number = numbers->empty() ? 1 : numbers->back() + 1;
  generation.written = wall_time();
  const fs::path fresh = folder_ / "generations" / "new";
  std::error_code ignored;
  fs::remove_all(fresh, ignored);
  const auto write_all = [&]() -> Status {
    if (Status made = make_folder(fresh); !made)
      return made;
    std::map<std::string, const std::string*> files{{"before", &contents.before},
                                                    {"after", &contents.after}};
    for (const auto& [path, text] : contents.site)
      files.emplace("site/" + path, &text);
    for (const auto& [path, text] : files) {
      if (Status made = make_parents(fresh, path); !made)
        return made;
      if (Status written = write_whole(fresh / path, *text); !written)
        return written;
    }
    return write_whole(fresh / "record.json", to_json(generation));
  };
  Status written = write_all();
  if (written && ::rename(fresh.c_str(), path_of(generation.number).c_str()) != 0)
    written = fail_errno("make " + path_of(generation.number).string(), errno);
  if (!written) {
    fs::remove_all(fresh, ignored);
    return fail(written.error().context("the journal cannot be written, so nothing was changed"));
  }
  if (Status synced = sync_folder(folder_ / "generations"); !synced)
    return fail(synced.error());
  return generation;
}

Status Journal::write(Generation& generation) {
  generation.written = wall_time();
  return write_whole(path_of(generation.number) / "record.json", to_json(generation));
}

Result<Generation> Journal::get(std::uint64_t number) const {
  const fs::path path = path_of(number) / "record.json";
  const auto text = read_whole(path);
  if (!text) {
    std::error_code error;
    if (!fs::exists(path_of(number), error))
      return fail(ErrorKind::Usage,
                  fmt::format("there is no generation {} in {}", number, folder_.string()));
    return fail(text.error());
  }
  auto generation = parse_generation(*text);
  if (!generation)
    return fail(generation.error().context(path.string()));
  if (generation->number != number)
    return fail(ErrorKind::Environment, fmt::format("{} is the record of generation {}",
                                                    path.string(), generation->number));
  return generation;
}

Result<std::vector<Generation>> Journal::all() const {
  const auto numbers = numbers_in(folder_ / "generations");
  if (!numbers)
    return fail(numbers.error());
  std::vector<Generation> out;
  for (const std::uint64_t number : *numbers) {
    auto generation = get(number);
    if (!generation)
      return fail(generation.error());
    out.push_back(std::move(*generation));
  }
  return out;
}

Result<std::optional<Generation>> Journal::last_confirmed() const {
  auto generations = all();
  if (!generations)
    return fail(generations.error());
  for (auto it = generations->rbegin(); it != generations->rend(); ++it)
    if (it->state == GenerationState::Confirmed)
      return std::optional(std::move(*it));
  return std::optional<Generation>();
}

Result<std::string> Journal::before(std::uint64_t number) const {
  return read_whole(path_of(number) / "before");
}
Result<std::string> Journal::after(std::uint64_t number) const {
  return read_whole(path_of(number) / "after");
}

Result<std::map<std::string, std::string>> Journal::site(std::uint64_t number) const {
  const fs::path root = path_of(number) / "site";
  std::map<std::string, std::string> out;
  std::error_code error;
  for (fs::recursive_directory_iterator it(root, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_directory())
      continue;
    auto text = read_whole(it->path());
    if (!text)
      return fail(text.error());
    out.emplace(it->path().lexically_relative(root).generic_string(), std::move(*text));
  }
  if (error)
    return fail(ErrorKind::Environment, fmt::format("read {}: {}", root.string(), error.message()));
  return out;
}

Status Journal::write_watchdog(std::uint64_t number, const ProcessId& process) {
  const nlohmann::json json{{"pid", process.pid}, {"started", process.started}};
  return write_whole(path_of(number) / "watchdog.json", json.dump() + "\n");
}

std::optional<ProcessId> Journal::watchdog(std::uint64_t number) const {
  const auto text = read_whole(path_of(number) / "watchdog.json");
  if (!text)
    return std::nullopt;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("pid") || !json["pid"].is_number_integer())
    return std::nullopt;
  return ProcessId{json["pid"].get<int>(), json.value("started", "")};
}

Status Journal::prune() {
  const auto generations = all();
  if (!generations)
    return fail(generations.error());
  std::size_t confirmed = 0;
  for (auto it = generations->rbegin(); it != generations->rend(); ++it) {
    if (confirmed >= kKept && is_final(it->state)) {
      // Under another name first: a crash in between leaves no generation without its record.
      const fs::path gone = folder_ / "generations" / "gone";
      std::error_code error;
      fs::remove_all(gone, error);
      if (!error)
        fs::rename(path_of(it->number), gone, error);
      if (!error)
        fs::remove_all(gone, error);
      if (error)
        return fail(ErrorKind::Environment,
                    fmt::format("remove {}: {}", path_of(it->number).string(), error.message()));
    }
    confirmed += it->state == GenerationState::Confirmed ? 1 : 0;
  }
  return {};
}

}  // namespace bulkhead::enforcement
