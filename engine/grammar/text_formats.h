// SPDX-License-Identifier: MIT
//
// The formats of JSON Schema that are held to, each as a pattern of texts that certainly have it.
#pragma once

#include <string_view>

namespace firesteel::engine {

// The pattern of a format; empty: not one of date, time, date-time, uuid, email, hostname, ipv4,
// ipv6, uri. Narrower than the format: years 1000 to 9999, no leap seconds, no quoted mailbox
// names, no addresses of IPv6 with "::", http and https only.
std::string_view formatPattern(std::string_view format);

} // namespace firesteel::engine
