// What exists of labs on this machine, and who removes it. A lab is written down before its first
// namespace is made (one file in /run/bulkhead), so that whatever happens, a later run knows what
// to remove. While its owner lives, a guardian process waits for the owner's end: a kill -9 leaves
// nothing either.
#pragma once

#include <string>
#include <vector>

#include "policy/support/handle.h"
#include "policy/support/result.h"

namespace bulkhead::scenarios {

struct LabRecord {
  std::string name;  // "bh-<site>-<run>"
  std::string site;
  std::string run;
  bool persistent = false;
  int owner = 0;                   // pid
  std::string owner_started;       // start time of that pid: pids are used again
  std::vector<std::string> hosts;  // in the plan's order
  std::vector<std::string> netns;  // names under /run/netns: one for each host, then the fabric
};

// "bh-<site>-<run>-<host>" with only letters, digits, '.', '_' and '-'; at most 200 characters, and
// never the same name for two hosts.
[[nodiscard]] std::vector<std::string> netns_names(const std::string& lab,
                                                   const std::vector<std::string>& hosts);
[[nodiscard]] std::string lab_name(const std::string& site, const std::string& run);
[[nodiscard]] std::string netns_path(const std::string& name);

// Fails when a lab of this name exists.
[[nodiscard]] Status write_record(const LabRecord& record);
// At every moment either the old record or the new one is there.
[[nodiscard]] Status replace_record(const LabRecord& record);
[[nodiscard]] Result<LabRecord> read_record(const std::string& lab);
[[nodiscard]] std::vector<LabRecord> all_records();
// The folder goes with the last record.
void remove_record(const LabRecord& record);
[[nodiscard]] bool owner_lives(const LabRecord& record);
[[nodiscard]] std::string start_time(int pid);  // empty: no such process

// Makes a named namespace as `ip netns add` does and leaves its loopback down.
[[nodiscard]] Status add_netns(const std::string& name);
// Processes inside any of these namespaces, by the namespaces' inodes; ours excepted.
[[nodiscard]] std::vector<int> processes_in(const std::vector<std::string>& netns_paths);
// Ends what runs in the namespaces (a process would keep its one alive), removes them and the
// record. Absent ones are no error: two may remove at once.
void remove_lab(const LabRecord& record);

// A child that removes the lab once this process has ended without doing so. `release` after the
// lab was removed; destruction does the same.
class Guardian {
 public:
  [[nodiscard]] static Result<Guardian> start(const LabRecord& record);
  Guardian() = default;
  Guardian(Guardian&& other) noexcept;
  Guardian& operator=(Guardian&& other) noexcept;
  ~Guardian();
  void release();

 private:
  int pid_ = -1;
  UniqueFd lifeline_;  // its other end reads end-of-file when this process is gone
};

}  // namespace bulkhead::scenarios
