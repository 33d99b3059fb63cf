// The right side of listed expressions: constants, ranges, prefixes and wildcard names. Part of
// parse_ruleset.
#pragma once

#include <string>
#include <vector>

#include "compiler/proof/listed_fields.h"

namespace bulkhead::compiler::proof {

// A constant; several flags are one constant ("syn" | "ack").
[[nodiscard]] Readable<Value> read_value(const Json& json, ValueType type, unsigned bits);

// A constant, {"range": ...}, {"prefix": ...}, or "eth*".
[[nodiscard]] Readable<ValueRange> read_range(const Json& json, ValueType type, unsigned bits);

// An interface index of which no interface is left: it equals nothing. ("0", in nft the index of
// no interface, is the empty name.)
[[nodiscard]] bool is_dead_interface(const Json& json, ValueType type);

[[nodiscard]] unsigned bits_of(
    ValueType type);  // of a set's component; 0 where the type does not say

// Sorted, neighbours joined.
[[nodiscard]] std::vector<ValueRange> normalised(std::vector<ValueRange> ranges);

}  // namespace bulkhead::compiler::proof
