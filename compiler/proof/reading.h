// How what a rule looks at (selector.h, in nft's many words) is read from the fields of a packet
// (field.h, each bit once). The only place that knows both.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compiler/proof/diagram.h"
#include "compiler/proof/packet.h"
#include "compiler/proof/ruleset.h"

namespace bulkhead::compiler::proof {

// The packets from which the operand can be read at all: where nf_tables would not leave the rule.
// Packets are taken to be long enough for every place of the model.
[[nodiscard]] Diagram readable(Diagrams& space, const Operand& operand);

// What branches[i].child says where the operand is in branches[i].range, else `otherwise`; children
// and `otherwise` are constants. Nothing where the operand is outside the model.
[[nodiscard]] std::optional<Diagram> read(Diagrams& space, const Operand& operand,
                                          const std::vector<Branch>& branches, Diagram otherwise);

// The field that holds just this selector, whole and as it is; none where it is a part of one or is
// written differently there.
[[nodiscard]] std::optional<Field> field_of(const Operand& operand);

// The fields of one packet, for Diagrams::at. Fib queries are 0.
[[nodiscard]] std::vector<Value> values_of(const Packet& packet);

}  // namespace bulkhead::compiler::proof
