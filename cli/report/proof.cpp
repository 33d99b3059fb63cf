#include "cli/report/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/report/packet_json.h"
#include "cli/report/xml.h"
#include "cli/support/exit_code.h"
#include "cli/support/terminal.h"

namespace bulkhead::cli {

namespace {

namespace proof = compiler::proof;
using scenarios::EnforcerProof;

struct Look {
  std::string_view sign;
  std::string_view means;
  Style style;
};
Look look_of(proof::Effect effect) {
  switch (effect) {
    case proof::Effect::Opens:
      return {"OPENS", "the policy denies it, and the rules let it pass", Style::Bad};
    case proof::Effect::MayOpen:
      return {"MAY OPEN", "the policy denies it, and a limit or a queue decides", Style::Bad};
    case proof::Effect::Closes:
      return {"CLOSES", "the policy allows it, and the rules stop it", Style::Warning};
    case proof::Effect::MayClose:
      return {"MAY CLOSE", "the policy allows it, and a limit or a queue decides", Style::Warning};
    case proof::Effect::Unknown:
      return {"UNKNOWN", "a rule outside the model decides", Style::Warning};
  }
  return {"", "", Style::Plain};
}

// Differences of a finding that are shown without -v.
constexpr std::size_t kShown = 3;
constexpr std::size_t kShownBeside = 1;  // of what is not between classes
constexpr std::size_t kShownCauses = 4;
constexpr std::size_t kWidth = 110;

std::size_t shown_of(const proof::Finding& finding, const View& view) {
  if (view.all || finding.subject == proof::Subject::State)
    return finding.differences.size();
  const bool first = finding.subject <= proof::Subject::Classes;
  return std::min(finding.differences.size(), first ? kShown : kShownBeside);
}

std::string families_word(const std::vector<Family>& families) {
  if (families.size() > 1)
    return "IPv4 and IPv6";
  return families.front() == Family::V4 ? "IPv4" : "IPv6";
}

// Words of `text` in lines that begin with `indent`.
std::string wrapped(const std::string& text, const std::string& indent) {
  std::string out, line = indent;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() > indent.size() && columns(line) + 1 + columns(word) > kWidth) {
      out += line + "\n";
      line = indent;
    }
    line += (line.size() > indent.size() ? " " : "") + word;
  }
  return out + line + "\n";
}

std::string joined(const std::vector<std::string>& items, std::string_view by, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < items.size() && i < most; ++i)
    out += (i == 0 ? std::string() : std::string(by)) + items[i];
  if (items.size() > most)
    out += fmt::format(" and {} more", items.size() - most);
  return out;
}

bool is_opening(proof::Effect effect) {
  return effect == proof::Effect::Opens || effect == proof::Effect::MayOpen;
}

// "crosses never N1 (policy.toml:47); denied by D1 (policy.toml:70)"
std::string policy_text(const proof::Finding& finding, const proof::Difference& difference,
                        std::size_t most) {
  if (finding.subject != proof::Subject::Tenants && finding.subject != proof::Subject::Classes)
    return "";
  const proof::PolicyWords& policy = difference.policy;
  if (!is_opening(finding.effect))
    return policy.allowed.empty() ? "" : "allowed by " + joined(policy.allowed, ", ", most);
  std::vector<std::string> parts;
  if (!policy.nevers.empty())
    parts.push_back("crosses " + joined(policy.nevers, ", ", most));
  if (!policy.denied.empty())
    parts.push_back("denied by " + joined(policy.denied, ", ", most));
  return joined(parts, "; ", parts.size());
}

std::string difference_text(const proof::Finding& finding, const proof::Difference& difference,
                            const View& view) {
  const proof::NamedBox& box = difference.box;
  const std::string what = fmt::format("{} → {}: {}", box.from, box.to, box.traffic);
  std::string more = families_word(difference.families);
  for (const std::string* part : {&box.state, &box.interfaces, &box.others})
    if (!part->empty() && !(part == &box.state && finding.begins))
      more += "; " + *part;
  std::string out;
  if (finding.subject == proof::Subject::State)
    out = fmt::format("      {}\n", paint(printable(box.state), Style::Bold, view.color)) +
          wrapped(printable(what), "        ");
  else
    out = wrapped(printable(fmt::format("{}  ({})", what, more)), "      ");
  if (const std::string policy = policy_text(finding, difference, view.all ? 20 : 2);
      !policy.empty())
    out += wrapped(printable(policy), "        ");
  out += fmt::format("        {}\n",
                     paint("for example " + printable(proof::to_string(difference.example)),
                           Style::Dim, view.color));
  if (!view.all)
    return out;
  for (const std::string& rule : difference.rules)
    out += fmt::format("          · {}\n", paint(printable(rule), Style::Dim, view.color));
  if (!difference.not_sendable.empty())
    out +=
        wrapped("cannot be sent as a probe: " + printable(difference.not_sendable), "          ");
  return out;
}

