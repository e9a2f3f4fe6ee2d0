// SPDX-License-Identifier: MIT
#include "app/api/access_rules.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cctype>
#include <format>

namespace firesteel::app {

namespace {

constexpr std::size_t kLongestName = 253;

std::string lowered(std::string_view text)
{
    std::string result(text);
    std::ranges::transform(result, result.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

bool isAddress(const std::string &name)
{
    std::array<unsigned char, sizeof(in6_addr)> bytes {};
    return inet_pton(AF_INET, name.c_str(), bytes.data()) == 1
        || inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

bool isPort(std::string_view text)
{
    return !text.empty() && text.size() <= 5
        && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Without the port and without the brackets of IPv6; none: malformed.
std::optional<std::string> nameOf(std::string_view host)
{
    if (host.empty() || host.size() > kLongestName)
        return std::nullopt;
    if (host.starts_with('[')) {
        const std::size_t end = host.find(']');
        if (end == std::string_view::npos)
            return std::nullopt;
        const std::string_view rest = host.substr(end + 1);
        if (!rest.empty() && !(rest.starts_with(':') && isPort(rest.substr(1))))
            return std::nullopt;
        return lowered(host.substr(1, end - 1));
    }
    const std::size_t colon = host.find(':');
    if (colon != std::string_view::npos && !isPort(host.substr(colon + 1)))
        return std::nullopt;
    std::string name = lowered(host.substr(0, colon));
    if (name.ends_with('.'))
        name.pop_back();
    return name;
}

ApiError forbidden(std::string code, std::string message)
{
    return { .status = 403,
             .type = "permission_error",
             .code = std::move(code),
             .message = std::move(message) };
}

} // namespace

bool isLoopbackAddress(std::string_view address)
{
    const std::string name = lowered(address);
    in_addr four {};
    if (inet_pton(AF_INET, name.c_str(), &four) == 1)
        return (ntohl(four.s_addr) >> 24U) == 127;
    return name == "localhost" || name == "::1";
}

std::optional<std::string> normalOrigin(std::string_view text)
{
    std::string origin = lowered(text);
    while (origin.ends_with('/'))
        origin.pop_back();
    const std::size_t colon = origin.find("://");
    if (colon == std::string::npos || colon == 0)
        return std::nullopt;
    const std::string_view scheme = std::string_view(origin).substr(0, colon);
    const std::string_view rest = std::string_view(origin).substr(colon + 3);
    const bool isScheme = std::ranges::all_of(scheme, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.';
    });
    const bool isHost = std::ranges::none_of(rest, [](unsigned char c) {
        return c <= ' ' || c >= 127 || c == '/' || c == '?' || c == '#' || c == '@' || c == '*'
            || c == ',';
    });
    return isScheme && isHost && !rest.empty() ? std::optional(origin) : std::nullopt;
}

std::optional<ApiError> hostProblem(std::string_view host, std::size_t count,
                                    const AccessRules &rules)
{
    const auto name = count == 1 ? nameOf(host) : std::nullopt;
    if (!name)
        return badRequest({}, "A request needs exactly one well-formed Host header.");
    if (*name == "localhost" || isAddress(*name) || std::ranges::contains(rules.hosts, *name))
        return std::nullopt;
    return forbidden("host_not_allowed",
                     std::format("This endpoint is not called \"{}\". Use its address, or add the "
                                 "name to its host names in Firesteel.",
                                 *name));
}

std::optional<ApiError> originProblem(std::optional<std::string_view> origin,
                                      std::string_view fetchSite, const AccessRules &rules)
{
    if (!origin) {
        const bool isForeign = fetchSite == "cross-site" || fetchSite == "same-site";
        return isForeign
            ? std::optional(forbidden("origin_not_allowed",
                                      "Requests of web pages need an Origin that is on the list."))
            : std::nullopt;
    }
    const auto normal = normalOrigin(*origin);
    if (normal && std::ranges::contains(rules.origins, *normal))
        return std::nullopt;
    return forbidden("origin_not_allowed",
                     "Web pages of this origin may not use the endpoint. Add it to the origins in "
                     "Firesteel if you trust it.");
}

} // namespace firesteel::app
