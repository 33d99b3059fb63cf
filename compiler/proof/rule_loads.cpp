#include "compiler/proof/rule_loads.h"

#include <linux/netfilter/nf_tables.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <vector>

namespace bulkhead::compiler::proof {

namespace {

struct KernelKey {
  std::uint32_t number;
  Selector selector;
};

constexpr std::array kMeta = std::to_array<KernelKey>({
    {NFT_META_LEN, Selector::MetaLength},
    {NFT_META_PROTOCOL, Selector::MetaProtocol},
    {NFT_META_PRIORITY, Selector::MetaPriority},
    {NFT_META_MARK, Selector::MetaMark},
    {NFT_META_IIF, Selector::MetaIifname},
    {NFT_META_OIF, Selector::MetaOifname},
    {NFT_META_IIFNAME, Selector::MetaIifname},
    {NFT_META_OIFNAME, Selector::MetaOifname},
    {NFT_META_IIFTYPE, Selector::MetaIiftype},
    {NFT_META_OIFTYPE, Selector::MetaOiftype},
    {NFT_META_SKUID, Selector::MetaSkuid},
    {NFT_META_SKGID, Selector::MetaSkgid},
    {NFT_META_NFPROTO, Selector::MetaNfproto},
    {NFT_META_L4PROTO, Selector::MetaL4proto},
    {NFT_META_PKTTYPE, Selector::MetaPkttype},
    {NFT_META_IIFGROUP, Selector::MetaIifgroup},
    {NFT_META_OIFGROUP, Selector::MetaOifgroup},
});
constexpr std::array kConntrack = std::to_array<KernelKey>({
    {NFT_CT_STATE, Selector::CtState},
    {NFT_CT_DIRECTION, Selector::CtDirection},
    {NFT_CT_STATUS, Selector::CtStatus},
    {NFT_CT_MARK, Selector::CtMark},
    {NFT_CT_L3PROTOCOL, Selector::CtL3proto},
    {NFT_CT_PROTOCOL, Selector::CtProtocol},
});

// Expressions that load no field, or that the listing shows as something unmodelled or undecided.
constexpr std::array<std::string_view, 33> kKnown{
    "cmp",   "bitwise", "byteorder", "immediate", "lookup",       "range",  "counter",
    "limit", "quota",   "log",       "reject",    "nat",          "masq",   "redir",
    "queue", "dynset",  "objref",    "notrack",   "flow_offload", "exthdr", "fib",
    "rt",    "socket",  "osf",       "numgen",    "hash",         "tproxy", "synproxy",
    "xfrm",  "dup",     "fwd",       "connlimit", "tcpopt"};

Place place_of(const Operand& operand) {
  const SelectorInfo& known = info(operand.selector);
  return operand.selector == Selector::Raw ? operand.place
                                           : Place{known.base, known.offset, known.bits};
}

bool is_within(const Place& field, const Place& place) {
  return field.base == place.base && field.offset >= place.offset &&
         field.offset + field.bits <= place.offset + place.bits;
}

// The fields that the types say a rule reads.
class Fields {
 public:
  explicit Fields(const Rule& rule) {
    for (const Statement& statement : rule.statements)
      std::visit([this](const auto& what) { add(what); }, statement);
  }

  [[nodiscard]] bool unmodelled() const { return unmodelled_; }
  [[nodiscard]] bool has(Selector selector) const {
    return std::find(selectors_.begin(), selectors_.end(), selector) != selectors_.end();
  }
  [[nodiscard]] bool implies(Selector selector) const {
    return std::find(implied_.begin(), implied_.end(), selector) != implied_.end();
  }
  // How often, at most, the listing looks at a place, or into it.
  [[nodiscard]] std::ptrdiff_t looks(const Place& place) const {
    return std::count_if(places_.begin(), places_.end(), [&](const Place& read) {
      return read.base == place.base && read.offset < place.offset + place.bits &&
             place.offset < read.offset + read.bits;
    });
  }
  [[nodiscard]] std::ptrdiff_t looks(Selector selector) const {
    return std::count(selectors_.begin(), selectors_.end(), selector);
  }
  // Whether every bit of the place is in some field that is read. One load may serve several.
  [[nodiscard]] bool covers(const Place& place) const {
    for (unsigned byte = place.offset; byte < place.offset + place.bits; byte += 8)
      if (std::none_of(places_.begin(), places_.end(), [&](const Place& read) {
            return read.base == place.base && read.offset < byte + 8U &&
                   byte < unsigned{read.offset} + read.bits;
          }))
        return false;
    return true;
  }
  // Fields that one load compares, each of which is to be unequal by itself.
  [[nodiscard]] std::size_t unequal_within(const Place& place) const {
    return static_cast<std::size_t>(
        std::count_if(unequal_.begin(), unequal_.end(),
                      [&](const Place& field) { return is_within(field, place); }));
  }

