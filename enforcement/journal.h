// What was done to a place, on its own disk: a folder of generations, each with its record and all
// that is needed to bring back the state before it, or to load it again without the bundle.
//
//   generations/7/record.json   generation.h
//   generations/7/before        the change that brings back what was there before
//   generations/7/after         the change that was loaded
//   generations/7/site/         the site's files: what `after` is proven by
//   generations/7/watchdog.json who undoes it when its time is over
//
// A generation is complete on the disk before anything is loaded. Whoever writes holds the Lock.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "enforcement/generation.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

inline constexpr const char* kDefaultState = "/var/lib/bulkhead";

class Journal {
 public:
  // Makes the folder, for its owner alone. Environment error where it cannot be written.
  [[nodiscard]] static Result<Journal> open(const std::filesystem::path& folder);
  // For who only looks: no folder is no generation.
  [[nodiscard]] static Journal at(const std::filesystem::path& folder) { return Journal(folder); }

  struct Contents {
    std::string before, after;
    std::map<std::string, std::string> site;
  };
  // Takes the next number, and writes all of it down; after an error nothing of it is left.
  [[nodiscard]] Result<Generation> add(Generation generation, const Contents& contents);
  // Replaces its record; the time of writing is now.
  [[nodiscard]] Status write(Generation& generation);

  // All of them by number. A record that cannot be read is an error that names its file: what it
  // may hold is never taken for nothing.
  [[nodiscard]] Result<std::vector<Generation>> all() const;
  [[nodiscard]] Result<Generation> get(std::uint64_t number) const;
  [[nodiscard]] Result<std::optional<Generation>> last_confirmed() const;

  [[nodiscard]] Result<std::string> before(std::uint64_t number) const;
  [[nodiscard]] Result<std::string> after(std::uint64_t number) const;
  [[nodiscard]] Result<std::map<std::string, std::string>> site(std::uint64_t number) const;

  [[nodiscard]] Status write_watchdog(std::uint64_t number, const ProcessId& process);
  [[nodiscard]] std::optional<ProcessId> watchdog(std::uint64_t number) const;

  // Keeps the last ten that were confirmed and what is younger than the oldest of them.
  [[nodiscard]] Status prune();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  explicit Journal(std::filesystem::path folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::filesystem::path path_of(std::uint64_t number) const;

  std::filesystem::path folder_;
};

}  // namespace bulkhead::enforcement
