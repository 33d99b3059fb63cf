// What a person, a program and a CI page see of one finished report.

#include <gtest/gtest.h>

#include "cli/report/formats.h"
#include "golden.h"

namespace bulkhead::cli {
namespace {

using probes::Finding;
using Intent = CellReport::Intent;

// Five classes, all as intended: red and blue keep to themselves and share the storage.
Report clean_report() {
  Report report;
  report.site = "two-tenants";
  report.as_of = "2026-12-01";
  report.run = "k3f9";
  report.version = "0.1.0";
  report.seed = 7;
  report.classes = {"blue", "enforcer:fw", "external:world", "red", "storage"};
  const std::size_t n = report.classes.size();
  for (policy::ClassId from = 0; from < n; ++from) {
    for (policy::ClassId to = 0; to < n; ++to) {
      CellReport cell;
      cell.from = from;
      cell.to = to;
      cell.says = "nothing";
      cell.finding = Finding::Conforms;
      cell.cause = compiler::Cause::Rule;
      cell.probes = 24;
      if (from == to) {
        cell.intent = Intent::Everything;
        cell.says = "everything";
        cell.cause = compiler::Cause::None;
      } else if (to == 4 && (from == 0 || from == 3)) {
        cell.intent = Intent::Some;
        cell.says = "tcp 2049; icmp echo";
      }
      report.cells.push_back(cell);
    }
  }
  for (const policy::ClassId alone : {1U, 2U}) {
    CellReport& cell = report.cells[alone * n + alone];
    cell.counts = false;
    cell.probes = 0;
    cell.reason = "there is one host only: nothing flows between it and itself";
  }
  report.probes = 552;
  report.tries = 580;
  report.rounds = 2;
  report.lab_up = std::chrono::milliseconds(1200);
  report.probing = std::chrono::milliseconds(3400);
  report.lab_down = std::chrono::milliseconds(300);
  return report;
}

void count(Report& report) {
  for (const CellReport& cell : report.cells) {
    if (!cell.counts)
      continue;
    ++report.total;
    ++report.counts[static_cast<std::size_t>(cell.finding)];
    report.worst = std::max(report.worst, cell.finding);
  }
  report.coverage_percent = 100.0 * report.decided() / report.total;
}

void break_cell(Report& report, std::size_t from, std::size_t to, Finding finding,
                std::string reason) {
  CellReport& cell = report.cells[from * report.classes.size() + to];
  cell.finding = finding;
  cell.reason = std::move(reason);
  cell.by_finding[static_cast<std::size_t>(Finding::Conforms)] = cell.probes - 1;
  cell.by_finding[static_cast<std::size_t>(finding)] = 1;
}

Report broken_report() {
  Report report = clean_report();
  report.made = scenarios::Where::Live;
  break_cell(report, 0, 3, Finding::Leak,
             "blue1 10.2.0.11 -> red1 10.1.0.11 tcp 22: it arrived though denied (seen by the NIC "
             "of red1; fw let it leave by bond0.101)");
  report.cells[3].by_finding = {20, 0, 0, 3, 0, 1};
  break_cell(report, 3, 4, Finding::Outage,
             "red1 10.1.0.11 -> nas1 10.3.0.11 tcp 2049: not delivered in 3 tries");
  break_cell(report, 2, 0, Finding::Inconclusive,
             "world 198.51.100.1 -> blue1 10.2.0.11 tcp 7: silence, and the planned cause was not "
             "seen <&> \"quoted\" \x1b[31m");
  break_cell(report, 2, 3, Finding::Silent, "silence under a control that cannot be read");
  for (const std::size_t to : {0U, 1U, 2U, 3U})
    break_cell(report, 4, to, Finding::NotCovered,
               "same VRF on switch leaf: nothing separates them");
  report.beside.push_back({Finding::Leak, "stor1", "it forwards, though forwards = false"});
  using State = scenarios::MemberProof::State;
  report.proofs = {
      {"fw", "fw-a", State::Equal, "equal for all packets", {}},
      {"fw",
       "fw-b",
       State::Different,
       "the loaded rules are not what the policy says",
       {"opens forward: blue → red: tcp 22; for example tcp 10.2.0.11:40000 -> "
        "10.1.0.11:22, in by bond0.102, out by bond0.101; by inet x f, rule 1: accept"}},
      {"edge", "edge", State::NotDecided, "list the rules of edge: no route <&>", {}}};
  report.notes = {"nas1: tcp 2049 is held by a service: watched, not taken"};
  report.retries = 2;
  report.void_rounds = 1;
  report.verdicts = {{.probe = "p-000001",
                      .finding = Finding::Leak,
                      .kind = "delivered",
                      .cause = compiler::Cause::Rule,
                      .seen = {"listener:red1"},
                      .controls = "2/2",
                      .tries = 1,
                      .reason = "it arrived"}};
  count(report);
  report.exit_code = 1;
  report.conclusion = "2 leaks, 1 outage";
  return report;
}

Report intended_report() {
  Report report = clean_report();
  count(report);
  report.conclusion = "as intended";
  return report;
}

// A part of the site, and not all of it in time.
Report partial_report() {
  Report report = clean_report();
  for (CellReport& cell : report.cells)
    cell.counts = cell.counts && (cell.from == 3 || cell.to == 3);
  break_cell(report, 3, 4, Finding::Inconclusive, "red1 -> nas1: it was never tried");
  report.asked = {{"red"}, {"tcp", "v6"}, ""};
  report.timed_out = true;
  count(report);
  report.exit_code = 4;
  report.conclusion = "timed out, 1 inconclusive (asked was only red, without tcp, v6)";
  return report;
}

// All that was asked conforms, and too much was not.
Report thin_report() {
  Report report = clean_report();
  break_cell(report, 3, 4, Finding::NotCovered, "no address family in common");
  count(report);
  report.exit_code = 4;
  report.coverage_percent = 93.3;
  report.conclusion = "coverage is below 100 %";
  return report;
}

// A site of many classes: columns with three digits, in several squares.
Report wide_report() {
  Report report;
  report.site = "pod-1024";
  report.as_of = "2026-12-01";
  report.run = "x";
  for (int i = 1; i <= 103; ++i)
    report.classes.push_back("tenant-" + std::to_string(i) + "-with-a-name-that-is-far-too-long");
  for (policy::ClassId from = 0; from < report.classes.size(); ++from) {
    for (policy::ClassId to = 0; to < report.classes.size(); ++to) {
      CellReport cell;
      cell.from = from;
      cell.to = to;
      cell.finding = Finding::Conforms;
      cell.intent = from == to ? Intent::Everything : Intent::Deny;
      report.cells.push_back(cell);
    }
  }
  break_cell(report, 101, 102, Finding::Leak, "it arrived");
  count(report);
  report.exit_code = 1;
  report.conclusion = "1 leak";
  return report;
}

struct Screen {
  const char* name;
  Report (*report)();
  const char* format;
  View view;
};
void PrintTo(const Screen& screen, std::ostream* out) {
  *out << screen.name;
}

constexpr Screen kScreens[] = {
    {"intended.txt", intended_report, "text", {}},
    {"broken.txt", broken_report, "text", {}},
    {"broken-narrow.txt", broken_report, "text", {false, 60, true}},
    {"broken-color.txt", broken_report, "text", {true, 100, false}},
    {"partial.txt", partial_report, "text", {}},
    {"partial.json", partial_report, "json", {}},
    {"partial.xml", partial_report, "junit", {}},
    {"wide.txt", wide_report, "text", {}},
    {"broken.json", broken_report, "json", {}},
    {"broken.xml", broken_report, "junit", {}},
    {"intended.xml", intended_report, "junit", {}},
    {"thin.xml", thin_report, "junit", {}},
};

class ReportScreen : public testing::TestWithParam<Screen> {};

TEST_P(ReportScreen, IsAsLastReviewed) {
  const Screen& screen = GetParam();
  const std::string shown = render_report(screen.format, screen.report(), screen.view);
  expect_golden(std::string("report/") + screen.name, shown);
}

INSTANTIATE_TEST_SUITE_P(All, ReportScreen, testing::ValuesIn(kScreens));

}  // namespace
}  // namespace bulkhead::cli
