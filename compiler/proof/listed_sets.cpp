#include "compiler/proof/listed_sets.h"

#include <algorithm>
#include <array>
#include <optional>

#include "compiler/proof/listed_values.h"
#include "policy/support/text.h"

namespace bulkhead::compiler::proof {

namespace {

struct VerdictWord {
  std::string_view word;
  VerdictKind kind;
};
constexpr std::array kVerdicts = std::to_array<VerdictWord>({
    {"accept", VerdictKind::Accept},
    {"drop", VerdictKind::Drop},
    {"continue", VerdictKind::Continue},
    {"return", VerdictKind::Return},
    {"jump", VerdictKind::Jump},
    {"goto", VerdictKind::Goto},
});

// Types of maps whose values are objects of the table.
constexpr std::array<std::string_view, 7> kObjects{"counter",    "quota",    "limit",  "ct helper",
                                                   "ct timeout", "synproxy", "secmark"};

bool is_object(std::string_view type) {
  return std::find(kObjects.begin(), kObjects.end(), type) != kObjects.end();
}

// Reads the elements of one set; stops at the first that cannot be read.
class Elements {
 public:
  Elements(const SetTypes& types, Index table, Names& names, Set& set)
      : types_(types), table_(table), names_(names), set_(set) {}

  void read(const Json& elements) {
    set_.elements.reserve(elements.size);
    set_.keys.reserve(elements.size * types_.key.size());
    for (const Json* item = elements.first; item != nullptr; item = item->next)
      if (const auto added = types_.is_map ? pair(*item) : key(*item, {}); !added) {
        set_.unmodelled = added.error().reason;
        return;
      }
  }

 private:
  Readable<void> pair(const Json& json) {
    if (!json.is_array() || json.size != 2)
      return unreadable("a pair of key and value was expected in a map");
    Element element;
    if (const auto read = data(*json.first->next, element.data); !read)
      return read;
    return key(*json.first, std::move(element));
  }

  Readable<void> key(const Json& json, Element element) {
    const Json* inner = &json;
    if (const Json* wrapped = json.find("elem")) {
      inner = wrapped->find("val");
      if (inner == nullptr)
        return unreadable("an element without a value");
      attributes(*wrapped, element);
    }
    if (inner->is_text() && inner->text == "*") {
      element.any = true;
      for (std::size_t i = 0; i < types_.key.size(); ++i)
        set_.keys.push_back({0, ~Value{0}});
    } else if (types_.key.size() == 1 && is_dead_interface(*inner, types_.key[0])) {
      set_.dead_interfaces.emplace_back(inner->text);
      return {};
    } else if (const auto added = ranges(*inner); !added) {
      return added;
    }
    set_.elements.push_back(std::move(element));
    return {};
  }

  Readable<void> ranges(const Json& json) {
    const Json* parts = json.find("concat");
    if (parts == nullptr && types_.key.size() == 1)
      return part(json, 0);
    if (parts == nullptr || !parts->is_array() || parts->size != types_.key.size())
      return unreadable("an element with another number of parts than its set");
    const std::size_t before = set_.keys.size();
    std::size_t i = 0;
    for (const Json* item = parts->first; item != nullptr; item = item->next, ++i)
      if (const auto added = part(*item, i); !added) {
        set_.keys.resize(before);
        return added;
      }
    return {};
  }

  Readable<void> part(const Json& json, std::size_t i) {
    const auto range = read_range(json, types_.key[i], types_.bits[i]);
    if (!range)
      return unreadable(range.error().reason);
    set_.keys.push_back(*range);
    return {};
  }

  static void attributes(const Json& json, Element& element) {
    for (const Json* item = json.first; item != nullptr; item = item->next) {
      if (item->name == "comment")
        element.comment = item->text;
      else if (item->name == "counter")
        element.counter = true;
      else if (item->name == "timeout" || item->name == "expires")
        element.expires = true;
      else if (item->name != "val")
        element.limited = true;  // limit, quota, ct count, or one that we do not know
    }
  }

  Readable<void> data(const Json& json, Data& out) {
    if (types_.data.empty()) {
      out.emplace<std::string>(json.text);
      return {};
    }
    if (types_.data[0] == ValueType::Verdict) {
      const auto verdict = read_verdict(json, table_, names_);
      if (!verdict)
        return unreadable("verdict " + to_text(json, 80) + ": not modelled");
      out = *verdict;
      return {};
    }
    const Json* parts = json.find("concat");
    const Json* item = parts != nullptr ? parts->first : &json;
    auto& values = out.emplace<std::vector<ValueRange>>();
    for (const ValueType type : types_.data) {
      if (item == nullptr)
        return unreadable("a value with another number of parts than its map");
      const auto range = read_range(*item, type, bits_of(type));
      if (!range)
        return unreadable(range.error().reason);
      values.push_back(*range);
      item = parts != nullptr ? item->next : nullptr;
    }
    return {};
  }

