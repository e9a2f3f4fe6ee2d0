// SPDX-License-Identifier: MIT
//
// Who may talk to the endpoint at all, decided from the head of a request before anything of its
// body is read: the name it was reached by (against DNS rebinding) and the web page it comes from.
#pragma once

#include "app/api/api_error.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firesteel::app {

struct AccessRules
{
    std::vector<std::string> origins; // as normalOrigin() gives them
    std::vector<std::string> hosts; // further names of this machine, without port
};

// 127.0.0.0/8, ::1 and localhost.
bool isLoopbackAddress(std::string_view address);

// Of "HTTPS://App.Example:8443/": "https://app.example:8443". None: it is no origin; "null" and
// "*" are none either.
std::optional<std::string> normalOrigin(std::string_view text);

// `host`: the Host header, of which there must be exactly one. Addresses and localhost are always
// right: a foreign page can only come by a name.
std::optional<ApiError> hostProblem(std::string_view host, std::size_t count,
                                    const AccessRules &rules);

// Programs send no Origin; browsers do, and Sec-Fetch-Site where they send none.
std::optional<ApiError> originProblem(std::optional<std::string_view> origin,
                                      std::string_view fetchSite, const AccessRules &rules);

} // namespace firesteel::app
