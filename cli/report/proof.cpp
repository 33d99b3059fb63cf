#include "cli/report/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

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
  if (parts.empty())
    parts.emplace_back("denied by default");
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
  if (view.all)
    for (const std::string& rule : difference.rules)
      out += fmt::format("          · {}\n", paint(printable(rule), Style::Dim, view.color));
  return out;
}

std::string finding_text(const std::string& enforcer, const proof::Finding& finding,
                         const View& view) {
  const Look look = look_of(finding.effect);
  std::string out =
      fmt::format("  {}  {}: {}\n", paint(look.sign, look.style, view.color),
                  proof::to_string(finding.passage), proof::title(finding.subject, enforcer));
  const std::size_t most = view.all ? finding.causes.size() : kShownCauses;
  for (std::size_t i = 0; i < finding.causes.size() && i < most; ++i)
    out += fmt::format("    {} {}\n", i == 0 ? "by" : "  ", printable(finding.causes[i]));
  const std::size_t left =
      finding.more_causes + (finding.causes.size() > most ? finding.causes.size() - most : 0);
  if (left > 0)
    out += fmt::format("       and {} more rules\n", left);
  const std::size_t shown = shown_of(finding, view);
  for (std::size_t i = 0; i < shown; ++i)
    out += difference_text(finding, finding.differences[i], view);
  if (const std::size_t more = finding.differences.size() - shown; more > 0 || !finding.complete)
    out += fmt::format("      and {}{} more{}\n", finding.complete ? "" : "at least ",
                       more + (finding.complete ? 0 : 1), view.all ? "" : " (-v shows them)");
  for (const std::string& note : finding.notes)
    out += wrapped(note, "      ");
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
  for (const EnforcerProof::Part& part : proven.parts)
    if (part.differences.empty())
      out += fmt::format(
          "  {}  {}: what the rules let pass is what the policy allows, for all "
          "packets\n",
          paint("EQUAL", Style::Good, view.color), proof::to_string(part.passage));
  for (const proof::Finding* finding : findings_of(proven))
    out += finding_text(proven.enforcer, *finding, view);
  for (const EnforcerProof::Part& part : proven.parts)
    if (part.unknown_share > 0)
      out += fmt::format("  {:.3g} % of the {} packets are not known\n",
                         static_cast<double>(part.unknown_share * 100),
                         proof::to_string(part.passage));
  for (const std::string& pair : proven.ambiguous)
    out +=
        fmt::format("  {}  {}\n", paint("AMBIGUOUS", Style::Warning, view.color), printable(pair));
  return out;
}

nlohmann::ordered_json difference_json(const proof::Difference& difference) {
  const proof::NamedBox& box = difference.box;
  nlohmann::ordered_json families = nlohmann::ordered_json::array();
  for (const Family family : difference.families)
    families.push_back(to_string(family));
  const proof::Example& example = difference.example;
  nlohmann::ordered_json packet{{"in", example.in},
                                {"out", example.out},
                                {"from", example.facts.from.str()},
                                {"to", example.facts.to.str()},
                                {"protocol", example.facts.protocol},
                                {"sport", example.facts.sport},
                                {"dport", example.facts.dport},
                                {"text", printable(proof::to_string(example))},
                                {"exact", example.is_exact}};
  return {{"families", std::move(families)},
          {"from", printable(box.from)},
          {"to", printable(box.to)},
          {"traffic", printable(box.traffic)},
          {"state", box.state},
          {"interfaces", printable(box.interfaces)},
          {"others", printable(box.others)},
          {"nevers", difference.policy.nevers},
          {"denied_by", difference.policy.denied},
          {"allowed_by", difference.policy.allowed},
          {"example", std::move(packet)},
          {"rules", difference.rules}};
}

nlohmann::ordered_json finding_json(const proof::Finding& finding) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const proof::Difference& difference : finding.differences)
    list.push_back(difference_json(difference));
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
    nlohmann::ordered_json unknown;
    for (const EnforcerProof::Part& part : proven.parts)
      unknown[std::string(proof::to_string(part.passage))] =
          static_cast<double>(part.unknown_share);
    enforcers.push_back({{"enforcer", proven.enforcer},
                         {"rules", printable(proven.rules)},
                         {"equal", proven.holds()},
                         {"listing_alone", proven.listing_alone},
                         {"not_proven", proven.not_proven},
                         {"findings", std::move(findings)},
                         {"ambiguous", proven.ambiguous},
                         {"unknown_share", std::move(unknown)}});
  }
  const nlohmann::ordered_json json{{"schema", "bulkhead.proof/1"},
                                    {"exit", proof_exit(proofs)},
                                    {"enforcers", std::move(enforcers)}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace bulkhead::cli