using Said = std::set<std::string>;  // notes that stand above

std::string header(const std::string& enforcer, const proof::Finding& finding,
                   std::string_view passage, const View& view) {
  const Look look = look_of(finding.effect);
  return fmt::format("  {}  {}{}{}\n", paint(look.sign, look.style, view.color), passage,
                     passage.empty() ? "" : ": ", proof::title(finding.subject, enforcer));
}

std::string more_text(const proof::Finding& finding, std::size_t shown, const View& view) {
  const std::size_t more = finding.differences.size() - shown;
  if (more == 0 && finding.complete)
    return "";
  return fmt::format("      and {}{} more{}\n", finding.complete ? "" : "at least ",
                     more + (finding.complete ? 0 : 1), view.all ? "" : " (-v shows them)");
}

std::string causes_text(const proof::Finding& finding, std::size_t most,
                        const std::string& indent) {
  std::string out;
  most = std::min(most, finding.causes.size());
  for (std::size_t i = 0; i < most; ++i)
    out += wrapped(printable((i == 0 ? "by " : "and ") + finding.causes[i]), indent);
  if (const std::size_t left = finding.more_causes + finding.causes.size() - most; left > 0)
    out += fmt::format("{}and {} more rule{}\n", indent, left, left == 1 ? "" : "s");
  return out;
}

std::string finding_text(const std::string& enforcer, const proof::Finding& finding,
                         const View& view, Said& said) {
  std::string out = header(enforcer, finding, proof::to_string(finding.passage), view);
  out += causes_text(finding, view.all ? finding.causes.size() : kShownCauses, "    ");
  const std::size_t shown = shown_of(finding, view);
  for (std::size_t i = 0; i < shown; ++i)
    out += difference_text(finding, finding.differences[i], view);
  out += more_text(finding, shown, view);
  for (const std::string& note : finding.notes)
    if (said.insert(note).second)
      out += wrapped(note, "      ");
  return out;
}

// Of links, forged and foreign packets one of each passage is enough: their sets say little.
std::string late_text(const proof::Finding& finding, const View& view) {
  const std::string example = "for example " + proof::to_string(finding.differences[0].example);
  std::string out = fmt::format("    {}: {}\n", proof::to_string(finding.passage),
                                paint(printable(example), Style::Dim, view.color));
  const auto& way = finding.differences[0].rules;
  const bool decided =
      finding.effect == proof::Effect::Opens || finding.effect == proof::Effect::Closes;
  // The way of a packet that is not quite one of them says nothing of them.
  const bool is_told = decided && !way.empty() && finding.differences[0].example.is_exact;
  std::string by = "by " + (is_told ? way.back() : finding.causes.front());
  if (const std::size_t rules = finding.causes.size() + finding.more_causes; rules > 1)
    by += fmt::format(" and {} more rule{}", rules - 1, rules == 2 ? "" : "s");
  const std::size_t more = finding.differences.size() - 1 + (finding.complete ? 0 : 1);
  if (more > 0)
    by += fmt::format("; {}{} more (-v shows them)", finding.complete ? "" : "at least ", more);
  return out + wrapped(printable(by), "      ");
}

bool is_late(const proof::Finding& finding) {
  return finding.subject > proof::Subject::State;
}

std::string findings_text(const std::string& enforcer,
                          const std::vector<const proof::Finding*>& findings, const View& view) {
  Said said;
  std::string out;
  const proof::Finding* before = nullptr;
  for (const proof::Finding* finding : findings) {
    const bool short_one = is_late(*finding) && !view.all;
    const bool same = before != nullptr && before->effect == finding->effect &&
                      before->subject == finding->subject;
    if (!short_one || !same)
      out += "\n";
    if (short_one)
      out += (same ? "" : header(enforcer, *finding, "", view)) + late_text(*finding, view);
    else
      out += finding_text(enforcer, *finding, view, said);
    before = finding;
  }
  return out;
}

// Of all passages, the most important ones first.
std::vector<const proof::Finding*> findings_of(const EnforcerProof& proven) {
  std::vector<const proof::Finding*> out;
  for (const EnforcerProof::Part& part : proven.parts)
    for (const proof::Finding& finding : part.differences.findings)
      out.push_back(&finding);
  std::stable_sort(out.begin(), out.end(), [](const proof::Finding* a, const proof::Finding* b) {
    return proof::comes_before(*a, *b);
  });
  return out;
}

