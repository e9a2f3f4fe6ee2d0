// SPDX-License-Identifier: MIT
#include "engine/grammar/text_formats.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace firesteel::engine {

namespace {

// RFC 3339, section 5.6; 29 February in years that divide by 4 but not by 100, or by 400
const std::string kDate = "(?:[1-9][0-9]{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
                          "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
                          "|(?:[1-9][0-9](?:0[48]|[2468][048]|[13579][26])"
                          "|(?:[2468][048]|[13579][26])00)-02-29)";
const std::string kTime = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,6})?"
                          "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";
// RFC 1123, section 2.1: labels of 63 characters, at most 255 in all
const std::string kLabel = "[A-Za-z0-9](?:[A-Za-z0-9]{0,61}[A-Za-z0-9])?";
const std::string kDomain = kLabel + "(?:\\." + kLabel + "){1,2}";
const std::string kByte = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";

std::string whole(const std::string &pattern) { return "^(?:" + pattern + ")$"; }

} // namespace

std::string_view formatPattern(std::string_view format)
{
    static const std::array<std::pair<std::string_view, std::string>, 9> patterns { {
        { "date", whole(kDate) },
        { "time", whole(kTime) },
        { "date-time", whole(kDate + "T" + kTime) },
        { "uuid", whole("[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}") },
        { "email", whole("[A-Za-z0-9_+-]{1,20}(?:\\.[A-Za-z0-9_+-]{1,20}){0,2}@" + kDomain) },
        { "hostname", whole(kLabel + "(?:\\." + kLabel + "){0,2}") },
        { "ipv4", whole("(?:" + kByte + "\\.){3}" + kByte) },
        { "ipv6", whole("(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}") },
        { "uri",
          whole("https?://" + kDomain
                + "(?::[1-9][0-9]{0,3})?(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]"
                  "|%[0-9A-Fa-f]{2})*)*(?:\\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]"
                  "|%[0-9A-Fa-f]{2})*)?(?:#(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]"
                  "|%[0-9A-Fa-f]{2})*)?") },
    } };
    const auto *known = std::ranges::find(patterns, format, [](const auto &p) { return p.first; });
    return known == patterns.end() ? std::string_view() : std::string_view(known->second);
}

} // namespace firesteel::engine
