#include "compiler/targets/nft_text.h"

#include <algorithm>

#include "compiler/rule_comment.h"
#include "policy/identifier.h"
#include "policy/support/sha256.h"

namespace bulkhead::compiler {

namespace {

// The kernel takes 255 bytes; what people read in a trace should be shorter.
constexpr std::size_t kNameLimit = 63;

// Length of the prefix that the range is, or -1.
int prefix_length(const AddressRange& range) {
  const std::size_t width = static_cast<std::size_t>(bits(range.first.family)) / 8;
  std::size_t byte = 0;
  while (byte < width && range.first.bytes[byte] == range.last.bytes[byte])
    ++byte;
  if (byte == width)
    return static_cast<int>(width) * 8;
  for (std::size_t i = byte + 1; i < width; ++i)
    if (range.first.bytes[i] != 0 || range.last.bytes[i] != 0xff)
      return -1;
  const unsigned differing = range.first.bytes[byte] ^ range.last.bytes[byte];
  const bool low_bits = (differing & (differing + 1)) == 0;
  if (!low_bits || (range.first.bytes[byte] & differing) != 0)
    return -1;
  int length = static_cast<int>(byte) * 8 + 8;
  for (unsigned rest = differing; rest != 0; rest >>= 1)
    --length;
  return length;
}

}  // namespace

void NftText::line(std::string_view text) {
  out_.append(depth_ * 2, ' ').append(text).push_back('\n');
}

void NftText::open(std::string_view head) {
  out_.append(depth_ * 2, ' ').append(head).append(" {\n");
  ++depth_;
}

void NftText::close() {
  --depth_;
  line("}");
}

void NftText::remark(std::string_view text) {
  out_.append(depth_ * 2, ' ').append("# ").append(text).push_back('\n');
}

void NftText::elements(const std::vector<std::string>& items) {
  if (items.empty())
    return;
  open("elements =");
  for (std::size_t i = 0; i < items.size(); ++i) {
    out_.append(depth_ * 2, ' ').append(items[i]);
    out_.append(i + 1 < items.size() ? ",\n" : "\n");
  }
  close();
}

std::string NftNames::unique(std::string_view prefix, std::string_view name) {
  std::string base = std::string(prefix) + policy::nft_identifier(name);
  if (base.size() > kNameLimit)
    base = base.substr(0, kNameLimit - 9) + '_' + sha256_hex(name).substr(0, 8);
  std::string out = base;
  for (int i = 2; !taken_.insert(out).second; ++i)
    out = base + '_' + std::to_string(i);
  return out;
}

std::string_view NftComments::of(const std::vector<std::string>& rules) {
  buffer_ = nft_quoted(rule_comment(rules));
  const auto comment = std::string_view(buffer_).substr(1, buffer_.size() - 2);
  if (is_hashed(comment))
    hashed_.try_emplace(std::string(comment), rules);
  return buffer_;
}

std::string nft_range(const AddressRange& range) {
  if (range.first == range.last)
    return range.first.str();
  const int length = prefix_length(range);
  if (length >= 0)
    return range.first.str() + '/' + std::to_string(length);
  return range.first.str() + '-' + range.last.str();
}

std::string nft_range(const PortRange& range) {
  std::string out = std::to_string(range.first);
  if (range.first != range.last)
    out.append(1, '-').append(std::to_string(range.last));
  return out;
}

}  // namespace bulkhead::compiler