// "OPENS 2 between tenants, 3 between classes; CLOSES 1 between classes"
std::string summary(const std::vector<const proof::Finding*>& findings) {
  std::map<proof::Effect, std::vector<std::size_t>> counts;  // by column
  constexpr std::string_view kColumns[] = {"between tenants", "between classes", "by state alone",
                                           "of links, and of forged or foreign packets"};
  for (const proof::Finding* finding : findings) {
    auto& row = counts[finding->effect];
    row.resize(std::size(kColumns));
    ++row[finding->subject <= proof::Subject::Tenants   ? 0
          : finding->subject == proof::Subject::Classes ? 1
          : finding->subject == proof::Subject::State   ? 2
                                                        : 3];
  }
  std::vector<std::string> effects;
  for (const auto& [effect, row] : counts) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row[i] > 0)
        parts.push_back(fmt::format("{} {}", row[i], kColumns[i]));
    effects.push_back(
        fmt::format("{} {}", look_of(effect).sign, joined(parts, ", ", parts.size())));
  }
  return joined(effects, "; ", effects.size());
}

// What the words in capitals mean, where they are used.
std::string legend(const std::vector<const proof::Finding*>& findings) {
  std::set<proof::Effect> used;
  for (const proof::Finding* finding : findings)
    used.insert(finding->effect);
  std::string out;
  for (const proof::Effect effect : used)
    out += fmt::format("  {}: {}.\n", look_of(effect).sign, look_of(effect).means);
  if (used.contains(proof::Effect::Opens) || used.contains(proof::Effect::MayOpen))
    out += "  Where no never and no flow is named, the policy denies by default.\n";
  return out;
}

std::string share_text(const EnforcerProof::Part& part) {
  const auto percent = [](long double share) { return static_cast<double>(share * 100); };
  const std::string_view passage = proof::to_string(part.passage);
  std::string out;
  if (part.unknown_share > 0)
    out += fmt::format("  Unknown is {:.3g} % of the {} header space, by the rules of UNKNOWN.\n",
                       percent(part.unknown_share), passage);
  if (part.translated_share > 0)
    out += fmt::format(
        "  Not compared are later packets of translated connections, {:.3g} % of the {} header "
        "space:\n  they go where the first one went, which is compared.\n",
        percent(part.translated_share), passage);
  return out;
}

std::string enforcer_text(const EnforcerProof& proven, const View& view) {
  std::string out = fmt::format("{}  {}: {} rules, {} elements\n",
                                paint(proven.enforcer, Style::Bold, view.color),
                                printable(proven.rules), proven.rule_count, proven.element_count);
  if (proven.listing_alone)
    out +=
        "  Read from a listing alone: nft 1.0.6 leaves some matches out of one (ip6 nexthdr, "
        "iiftype, ether type).\n";
  if (!proven.not_proven.empty())
    return out + fmt::format("  {}  {}\n", paint("NOT PROVEN", Style::Warning, view.color),
                             printable(proven.not_proven));
  const auto findings = findings_of(proven);
  if (!findings.empty())
    out += wrapped(summary(findings), "  ");
  for (const EnforcerProof::Part& part : proven.parts)
    if (part.differences.empty())
      out += fmt::format(
          "  {}  {}: what the rules let pass is what the policy allows, for all "
          "packets\n",
          paint("EQUAL", Style::Good, view.color), proof::to_string(part.passage));
  out += findings_text(proven.enforcer, findings, view);
  for (const EnforcerProof::Part& part : proven.parts)
    out += share_text(part);
  for (const std::string& doubt : proven.doubts)
    out += fmt::format("  {}  {}\n", paint("DOUBT", Style::Warning, view.color), printable(doubt));
  if (!findings.empty())
    out += "\n" + legend(findings);
  return out;
}

nlohmann::ordered_json told_json(const proof::Difference& difference) {
  nlohmann::ordered_json out = difference_json(difference);
  out["not_sendable"] = printable(difference.not_sendable);
  out["rules"] = difference.rules;
  return out;
}

nlohmann::ordered_json finding_json(const proof::Finding& finding) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const proof::Difference& difference : finding.differences)
    list.push_back(told_json(difference));
  return {{"effect", proof::to_string(finding.effect)},
          {"passage", proof::to_string(finding.passage)},
          {"subject", proof::to_string(finding.subject)},
          {"causes", finding.causes},
          {"more_causes", finding.more_causes},
          {"begins_connections", finding.begins},
          {"notes", finding.notes},
          {"differences", std::move(list)},
          {"complete", finding.complete}};
}

}  // namespace

