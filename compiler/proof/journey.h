// What one run through a ruleset carries along: the packet, what was told of it, and the answers to
// open questions. Between the interpreter's hooks (interpret.cpp) and its rules (rule_machine.h).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "compiler/proof/choices.h"
#include "compiler/proof/interpret.h"

namespace bulkhead::compiler::proof {

struct Journey {
  Journey(const Ruleset& its_ruleset, const Surroundings& its_surroundings, Choices& its_choices)
      : ruleset(its_ruleset), surroundings(its_surroundings), choices(its_choices) {}

  const Ruleset& ruleset;
  const Surroundings& surroundings;
  Choices& choices;
  Run run;  // run.after is the packet as it is now
  Hook hook = Hook::Prerouting;
  std::optional<Connection> tracked;  // the packet's connection, also while no chain sees it yet
  bool translated_here = false;       // a nat statement at this hook has spoken
  std::set<Selector> uncertain;       // fields set to what the model does not know
  bool guessed = false;               // a question was asked because the model lacks something

  // A question that the packet does not answer; `is_guess` where a better model could.
  bool ask(std::string why, bool is_guess) {
    guessed |= is_guess;
    run.because.push_back(std::move(why));
    return choices.next();
  }
};

}  // namespace bulkhead::compiler::proof