  const SetTypes& types_;
  Index table_;
  Names& names_;
  Set& set_;
};

// "ipv4_addr . inet_service", or an array of names.
std::vector<std::string_view> type_names(const Json& json) {
  std::vector<std::string_view> types;
  if (json.is_array()) {
    for (const Json* item = json.first; item != nullptr; item = item->next)
      types.push_back(item->text);
    return types;
  }
  std::string_view rest = json.text;
  for (;;) {
    const auto dot = rest.find(" . ");
    types.push_back(rest.substr(0, dot));
    if (dot == std::string_view::npos)
      return types;
    rest.remove_prefix(dot + 3);
  }
}

bool has_flag(const Json& json, std::string_view flag) {
  const Json* flags = json.find("flags");
  if (flags == nullptr)
    return false;
  if (flags->is_text())
    return flags->text == flag;
  for (const Json* item = flags->first; item != nullptr; item = item->next)
    if (item->text == flag)
      return true;
  return false;
}

// Statements of all elements of a set: counters change nothing, all others may refuse.
bool has_limit(const Json& json) {
  const Json* statements = json.find("stmt");
  if (statements == nullptr)
    return false;
  for (const Json* item = statements->first; item != nullptr; item = item->next)
    if (item->find("counter") == nullptr)
      return true;
  return false;
}

}  // namespace

std::optional<Verdict> read_verdict(const Json& json, Index table, Names& names) {
  if (!json.is_object() || json.size != 1)
    return std::nullopt;
  for (const VerdictWord& known : kVerdicts) {
    if (known.word != json.first->name)
      continue;
    Verdict verdict{known.kind, kNone};
    if (known.kind == VerdictKind::Jump || known.kind == VerdictKind::Goto) {
      const std::string_view target = json.first->text_of("target");
      if (target.empty())
        return std::nullopt;
      verdict.chain = names.chain(table, target);
    }
    return verdict;
  }
  return std::nullopt;
}

SetTypes types_of(const TypedKey& key) {
  SetTypes types;
  for (const TypedOperand& part : key) {
    types.key.push_back(part.type);
    types.bits.push_back(bits(part.operand));
    types.is_misread |= key.size() > 1 && (part.operand.selector == Selector::MetaLength ||
                                           part.operand.selector == Selector::CtZone);
  }
  return types;
}

void read_elements(const Json& elements, const SetTypes& types, Index table, Names& names,
                   Set& set) {
  set.width = types.key.size();
  set.is_map = types.is_map;
  if (!elements.is_array())
    set.unmodelled = "a list of elements was expected";
  else if (types.is_misread)
    set.unmodelled = "nft 1.0.6 lists other numbers than it loaded";
  else
    Elements(types, table, names, set).read(elements);
}

Status read_named_set(const Json& json, bool is_map, Index table, Names& names, Ruleset& ruleset) {
  const auto index = names.define_set(table, json.text_of("name"));
  if (!index)
    return fail(index.error());
  Set set;
  set.name = json.text_of("name");
  set.table = table;
  set.timeout = has_flag(json, "timeout");
  set.dynamic = has_flag(json, "dynamic");  // nft 1.0.6 does not list this one
  SetTypes types;
  types.is_map = is_map;
  const Json* type = json.find("type");
  if (type == nullptr || (!type->is_text() && !type->is_array()))
    return fail(ErrorKind::Environment,
                "set " + in_backticks(set.name) + " is listed without its type");
  for (const std::string_view name : type_names(*type)) {
    types.key.push_back(type_named(name));
    types.bits.push_back(bits_of(types.key.back()));
  }
  if (const Json* target = json.find("map"); is_map && target != nullptr)
    for (const std::string_view name : type_names(*target))
      if (!is_object(name))
        types.data.push_back(type_named(name));
  set.width = types.key.size();
  set.is_map = is_map;
  if (const Json* elements = json.find("elem"))
    read_elements(*elements, types, table, names, set);
  if (has_limit(json))
    for (Element& element : set.elements)
      element.limited = true;
  set.dynamic = set.dynamic || ruleset.sets[*index].dynamic;
  ruleset.sets[*index] = std::move(set);
  return {};
}

}  // namespace bulkhead::compiler::proof
