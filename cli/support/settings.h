// What a command line says, checked: the values of all options that any verb knows. A verb takes
// those it names in its row of verbs.cpp, the others keep their defaults.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/support/terminal.h"
#include "policy/explain.h"
#include "probes/judge.h"
#include "scenarios/audit.h"

namespace bulkhead::cli {

struct Settings {
  std::vector<std::string> arguments;  // SITE, FILE, HOST ...
  std::vector<std::string> command;    // what follows "--"

  std::optional<policy::Date> as_of;  // none: today
  std::string format;                 // one of the verb's formats
  std::string output;                 // file or folder; empty: stdout
  std::string evidence;               // file for evidence lines
  bool quiet = false;
  bool verbose = false;
  ColorChoice color = ColorChoice::Auto;

  std::optional<scenarios::Where> on;
  std::string run;
  std::uint64_t seed = 1;
  std::chrono::seconds timeout{0};  // 0: none
  std::vector<std::string> include, exclude;
  std::vector<probes::Finding> fail_on;
  std::optional<std::uint32_t> min_coverage;
  std::string agent;  // program; empty: beside this one
  std::vector<std::string> ssh;
  bool sudo = false;

  bool verify = false;              // compile: what the kernel lists, too
  std::string ruleset;              // prove: a file
  std::string enforcer;             // whose place it takes
  bool live = false;                // what the hosts have loaded
  std::string probes;               // prove: a plan of its counterexamples, to write
  std::string plan;                 // probe, audit: the plan to send
  std::vector<std::string> ignore;  // lint: codes
  std::string site;                 // diff, query, lint: names what rulesets say
  bool fail_on_opened = true, fail_on_closed = true;  // diff

  std::string from, to;  // explain, query
  std::optional<policy::TrafficKey> traffic;
  std::uint16_t port = 0, last_port = 0;  // a range where they differ

  std::string hook, state, expect;  // query
  std::vector<std::string> in, out, proto, sport;
};

// When --timeout, counted from now, is over.
[[nodiscard]] inline std::optional<std::chrono::steady_clock::time_point> deadline_of(
    const Settings& settings) {
  if (settings.timeout.count() == 0)
    return std::nullopt;
  return std::chrono::steady_clock::now() + settings.timeout;
}

}  // namespace bulkhead::cli
