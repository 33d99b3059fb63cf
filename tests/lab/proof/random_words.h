// The small world that random rules and random packets share: words of nft for its addresses,
// ports, marks and names, and for values just beside them.
#pragma once

#include <functional>
#include <string>

#include "dice.h"

namespace bulkhead::test {

inline const char* const kAddress4[] = {"10.1.0.1", "10.1.0.10", "10.1.0.11", "10.1.0.12",
                                        "10.2.0.1", "10.2.0.10", "10.2.0.11", "10.2.0.12"};
inline const char* const kAddress6[] = {"fd01::1", "fd01::10", "fd01::11", "fd01::12",
                                        "fd02::1", "fd02::10", "fd02::11", "fd02::12"};
inline const char* const kNet4[] = {"10.1.0.0/16", "10.1.0.10/31", "10.2.0.8/30",
                                    "0.0.0.0/0",   "10.0.0.0/8",   "10.2.0.11-10.2.0.12",
                                    "10.1.0.0/28"};
inline const char* const kNet6[] = {"fd01::/64", "fd01::10/127", "fd02::8/125",
                                    "::/0",      "fd00::/8",     "fd02::11-fd02::12"};
inline const unsigned kPorts[] = {1, 22, 53, 79, 80, 81, 443, 1023, 1024, 4791, 65535};
inline const char* const kMarks[] = {"0", "1", "2", "5", "0xff", "0x100", "0xffffffff"};
inline const char* const kApart[] = {"\"t0\"", "\"t1\"", "\"lo\"", "\"eth*\""};
inline const char* const kNames[] = {"\"t0\"", "\"t1\"", "\"t*\"", "\"lo\"", "\"t\"", "\"eth*\""};

// "!= ", sometimes.
std::string is(Dice& dice);
// "{ a, b }" of different values.
std::string braces(Dice& dice, const std::function<std::string()>& value);
std::string port_range(Dice& dice);
// What may stand behind "tcp dport", "ip saddr" and "tcp flags".
std::string ports(Dice& dice);
std::string addresses(Dice& dice, bool v6);
std::string flags(Dice& dice);

}  // namespace bulkhead::test
