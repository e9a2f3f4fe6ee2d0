// SPDX-License-Identifier: MIT
//
// Host and Origin.
#include "app/api/access_rules.h"

#include <doctest/doctest.h>
#include <string>

using namespace firesteel::app;

TEST_CASE("access: by address and as localhost always, by other names only where they are listed")
{
    const AccessRules rules { {}, { "spark.local" } };
    for (const char *host :
         { "localhost", "LOCALHOST:8686", "127.0.0.1", "127.0.0.1:1", "192.168.1.20:8686", "[::1]",
           "[::1]:8686", "[fe80::1]:80", "spark.local", "Spark.Local.:8686" })
        CHECK_MESSAGE(!hostProblem(host, 1, rules), host);
    for (const char *host :
         { "evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
           "xn--e1afmkfd.example:8686", "2130706433", "spark.local.evil.example" })
        CHECK_MESSAGE(hostProblem(host, 1, rules)->status == 403, host);
    for (const char *host : { "", "localhost:port", "[::1", "[::1]x", "localhost:123456", "a:b:c" })
        CHECK_MESSAGE(hostProblem(host, 1, rules)->status == 400, host);
    CHECK(hostProblem("localhost", 2, rules)->status == 400);
    CHECK(hostProblem("localhost", 0, rules)->status == 400);
}

TEST_CASE("access: web pages only of origins that are listed")
{
    const AccessRules rules { { "https://app.example", "http://localhost:3000" }, {} };
    CHECK_FALSE(originProblem(std::nullopt, "", rules)); // a program
    CHECK_FALSE(originProblem(std::nullopt, "none", rules)); // typed into a browser
    CHECK_FALSE(originProblem(std::nullopt, "same-origin", rules));
    CHECK_FALSE(originProblem("https://app.example", "cross-site", rules));
    CHECK_FALSE(originProblem("HTTPS://App.Example", "", rules));
    CHECK(originProblem(std::nullopt, "cross-site", rules)->status == 403);
    CHECK(originProblem(std::nullopt, "same-site", rules)->status == 403);
    for (const char *origin : { "null", "", "*", "https://evil.example", "http://app.example",
                                "https://app.example:8443", "https://app.example.evil.example",
                                "http://localhost", "https://app.example, https://evil.example" })
        CHECK_MESSAGE(originProblem(origin, "", rules)->status == 403, origin);
    CHECK(originProblem("null", "", { { "null" }, {} })->status == 403); // even if it was listed
}

TEST_CASE("access: origins are brought into one form")
{
    CHECK(normalOrigin("HTTPS://App.Example:8443/") == "https://app.example:8443");
    CHECK(normalOrigin("vscode-webview://abc") == "vscode-webview://abc");
    for (const char *text : { "app.example", "null", "*", "https://", "https://*", "://x",
                              "https://a/b", "https://user@a", "https://a b", "" })
        CHECK_MESSAGE(!normalOrigin(text), text);
}

TEST_CASE("access: what counts as this machine")
{
    for (const char *address : { "127.0.0.1", "127.8.9.1", "::1", "localhost" })
        CHECK_MESSAGE(isLoopbackAddress(address), address);
    for (const char *address : { "0.0.0.0", "::", "192.168.1.2", "128.0.0.1", "spark.local", "" })
        CHECK_MESSAGE(!isLoopbackAddress(address), address);
}
