// Rulesets and packets by chance, of few values, so that rules meet packets and each other. Made as
// the types that a listing is read into: also what no text of nft's grammar says.
#pragma once

#include "compiler/proof/packet.h"
#include "compiler/proof/ruleset.h"

namespace bulkhead::compiler::proof::test {

// To be called inside a property. Base chains at every hook of IP; `with_nat`: some of them
// translate.
Ruleset any_ruleset(bool with_nat);
// `translated`: perhaps of a connection with other addresses behind a hook than before.
Packet any_packet(bool translated);
// A rule that writes and then asks may be left there, with nothing else than it was.
bool may_be_left(const Rule& rule);

}  // namespace bulkhead::compiler::proof::test