  // More than the place has where one of them is compared twice.
  [[nodiscard]] unsigned unequal_bits(const Place& place) const {
    unsigned bits = 0;
    for (const Place& field : unequal_)
      bits += is_within(field, place) ? field.bits : 0U;
    return bits;
  }

 private:
  void add(const Operand& operand) {
    selectors_.push_back(operand.selector);
    places_.push_back(place_of(operand));
  }
  void add(const Operands& key) {
    for (const Operand& operand : key)
      add(operand);
  }
  void add(const Source& source) {
    if (const auto* operand = std::get_if<Operand>(&source))
      add(*operand);
    else if (const auto* lookup = std::get_if<Lookup>(&source))
      add(lookup->key);
  }
  void add(const Match& match) {
    add(match.key);
    if (match.implied)
      implied_.push_back(match.key[0].selector);
    if (match.negated && match.set == kNone)
      unequal_.push_back(places_.back());
  }
  void add(const VerdictMap& map) { add(map.key); }
  void add(const Assign& assign) {
    add(assign.value);
    // A field of less than whole bytes is loaded before it is written.
    add(Operand{assign.target, {}, {}});
  }
  void add(const Nat& nat) {
    for (const auto* source : {&nat.address, &nat.port})
      if (*source)
        add(**source);
  }
  void add(const UpdateSet& update) { add(update.key); }
  void add(const Unmodelled&) { unmodelled_ = true; }
  // A hash or a meter of fields, which are not kept.
  void add(const Maybe& maybe) {
    unmodelled_ |= maybe.why == Maybe::Why::Numgen || maybe.why == Maybe::Why::Meter;
  }
  template <class Other>
  void add(const Other&) {}

  std::vector<Selector> selectors_, implied_;
  std::vector<Place> places_, unequal_;
  bool unmodelled_ = false;
};

template <std::size_t N>
const KernelKey* find_key(const std::array<KernelKey, N>& keys, std::uint32_t number) {
  const auto found = std::find_if(keys.begin(), keys.end(),
                                  [&](const KernelKey& key) { return key.number == number; });
  return found == keys.end() ? nullptr : &*found;
}

// Words of a line, at single blanks or colons.
std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const auto end = text.find(at);
    words.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// How the kernel's rule differs from its listing.
struct Mismatch {
  std::string narrower;  // it looks at more, which is not listed
  std::string wider;     // it does not look at what the listing implies
  // Fields, each to be unequal, of which the kernel makes one comparison.
  std::vector<Place> joined;
};

class Comparison {
 public:
  Comparison(const Fields& fields, TableFamily family) : fields_(fields), family_(family) {}

  Mismatch with(std::span<const std::string_view> loads) {
    for (const std::string_view load : loads)
      if (const auto parts = split(load, ':'); parts.size() >= 2)
        compare(parts);
    if (fields_.implies(Selector::MetaNfproto) && !loads_family_)
      out_.wider = "no family, which nft's listing implies";
    const bool says_protocol =
        fields_.has(Selector::Ip4Protocol) || fields_.has(Selector::Ip6NextHeader);
    if (fields_.implies(Selector::MetaL4proto) && !loads_protocol_ && !says_protocol)
      out_.wider = "no protocol, which nft's listing implies";
    return std::move(out_);
  }

 private:
  void compare(const std::vector<std::string_view>& parts) {
    if (parts[0] == "other") {
      if (std::find(kKnown.begin(), kKnown.end(), parts[1]) == kKnown.end())
        out_.narrower = "an expression that nft 1.0.6 does not list: " + std::string(parts[1]);
    } else if (parts[0] == "payload" && parts.size() == 4) {
      const std::uint64_t base = number_of(parts[1]);
      compare(Place{base == NFT_PAYLOAD_LL_HEADER        ? Base::Link
                    : base == NFT_PAYLOAD_NETWORK_HEADER ? Base::Network
                                                         : Base::Transport,
                    static_cast<std::uint16_t>(8 * number_of(parts[2])),
                    static_cast<std::uint16_t>(8 * number_of(parts[3]))});
    } else {
      const auto number = static_cast<std::uint32_t>(number_of(parts[1]));
      if (const KernelKey* key =
              parts[0] == "meta" ? find_key(kMeta, number) : find_key(kConntrack, number))
        compare(key->selector);
    }
  }

  void compare(const Place& place) {
    // In a table of IPv4 only, `ip protocol` is the transport's protocol and listed as implied.
    const bool is_protocol4 = family_ == TableFamily::Ip && place.base == Base::Network &&
                              place.offset == 72 && place.bits == 8;
    loads_protocol_ |= is_protocol4;
    // nft 1.0.6 leaves the first out of `ether type vlan ether type vmap { ... }`.
    if (!is_protocol4 && (!fields_.covers(place) || ++loads_[place] > fields_.looks(place)))
      out_.narrower = "bytes of the packet that nft does not list";
    if (fields_.unequal_within(place) < 2)
      return;
    // The listing does not say which of two comparisons of one field was joined.
    if (fields_.unequal_bits(place) > place.bits)
      out_.wider = "fields that are to be unequal as one, and one of them again";
    else
      out_.joined.push_back(place);
  }

