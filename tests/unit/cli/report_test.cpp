// Probes roll up into cells, cells into an exit code. Each row of kCases is one rule of it.

#include "cli/report/report.h"

#include <gtest/gtest.h>

namespace bulkhead::cli {
namespace {

using compiler::Cause;
using probes::Finding;

// Two classes; cell 0 -> 1 is under test, the three others conform.
struct Setting {
  compiler::Site site;
  scenarios::AuditResult result;
  ReportOptions options;

  Setting() {
    site.policy.name = "unit";
    site.matrix.as_of =
        policy::Date{std::chrono::year(2026), std::chrono::month(12), std::chrono::day(1)};
    for (const char* name : {"a", "b"}) {
      policy::Class cls;
      cls.name = name;
      site.matrix.universe.classes.push_back(cls);
    }
    site.coverage.n = 2;
    for (policy::ClassId from = 0; from < 2; ++from) {
      for (policy::ClassId to = 0; to < 2; ++to) {
        compiler::CellCoverage coverage;
        coverage.from = from;
        coverage.to = to;
        coverage.cause = Cause::Rule;
        site.coverage.cells.push_back(coverage);
        if (from != 0 || to != 1)
          add(from, to, Finding::Conforms, "blocked");
      }
    }
  }

  void add(policy::ClassId from, policy::ClassId to, Finding finding, std::string kind = {}) {
    compiler::Probe probe;
    probe.from.cls = from;
    probe.to.cls = to;
    result.plan.probes.push_back(probe);
    probes::Verdict verdict;
    verdict.finding = finding;
    verdict.kind = std::move(kind);
    verdict.reason = std::string(probes::to_string(finding)) + " it is";
    result.outcome.verdicts.push_back(verdict);
  }
  void leave_out(std::string what, bool vacuous, bool not_asked) {
    compiler::Unprobed unprobed;
    unprobed.from = 0;
    unprobed.to = 1;
    unprobed.what = std::move(what);
    unprobed.reason = "why not";
    unprobed.vacuous = vacuous;
    unprobed.not_asked = not_asked;
    result.plan.unprobed.push_back(unprobed);
  }
  compiler::CellCoverage& coverage() { return site.coverage.cells[1]; }
  Report report() { return make_report(site, result, options); }
};

struct Case {
  const char* name;
  void (*arrange)(Setting&);
  Finding cell;
  int exit_code;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

const Case kCases[] = {
    {"AllConform", [](Setting& s) { s.add(0, 1, Finding::Conforms); }, Finding::Conforms, 0},
    {"WorstProbeDecides",
     [](Setting& s) {
       s.add(0, 1, Finding::Conforms);
       s.add(0, 1, Finding::Leak);
       s.add(0, 1, Finding::Outage);
     },
     Finding::Leak, 1},
    {"OutageIsAFinding", [](Setting& s) { s.add(0, 1, Finding::Outage); }, Finding::Outage, 1},
    {"OutageNotAsked",
     [](Setting& s) {
       s.add(0, 1, Finding::Outage);
       s.options.fail_on = {Finding::Leak};
     },
     Finding::Outage, 0},
    {"LeakAlwaysFails",
     [](Setting& s) {
       s.add(0, 1, Finding::Leak);
       s.options.fail_on = {Finding::Outage};
     },
     Finding::Leak, 1},
    {"LeakOutranksInconclusive",
     [](Setting& s) {
       s.add(0, 1, Finding::Leak);
       s.add(1, 0, Finding::Inconclusive);
     },
     Finding::Leak, 1},
    {"InconclusiveIsFour", [](Setting& s) { s.add(0, 1, Finding::Inconclusive); },
     Finding::Inconclusive, 4},
    {"InconclusiveAskedToFail",
     [](Setting& s) {
       s.add(0, 1, Finding::Inconclusive);
       s.options.fail_on = {Finding::Inconclusive};
     },
     Finding::Inconclusive, 1},
    {"SilentIsFour", [](Setting& s) { s.add(0, 1, Finding::Silent, "silent"); }, Finding::Silent,
     4},
    {"AcceptedSilenceIsCountedApartAndPasses",
     [](Setting& s) { s.add(0, 1, Finding::Conforms, "silence accepted"); }, Finding::Silent, 0},
    {"OneSilenceThatNobodyAccepted",
     [](Setting& s) {
       s.add(0, 1, Finding::Silent, "silent");
       s.add(0, 1, Finding::Conforms, "silence accepted");
     },
     Finding::Silent, 4},
    {"NothingSeparates",
     [](Setting& s) {
       s.add(0, 1, Finding::Conforms);
       s.coverage().cause = Cause::None;
     },
     Finding::NotCovered, 4},
    {"NotSeparatedFromANeighbour",
     [](Setting& s) {
       s.add(0, 1, Finding::Conforms);
       s.coverage().not_separated_from = "c";
     },
     Finding::NotCovered, 4},
    {"LessCoverageAsked",
     [](Setting& s) {
       s.add(0, 1, Finding::Conforms);
       s.coverage().cause = Cause::None;
       s.options.min_coverage = 75;
     },
     Finding::NotCovered, 0},
    {"CoverageNeverHidesALeak",
     [](Setting& s) {
       s.add(0, 1, Finding::Leak);
       s.coverage().cause = Cause::None;
     },
     Finding::Leak, 1},
    {"CannotBeProbed", [](Setting& s) { s.leave_out("", false, false); }, Finding::NotCovered, 4},
    {"APartCannotBeProbed",
     [](Setting& s) {
       s.add(0, 1, Finding::Conforms);
       s.leave_out("sctp 5000", false, false);
     },
     Finding::NotCovered, 4},
    {"APartWasNotAskedFor",
     [](Setting& s) {
       s.add(0, 1, Finding::Conforms);
       s.leave_out("some probes", false, true);
     },
     Finding::Conforms, 0},
    {"HostForwards",
     [](Setting& s) {
       s.add(0, 1, Finding::Conforms);
       s.result.outcome.findings.push_back({Finding::Leak, "stor1", "it forwards"});
     },
     Finding::Conforms, 1},
};

class RollUp : public testing::TestWithParam<Case> {};

TEST_P(RollUp, GivesFindingAndExitCode) {
  Setting setting;
  GetParam().arrange(setting);
  const Report report = setting.report();
  EXPECT_EQ(report.at(0, 1).finding, GetParam().cell);
  EXPECT_EQ(report.exit_code, GetParam().exit_code) << report.conclusion;
  EXPECT_EQ(report.at(0, 1).finding == Finding::Conforms, report.at(0, 1).reason.empty());
}

INSTANTIATE_TEST_SUITE_P(Rules, RollUp, testing::ValuesIn(kCases),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(RollUp, CellsThatDoNotCountAreInNoCount) {
  for (const auto& [vacuous, not_asked] : {std::pair{true, false}, std::pair{false, true}}) {
    Setting setting;
    setting.leave_out("", vacuous, not_asked);
    const Report report = setting.report();
    EXPECT_FALSE(report.at(0, 1).counts);
    EXPECT_EQ(report.total, 3U);
    EXPECT_EQ(report.coverage_percent, 100);
    EXPECT_EQ(report.exit_code, 0);
  }
}

TEST(RollUp, LookingAtNothingIsNoSuccess) {
  Setting setting;
  setting.result.plan.probes.clear();
  setting.result.outcome.verdicts.clear();
  for (policy::ClassId from = 0; from < 2; ++from) {
    for (policy::ClassId to = 0; to < 2; ++to)
      setting.result.plan.unprobed.push_back({from, to, "", "left out", false, true});
  }
  EXPECT_EQ(setting.report().exit_code, 4);
}

}  // namespace
}  // namespace bulkhead::cli
