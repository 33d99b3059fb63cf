// The book of a run: for each probe of the plan what it should meet, each of its tries, and the
// evidence of all ends, whenever it comes in. A packet that arrives rounds later still finds its
// try, and one that turns up at another host is known by its token.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "probes/bystanders.h"
#include "probes/judge.h"
#include "probes/message.h"

namespace bulkhead::probes {

// What site and plan say of a probe; keys and passive ports are known only once agents run.
[[nodiscard]] ProbeCase make_case(const compiler::Site& site, const compiler::Probe& probe);

class CaseBook {
 public:
  CaseBook(const compiler::Site& site, const compiler::ProbePlan& plan);

  [[nodiscard]] ProbeCase& at(std::size_t probe) { return cases_[probe]; }
  [[nodiscard]] const std::vector<ProbeCase>& all() const { return cases_; }
  void open_try(std::size_t probe, std::uint32_t round, const Expected& what);
  // Null: no such probe or try. Good until the next try of the same probe.
  struct Place {
    std::size_t probe = 0;
    TryRecord* attempt = nullptr;
  };
  [[nodiscard]] Place find(const std::string& probe_id, std::uint32_t attempt);
  // Of a packet that was seen where it was not for, known by its token alone: the try, if it is a
  // denied one and that host must not have seen it. Then `evidence` is told whose it is, and the
  // segment.
  [[nodiscard]] Place find_astray(Evidence& evidence);

 private:
  std::vector<ProbeCase> cases_;
  std::unordered_map<std::string, std::size_t> by_id_;
  struct Try {
    std::size_t probe = 0;
    std::uint32_t attempt = 0;
  };
  std::unordered_map<std::uint32_t, Try> by_head_;  // how a token begins; of denied tries
  Bystanders bystanders_;
};

}  // namespace bulkhead::probes
