#include "compiler/proof/portion.h"

#include <algorithm>

namespace bulkhead::compiler::proof {

namespace {

// Drops what the box says of every packet of `whole` as well, last fields first.
Box told_apart(Diagrams& space, Box box, Diagram part, Diagram whole) {
  for (std::size_t i = box.fields.size(); i-- > 0;) {
    Box wider = box;
    wider.fields.erase(wider.fields.begin() + static_cast<std::ptrdiff_t>(i));
    if (space.is_subset(space.intersect(to_set(space, wider), whole), part))
      box = std::move(wider);
  }
  return box;
}

bool asks(const Box& box, Field a, Field b) {
  return std::any_of(box.fields.begin(), box.fields.end(),
                     [&](const auto& field) { return field.first == a || field.first == b; });
}

std::vector<Family> families_of(Diagrams& space, const Box& box, Diagram part) {
  const Diagram here = space.intersect(to_set(space, box), part);
  std::vector<Family> out;
  for (const Family family : families(box)) {
    const bool v4 = family == Family::V4;
    const bool is_of_other = v4 ? asks(box, Field::Source6, Field::Destination6)
                                : asks(box, Field::Source4, Field::Destination4);
    const Diagram packets = space.equal(Field::Family, v4 ? kIpv4 : kIpv6);
    if (!is_of_other && space.intersect(here, packets) != space.nothing())
      out.push_back(family);
  }
  return out;
}

}  // namespace

Portion portion(Diagrams& space, Diagram part, Diagram whole, const Naming& naming,
                std::size_t limit) {
  Portion out;
  out.is_all = part == whole;
  out.share = space.fraction(part) / space.fraction(whole);
  if (out.is_all)
    return out;
  const bool has_both =
      space.intersect(whole, space.equal(Field::Family, kIpv4)) != space.nothing() &&
      space.intersect(whole, space.equal(Field::Family, kIpv6)) != space.nothing();
  const Boxes found = boxes(space, part, limit);
  out.complete = found.complete;
  for (const Box& box : found.boxes) {
    const Box short_one = told_apart(space, box, part, whole);
    std::vector<Family> of = families_of(space, short_one, part);
    // Both families where the words do not differ.
    std::vector<NamedPart> named;
    for (const Family family : of) {
      NamedPart next{{family}, naming.name(short_one, family), false};
      const auto alike = std::find_if(named.begin(), named.end(), [&](const NamedPart& known) {
        return known.box == next.box;
      });
      if (alike != named.end())
        alike->families.push_back(family);
      else
        named.push_back(std::move(next));
    }
    for (NamedPart& next : named) {
      next.is_of_one = has_both && next.families.size() == 1;
      if (std::none_of(out.parts.begin(), out.parts.end(), [&](const NamedPart& known) {
            return known.box == next.box && known.families == next.families;
          }))
        out.parts.push_back(std::move(next));
    }
  }
  return out;
}

std::string to_string(const NamedPart& part) {
  const NamedBox& box = part.box;
  std::string out;
  const auto add = [&](const std::string& text) {
    if (!text.empty())
      out += (out.empty() ? "" : ", ") + text;
  };
  if (box.from != "anywhere")
    add("from " + box.from);
  if (box.to != "anywhere")
    add("to " + box.to);
  if (box.traffic != "anything")
    add(box.traffic.starts_with("anything ") ? box.traffic.substr(9) : box.traffic);
  add(box.state);
  add(box.interfaces);
  add(box.others);
  const bool is_plain = box.from == "anywhere" && box.to == "anywhere";
  if (part.is_of_one && is_plain)
    out = (part.families.front() == Family::V4 ? "IPv4" : "IPv6") + (out.empty() ? "" : ", " + out);
  return out.empty() ? "some of it" : out;
}

std::string to_string(const Portion& portion) {
  if (portion.is_all)
    return "all of it";
  std::string out;
  for (const NamedPart& part : portion.parts)
    out += (out.empty() ? "" : "; ") + to_string(part);
  return portion.complete ? out : out + "; and more";
}

}  // namespace bulkhead::compiler::proof