  void compare(Selector selector) {
    loads_family_ |= selector == Selector::MetaNfproto;
    loads_protocol_ |= selector == Selector::MetaL4proto;
    if (++loads_of_[selector] > fields_.looks(selector))
      out_.narrower = std::string(info(selector).name) + ", which nft does not list";
  }

  const Fields& fields_;
  TableFamily family_;
  bool loads_family_ = false, loads_protocol_ = false;
  std::map<Place, std::ptrdiff_t> loads_;
  std::map<Selector, std::ptrdiff_t> loads_of_;
  Mismatch out_;
};

bool is_unequal(const Statement& statement) {
  const auto* match = std::get_if<Match>(&statement);
  return match != nullptr && match->negated && match->set == kNone && match->key.size() == 1;
}

// `tcp sport != 5 tcp dport != 80` as the kernel has it: not (5 and 80).
void join(Ruleset& ruleset, Index table, Rule& rule, const Place& place) {
  Match one;
  one.negated = true;
  one.set = static_cast<Index>(ruleset.sets.size());
  Set pair;
  pair.table = table;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < rule.statements.size();) {
    if (!is_unequal(rule.statements[i])) {
      ++i;
      continue;
    }
    const Match& match = std::get<Match>(rule.statements[i]);
    if (!is_within(place_of(match.key[0]), place)) {
      ++i;
      continue;
    }
    one.key.push_back(match.key[0]);
    pair.keys.push_back(match.ranges.at(0));  // a range is not joined: one value each
    first = first.value_or(i);
    rule.statements.erase(rule.statements.begin() + static_cast<std::ptrdiff_t>(i));
  }
  pair.width = one.key.size();
  pair.elements.resize(1);
  ruleset.sets.push_back(std::move(pair));
  rule.statements.insert(rule.statements.begin() + static_cast<std::ptrdiff_t>(*first),
                         std::move(one));
  rule.joined = true;
}

// The fields are read whatever the packet is, so none of the listed conditions holds as listed, and
// what a map leads to is not known either.
void forget_conditions(Rule& rule) {
  std::erase_if(rule.statements, [](const Statement& statement) {
    return std::holds_alternative<Match>(statement);
  });
  const auto reads = [](const Statement& statement) {
    return std::holds_alternative<VerdictMap>(statement) ||
           std::holds_alternative<Assign>(statement) || std::holds_alternative<Nat>(statement);
  };
  if (std::any_of(rule.statements.begin(), rule.statements.end(), reads))
    rule.statements.insert(
        rule.statements.begin(),
        Unmodelled{Unmodelled::Kind::Effect, {}, "fields are read of any packet"});
}

}  // namespace

std::size_t mark_unfaithful(Ruleset& ruleset, std::string_view loads) {
  std::map<std::pair<std::string, std::uint64_t>, std::pair<Index, Index>> places;
  for (Index chain = 0; chain < ruleset.chains.size(); ++chain)
    for (Index rule = 0; rule < ruleset.chains[chain].rules.size(); ++rule)
      places[{chain_name(ruleset, chain), ruleset.chains[chain].rules[rule].handle}] = {chain,
                                                                                        rule};
  std::size_t marked = 0;
  for (const std::string_view line : split(loads, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() < 4)
      continue;
    const auto found = places.find(
        {std::string(words[0]) + ' ' + std::string(words[1]) + ' ' + std::string(words[2]),
         number_of(words[3])});
    if (found == places.end())
      continue;
    const auto [chain, index] = found->second;
    Rule& rule = ruleset.chains[chain].rules[index];
    const Fields fields(rule);
    const Table& table = ruleset.table_of(ruleset.chains[chain]);
    const Mismatch mismatch = Comparison(fields, table.family).with(std::span(words).subspan(4));
    if (mismatch.wider.empty())
      for (const Place& place : mismatch.joined)
        join(ruleset, ruleset.chains[chain].table, rule, place);
    // What is outside the model may look at anything.
    const bool is_narrower = !fields.unmodelled() && !mismatch.narrower.empty();
    if (mismatch.wider.empty() && !is_narrower)
      continue;
    if (!mismatch.wider.empty())
      forget_conditions(rule);
    rule.statements.insert(rule.statements.begin(),
                           Unmodelled{Unmodelled::Kind::Condition,
                                      {},
                                      "the kernel's rule looks at " +
                                          (is_narrower ? mismatch.narrower : mismatch.wider)});
    ++marked;
  }
  return marked;
}

}  // namespace bulkhead::compiler::proof
