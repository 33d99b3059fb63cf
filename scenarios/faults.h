// Deliberate breaks: a verifier is tested by the leaks that it catches. A fault changes a compiled
// ruleset or the lab, says which cell it breaks, and with which finding the audit must answer; the
// site's faults.toml lists them. Nothing here touches anything but the lab of its own run.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "policy/parse.h"
#include "probes/judge.h"
#include "scenarios/audit.h"

namespace bulkhead::scenarios {

struct FaultStep {
  enum class Kind {
    Change,  // the compiled text of an enforcer, see fault_edit.h
    Load,    // nft text into a host's namespace, beside what is there
    Run,     // a program in a host's namespace ("fabric" too)
    Kill,    // a host's agent, once the first evidence is in
  };
  Kind kind = Kind::Change;
  std::string where;                 // enforcer, host or member
  std::string block;                 // Change: "chain c_red"
  std::string find;                  // Change: part of a line
  std::string text;                  // Change: what it becomes; Load: nft text
  std::vector<std::string> command;  // Run; "{netns:HOST}" is the name of a host's namespace
  SourcePos at{};                    // of `where`
};

struct Fault {
  std::string id;
  std::string what;      // for people: "the final drop is gone"
  std::string from, to;  // classes: only this cell is probed, and it must show the fault
  std::string host;      // if named, it must show the fault instead
  std::vector<probes::Finding> expect;  // of the probes, any of these; empty: whatever they find
  std::optional<MemberProof::State> proof;  // what the proof of the loaded rules must say, too
  std::vector<FaultStep> steps;
  SourcePos at, from_at, to_at, host_at;
};

// Reads faults.toml of the site's folder and holds it against the site: classes, hosts and
// enforcers that it names exist, and each change applies to the compiled rulesets. What is wrong is
// added to the site's diagnostics; with errors in the site itself, names cannot be judged and are
// not.
[[nodiscard]] std::vector<Fault> load_faults(compiler::Site& site);

// The first half: the text alone.
[[nodiscard]] std::vector<Fault> parse_faults(const policy::FileReader& read,
                                              const std::string& display_prefix, SourceMap& sources,
                                              Diagnostics& diagnostics);

// The second half.
void check_faults(const compiler::Site& site, const std::vector<Fault>& faults,
                  Diagnostics& diagnostics);

struct FaultOutcome {
  std::string id;
  std::string what;
  bool caught = false;
  probes::Finding found = probes::Finding::Conforms;  // worst of the cell, or of the host
  std::string reason;                                 // of that verdict
  // The text of an enforcer's rules is another. That is no promise that any packet is treated
  // otherwise: `proof` says whether one is.
  bool changes_rules = false;
  MemberProof::State proof = MemberProof::State::Equal;  // the worst of the members'
  std::string proof_reason;                              // of that member
  [[nodiscard]] bool proof_noticed() const { return proof != MemberProof::State::Equal; }
};

// One lab for each fault, so that none sees what another left. A fault that does not apply (its
// text is not in the ruleset) is an error, never "caught". `each` is called as outcomes come.
[[nodiscard]] Result<std::vector<FaultOutcome>> run_faults(
    const compiler::Site& site, const std::vector<Fault>& faults, const AuditOptions& options,
    const std::function<void(const FaultOutcome&)>& each);

}  // namespace bulkhead::scenarios
