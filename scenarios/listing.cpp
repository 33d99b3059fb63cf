#include "scenarios/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/ir.h"
#include "compiler/proof/interface_numbers.h"
#include "compiler/proof/rule_loads.h"
#include "compiler/proof/rule_texts.h"
#include "compiler/proof/ruleset_json.h"
#include "compiler/targets/nftables.h"
#include "enforcement/backends/nft.h"
#include "enforcement/backends/nft_sandbox.h"
#include "probes/launcher.h"

namespace bulkhead::scenarios {

namespace {

namespace proof = compiler::proof;

bool is_listing(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string::npos && text[begin] == '{' &&
         text.find("\"nftables\"") != std::string::npos;
}

Result<Listing> named(const std::string& rules, Result<enforcement::NftListing> listed) {
  if (!listed)
    return fail(listed.error());
  return Listing{
      rules, std::move(listed->json),   std::move(listed->loads), std::move(listed->text),
      false, std::move(listed->dormant)};
}

// Words of nft's language as far as names of interfaces go: a name in quotes or not, or a sign.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::string_view signs = "{},;=\n";
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"') {
      const std::size_t end = std::min(text.find('"', at + 1), text.size());
      out.push_back(text.substr(at + 1, end - at - 1));
      at = end + 1;
    } else if (signs.find(c) != std::string_view::npos) {
      out.emplace_back(1, c);
      ++at;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
    } else {
      const std::size_t end = std::min(text.find_first_of(" \t\r{},;=\n\"", at), text.size());
      out.push_back(text.substr(at, end - at));
      at = end;
    }
  }
  return out;
}

bool can_be_interface(const std::string& word) {
  return !word.empty() && word.size() <= 15 && word != "lo" && word.front() != '$' &&
         word.find_first_of("/:*@!=<>") == std::string::npos;
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file)
    return fail(ErrorKind::Usage, fmt::format("cannot read {}", path.string()));
  return text.str();
}

std::vector<std::string> interfaces_of(const compiler::Enforcer& enforcer) {
  std::vector<std::string> names;
  for (const compiler::Leg& leg : enforcer.legs)
    names.push_back(leg.interface);
  return names;
}

std::vector<std::string> interfaces_in(const std::string& nft_text) {
  static const std::set<std::string, std::less<>> kBefore = {"iif", "oif", "device", "devices"};
  std::set<std::string> found;
  const auto words = words_of(nft_text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!kBefore.contains(words[i]))
      continue;
    std::size_t next = i + 1;
    while (next < words.size() && (words[next] == "=" || words[next] == "!="))
      ++next;
    if (next >= words.size())
      break;
    if (words[next] != "{") {
      if (can_be_interface(words[next]))
        found.insert(words[next]);
      continue;
    }
    for (++next; next < words.size() && words[next] != "}"; ++next)
      if (words[next] != "," && words[next] != "\n" && can_be_interface(words[next]))
        found.insert(words[next]);
  }
  return {found.begin(), found.end()};
}

Result<Listing> list_text(const std::string& rules, const std::string& nft_text,
                          const std::vector<std::string>& interfaces) {
  auto listing = named(rules, enforcement::list_in_sandbox(nft_text, interfaces));
  if (!listing)
    return fail(listing.error().context("load " + rules));
  listing->from_text = true;
  return listing;
}

Result<Listing> list_file(const std::string& path, const std::vector<std::string>& interfaces) {
  auto text = read_file(path);
  if (!text)
    return fail(text.error());
  const std::string rules = "file " + path;
  if (is_listing(*text))
    return Listing{rules, std::move(*text), {}, {}, false};
  std::set<std::string> all(interfaces.begin(), interfaces.end());
  for (const std::string& name : interfaces_in(*text))
    all.insert(name);
  auto listing =
      named(rules, enforcement::list_in_sandbox(*text, {all.begin(), all.end()}, {path, true}));
  if (!listing)
    return fail(listing.error().context("load " + rules));
  listing->from_text = true;
  return listing;
}

Result<Listing> list_with_foreign(const compiler::Site& site, const compiler::EnforcerView& view,
                                  const std::string& compiled) {
  const compiler::Enforcer& enforcer = site.inventory.enforcers.at(view.enforcer);
  std::string text;
  for (const auto& file : enforcer.foreign) {
    auto foreign = read_file(site.folder / file.text);
    if (!foreign)
      return fail(foreign.error());
    text += *foreign + '\n';
  }
  return list_text("compiled", text + compiled, interfaces_of(enforcer));
}

Result<Listing> list_compiled(const compiler::Site& site, const compiler::EnforcerView& view) {
  return list_with_foreign(site, view,
                           compiler::nftables(compiler::ir::make_enforcer(site, view)).text);
}

Result<Listing> list_host(const std::string& host, const std::string& destination,
                          const HostAccess& access) {
  const auto command =
      access.ssh_command.empty() ? probes::SshOptions().ssh_command : access.ssh_command;
  auto json =
      enforcement::ssh_nft(command, destination, access.sudo ? "sudo -n " : "")->list_json();
  if (!json)
    return fail(json.error().context("list the rules of " + host));
  return Listing{"live " + host, std::move(*json), {}, {}, false};
}

Result<Listing> list_here(const std::string& rules, const std::string& netns_path) {
  auto listing = named(rules, enforcement::list_netns(netns_path));
  if (!listing)
    return fail(listing.error().context("list the rules of " + rules));
  return listing;
}

Result<proof::Ruleset> ruleset_of(const Listing& listing) {
  auto ruleset = proof::parse_ruleset(listing.json);
  if (!ruleset)
    return fail(ruleset.error().context(listing.rules));
  if (!listing.loads.empty())
    proof::mark_unfaithful(*ruleset, listing.loads);
  if (listing.from_text)
    proof::doubt_interface_numbers(*ruleset);
  proof::add_dormant_tables(*ruleset, listing.dormant);
  proof::add_rule_texts(*ruleset, listing.text);
  return ruleset;
}

}  // namespace bulkhead::scenarios
