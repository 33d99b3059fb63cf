#include "policy/selections.h"

#include <algorithm>

#include "policy/matrix.h"

namespace bulkhead::policy {
namespace {

bool is_selected(const Selector& selector, const Class& cls) {
  if (cls.kind == ClassKind::Spare)
    return false;
  const bool labelled = selector.label.empty() ||
                        std::binary_search(cls.labels.begin(), cls.labels.end(), selector.label);
  const bool sits_in_segment = cls.kind == ClassKind::Endpoint || cls.kind == ClassKind::Behind;
  switch (selector.what) {
    case Selector::What::Any:
      return true;
    case Selector::What::AnyTenant:
      return !cls.tenant.empty();
    case Selector::What::Tenant:
      return cls.tenant == selector.name;
    case Selector::What::Segment:
      return sits_in_segment && cls.place == selector.name && labelled;
    case Selector::What::Partition:
      return cls.kind == ClassKind::Partition && cls.place == selector.name && labelled;
    case Selector::What::Enforcer:
      return cls.kind == ClassKind::Enforcer && cls.place == selector.name;
    case Selector::What::External:
      return cls.kind == ClassKind::External && cls.place == selector.name;
    case Selector::What::Unresolved:
      return false;
  }
  return false;
}

}  // namespace

std::vector<ClassId> Selections::of(const std::vector<Selector>& selectors) {
  std::vector<ClassId> out;
  for (const Selector& selector : selectors) {
    const std::vector<ClassId>& found = of(selector);
    out.insert(out.end(), found.begin(), found.end());
  }
  if (selectors.size() > 1) {
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
  }
  return out;
}

const std::vector<ClassId>& Selections::of(const Selector& selector) {
  std::string key(1, static_cast<char>('0' + static_cast<int>(selector.what)));
  key.append(selector.name).append(1, '\0').append(selector.label);
  const auto [entry, is_new] = known_.try_emplace(std::move(key));
  if (is_new)
    entry->second = select(selector, universe_);
  return entry->second;
}

std::vector<ClassId> select(const Selector& selector, const Universe& universe) {
  std::vector<ClassId> out;
  for (ClassId id = 0; id < universe.classes.size(); ++id)
    if (is_selected(selector, universe.classes[id]))
      out.push_back(id);
  return out;
}

bool is_excepted(const Never& never, const Universe& universe, ClassId from, ClassId to) {
  const Class& source = universe.classes[from];
  const Class& destination = universe.classes[to];
  return std::any_of(never.except.begin(), never.except.end(), [&](const Never::Except& except) {
    if (except.same_tenant)
      return !source.tenant.empty() && source.tenant == destination.tenant;
    return is_selected(except.selector, source) || is_selected(except.selector, destination);
  });
}

}  // namespace bulkhead::policy