int proof_exit(const std::vector<EnforcerProof>& proofs) {
  int code = kExitOk;
  for (const EnforcerProof& proven : proofs) {
    if (proven.holds())
      continue;
    if (!proven.is_open_question())
      return kExitFindings;
    code = kExitInconclusive;
  }
  return code;
}

std::string proof_text(const std::vector<EnforcerProof>& proofs, const View& view) {
  std::string out;
  for (const EnforcerProof& proven : proofs)
    out += enforcer_text(proven, view) + "\n";
  switch (proof_exit(proofs)) {
    case kExitOk:
      return out + "exit 0: equal for all packets\n";
    case kExitFindings:
      return out + "exit 1: the rules are not what the policy says\n";
    default:
      return out + "exit 4: not decided\n";
  }
}

std::string proof_json(const std::vector<EnforcerProof>& proofs) {
  nlohmann::ordered_json enforcers = nlohmann::ordered_json::array();
  for (const EnforcerProof& proven : proofs) {
    nlohmann::ordered_json findings = nlohmann::ordered_json::array();
    for (const proof::Finding* finding : findings_of(proven))
      findings.push_back(finding_json(*finding));
    nlohmann::ordered_json unknown, translated;
    for (const EnforcerProof::Part& part : proven.parts) {
      const std::string passage(proof::to_string(part.passage));
      unknown[passage] = static_cast<double>(part.unknown_share);
      translated[passage] = static_cast<double>(part.translated_share);
    }
    enforcers.push_back({{"enforcer", proven.enforcer},
                         {"rules", printable(proven.rules)},
                         {"equal", proven.holds()},
                         {"listing_alone", proven.listing_alone},
                         {"not_proven", proven.not_proven},
                         {"findings", std::move(findings)},
                         {"doubts", proven.doubts},
                         {"unknown_share", std::move(unknown)},
                         {"translated_share", std::move(translated)}});
  }
  const nlohmann::ordered_json json{{"schema", "bulkhead.proof/1"},
                                    {"exit", proof_exit(proofs)},
                                    {"enforcers", std::move(enforcers)}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// A finding is a failure, what is not decided an error; what they say is the text of the report.
std::string proof_junit(const std::vector<EnforcerProof>& proofs) {
  constexpr View kPlain{.color = false, .all = true};
  std::string cases, shares;
  std::size_t tests = 0, failures = 0, errors = 0;
  const auto add = [&](const EnforcerProof& proven, const std::string& name, std::string_view tag,
                       std::string_view type, const std::string& text) {
    ++tests;
    cases += fmt::format("  <testcase classname=\"prove.{}\" name=\"{}\"",
                         xml_escape(proven.enforcer), xml_escape(name));
    if (tag.empty()) {
      cases += "/>\n";
      return;
    }
    ++(tag == "error" ? errors : failures);
    cases += fmt::format("><{0} type=\"{1}\">{2}</{0}></testcase>\n", tag, type, xml_escape(text));
  };
  for (const EnforcerProof& proven : proofs) {
    if (!proven.not_proven.empty())
      add(proven, proven.rules, "error", "not proven", proven.not_proven);
    for (const EnforcerProof::Part& part : proven.parts)
      if (part.differences.empty())
        add(proven, fmt::format("{}: equal", proof::to_string(part.passage)), "", "", "");
    Said said;
    for (const proof::Finding* finding : findings_of(proven))
      add(proven,
          fmt::format("{}: {}: {}", proof::to_string(finding->passage),
                      proof::title(finding->subject, proven.enforcer),
                      finding->causes.empty() ? "" : finding->causes.front()),
          finding->effect == proof::Effect::Unknown ? "error" : "failure",
          proof::to_string(finding->effect), finding_text(proven.enforcer, *finding, kPlain, said));
    for (const EnforcerProof::Part& part : proven.parts)
      if (part.unknown_share > 0 || part.translated_share > 0)
        shares += share_text(part);
    for (const std::string& doubt : proven.doubts)
      add(proven, "doubts", "error", "doubt", doubt);
  }
  return fmt::format(
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"bulkhead prove\" "
             "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\">\n",
             tests, failures, errors) +
         cases +
         (shares.empty() ? ""
                         : fmt::format("  <system-out>{}</system-out>\n", xml_escape(shares))) +
         "</testsuite>\n";
}

}  // namespace bulkhead::cli
