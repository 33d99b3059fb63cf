// One attempt to change a place, from before its first step to its end: a record of the journal.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/support/result.h"

namespace bulkhead::enforcement {

enum class GenerationState {
  Prepared,   // written down; loaded or not
  Loaded,     // in force, and goes back by itself unless it is confirmed
  Confirmed,  // in force, and stays
  Undone,     // was in force; the state before it was brought back
  Failed,     // never was
};
[[nodiscard]] std::string_view to_string(GenerationState state);
[[nodiscard]] constexpr bool is_final(GenerationState state) {
  return state >= GenerationState::Confirmed;
}

// A process that is still the one that it was: numbers are used again.
struct ProcessId {
  int pid = 0;
  std::string started;  // of /proc/PID/stat, in ticks since boot
  [[nodiscard]] static ProcessId self();
  [[nodiscard]] static ProcessId of(int pid);
  [[nodiscard]] bool is_alive() const;
  bool operator==(const ProcessId&) const = default;
};

struct Generation {
  std::uint64_t number = 0;
  std::string enforcer, member;
  GenerationState state = GenerationState::Prepared;
  std::string why;     // in words, of the last change of state
  std::string bundle;  // digest of the manifest; "generation 7" of a rollback
  std::string policy;  // digest of the site
  std::string as_of;
  std::string by;       // who asked for it
  std::string written;  // wall time of the last change, for people: "2026-12-01T10:00:00Z"
  // Where and when its digests and its deadline mean something.
  std::string boot;
  std::uint64_t netns = 0;
  std::optional<std::chrono::nanoseconds> deadline;  // of Loaded, in time since boot
  ProcessId applier;
  std::string before, after;  // Snapshot::ours; `after` is known once it was read back
  std::string foreign;        // Snapshot::foreign, before
};

// Schema bulkhead.generation/1.
[[nodiscard]] std::string to_json(const Generation& generation);
[[nodiscard]] Result<Generation> parse_generation(std::string_view json);

// Facts about here and now that a record keeps.
[[nodiscard]] std::string boot_id();
[[nodiscard]] std::uint64_t netns_inode();
[[nodiscard]] std::chrono::nanoseconds since_boot();  // goes on while the machine sleeps
[[nodiscard]] std::string wall_time();
[[nodiscard]] std::string operator_name();  // SUDO_USER, else the user's name

}  // namespace bulkhead::enforcement
