// SPDX-License-Identifier: MIT
//
// The server over real sockets: every address, streams, keys, pages of other origins.
#include "tests/app/api/api_fixture.h"

#include <chrono>
#include <doctest/doctest.h>
#include <format>
#include <string>

using namespace firesteel;
using namespace firesteel::test;

namespace {

const std::string kChat = R"({"model":"any","messages":[{"role":"user","content":"Hi"}])";

FakeScript saying(FakeAnswer answer)
{
    FakeScript script;
    script.answer = [answer](const auto &) { return answer; };
    return script;
}

std::string joined(const std::vector<app::Json> &events, const char *field)
{
    std::string text;
    for (const app::Json &event : events) {
        for (const app::Json &choice : event["choices"])
            text += choice["delta"].value(field, "");
    }
    return text;
}

} // namespace

TEST_CASE("server: a chat completion, whole and as a stream")
{
    ServedEngine served(saying(
        { "Think \u00e9\u4e16.", "Hello \u4e16\u754c, world.", engine::FinishReason::Stop, {} }));
    const RawAnswer whole = post(served.port(), "/v1/chat/completions", kChat + "}");
    CHECK(whole.status == 200);
    CHECK(whole.head.contains("Content-Type: application/json"));
    const app::Json json = parsed(whole.body);
    CHECK(json["model"] == "Glimmer");
    CHECK(json["choices"][0]["message"]["content"] == "Hello \u4e16\u754c, world.");
    CHECK(json["choices"][0]["message"]["reasoning_content"] == "Think \u00e9\u4e16.");
    CHECK(json["choices"][0]["finish_reason"] == "stop");
    const auto fingerprint = json["system_fingerprint"].get<std::string>();
    CHECK(fingerprint.starts_with("firesteel-"));
    CHECK(fingerprint.contains("/Glimmer/"));

    const RawAnswer stream
        = post(served.port(), "/v1/chat/completions",
               kChat + R"(,"stream":true,"stream_options":{"include_usage":true},"frobnicate":1})");
    CHECK(stream.status == 200);
    CHECK(stream.head.contains("Content-Type: text/event-stream; charset=utf-8"));
    CHECK(stream.head.contains("Cache-Control: no-cache"));
    CHECK(stream.body.ends_with("data: [DONE]\n\n"));
    const auto events = eventsOf(stream.body);
    CHECK(joined(events, "content") == "Hello \u4e16\u754c, world.");
    CHECK(events.front()["system_fingerprint"] == fingerprint);
    CHECK(joined(events, "reasoning_content") == "Think \u00e9\u4e16.");
    CHECK(events.back()["usage"]["completion_tokens"] == json["usage"]["completion_tokens"]);

    const auto records = served.ended(2);
    CHECK(records[0].status == 200);
    CHECK(records[0].path == "/v1/chat/completions");
    CHECK(records[0].client == "127.0.0.1");
    CHECK(records[0].completionTokens == json["usage"]["completion_tokens"]);
    CHECK(records[1].unknownFields == 1);
}

TEST_CASE("server: calls of tools, all of them or the first alone")
{
    FakeAnswer answer { "", "I look.", engine::FinishReason::ToolCalls, {} };
    answer.toolCalls = { { "c1", "look", R"({"at":"a"})" }, { "c2", "look", R"({"at":"b"})" } };
    ServedEngine served(saying(answer));
    const std::string tools = R"(,"tools":[{"type":"function","function":{"name":"look"}}])";
    const app::Json both
        = parsed(post(served.port(), "/v1/chat/completions", kChat + tools + "}").body);
    CHECK(both["choices"][0]["message"]["tool_calls"].size() == 2);
    CHECK(both["choices"][0]["finish_reason"] == "tool_calls");
    CHECK(served.engine().lastTools().size() == 1);
    const std::string single = kChat + tools + R"(,"parallel_tool_calls":false)";
    const app::Json one = parsed(post(served.port(), "/v1/chat/completions", single + "}").body);
    CHECK(one["choices"][0]["message"]["tool_calls"].size() == 1);
    CHECK(one["choices"][0]["message"]["tool_calls"][0]["id"] == "c1");
    CHECK(one["choices"][0]["finish_reason"] == "tool_calls");
    const auto events
        = eventsOf(post(served.port(), "/v1/chat/completions", single + R"(,"stream":true})").body);
    CHECK(events.back()["choices"][0]["finish_reason"] == "tool_calls");
}

TEST_CASE("server: the other dialects")
{
    ServedEngine served(saying({ "Hm.", "Hello.", engine::FinishReason::Stop, {} }));
    const std::string anthropic
        = R"({"model":"claude-x","max_tokens":50,"messages":[{"role":"user","content":"Hi"}])";
    const app::Json message = parsed(
        post(served.port(), "/v1/messages?beta=true", anthropic + "}", "x-api-key: any\r\n").body);
    CHECK(message["model"] == "claude-x"); // exactly as asked
    CHECK(message["content"] == app::Json::array({ { { "type", "text" }, { "text", "Hello." } } }));
    const auto events
        = eventsOf(post(served.port(), "/v1/messages", anthropic + R"(,"stream":true})").body);
    CHECK(events.front()["message"]["usage"]["input_tokens"].get<int>() > 0);
    CHECK(events.back()["type"] == "message_stop");
    CHECK(served.engine().lastRequest().maxTokens == 50);
    CHECK_FALSE(served.engine().lastRequest().prompt.isPlainText);
    const app::Json count
        = parsed(post(served.port(), "/v1/messages/count_tokens", anthropic + "}").body);
    CHECK(count["input_tokens"] == events.front()["message"]["usage"]["input_tokens"]);
    const RawAnswer wrong = post(served.port(), "/v1/messages", R"({"max_tokens":1})");
    CHECK(wrong.status == 400);
    CHECK(parsed(wrong.body)["type"] == "error");
    CHECK(parsed(wrong.body)["error"]["type"] == "invalid_request_error");

    const app::Json response
        = parsed(post(served.port(), "/v1/responses", R"({"model":"x","input":"Hi"})").body);
    CHECK(response["status"] == "completed");
    CHECK(response["output"][1]["content"][0]["text"] == "Hello.");
    const auto steps
        = eventsOf(post(served.port(), "/v1/responses", R"({"input":"Hi","stream":true})").body);
    CHECK(steps.back()["type"] == "response.completed");

    const app::Json text = parsed(
        post(served.port(), "/v1/completions", R"({"prompt":["Once","Twice"],"max_tokens":5})")
            .body);
    CHECK(text["choices"].size() == 2);
    CHECK(text["choices"][1]["index"] == 1);
    CHECK_FALSE(served.engine().lastOptions().applyTemplate);
    CHECK(served.engine().lastRequest().prompt.isPlainText);
    const RawAnswer both
        = post(served.port(), "/v1/completions", R"({"prompt":["a","b"],"stream":true})");
    CHECK(both.body.ends_with("data: [DONE]\n\n"));
    CHECK(eventsOf(both.body).back()["choices"][0]["index"] == 1);

    const app::Json tokens = parsed(post(served.port(), "/tokenize", R"({"prompt":"ab"})").body);
    CHECK(tokens["tokens"] == app::Json::array({ 97, 98 }));
    CHECK(tokens["count"] == 2);
    CHECK(tokens["max_model_len"] == 262144);
    CHECK(parsed(post(served.port(), "/tokenize", kChat + "}").body)["count"]
          == parsed(post(served.port(), "/v1/chat/completions/input_tokens", kChat + "}")
                        .body)["input_tokens"]);
    CHECK(parsed(post(served.port(), "/detokenize", R"({"tokens":[97,98]})").body)["prompt"]
          == "ab");
    CHECK(post(served.port(), "/detokenize", R"({"tokens":[5000]})").status == 400);
    CHECK(post(served.port(), "/detokenize", R"({"tokens":["a"]})").status == 400);
    CHECK(post(served.port(), "/tokenize", "{}").status == 400);
}

TEST_CASE("server: models, health and metrics")
{
    ServedEngine served;
    const app::Json list = parsed(get(served.port(), "/v1/models").body);
    REQUIRE(list["data"].size() == 1);
    CHECK(list["data"][0]["id"] == "Glimmer");
    CHECK(list["data"][0]["max_model_len"] == 262144);
    CHECK(list["data"][0]["meta"]["n_ctx"] == 262144);
    CHECK(list["data"][0]["architecture"]["input_modalities"] == app::Json::array({ "text" }));
    CHECK(parsed(get(served.port(), "/v1/models/Glimmer").body) == list["data"][0]);
    CHECK(get(served.port(), "/v1/models/other").status == 404);
    CHECK(parsed(get(served.port(), "/health").body)["status"] == "ok");
    post(served.port(), "/chat/completions/", kChat + "}"); // without /v1, with a slash
    served.ended(5);
    const RawAnswer metrics = get(served.port(), "/metrics");
    CHECK(metrics.head.contains("text/plain; version=0.0.4"));
    for (const char *line :
         { "firesteel_http_requests_total{route=\"/v1/chat/completions\",status=\"200\"} 1\n",
           "firesteel_http_requests_total{route=\"/v1/models\",status=\"404\"} 1\n",
           "firesteel_time_to_first_token_seconds_count 1\n",
           "# TYPE firesteel_request_seconds histogram\n", "firesteel_requests_waiting 0\n",
           "firesteel_spec_decode_num_accepted_tokens_per_pos_total{position=\"7\"} 0\n" })
        CHECK_MESSAGE(metrics.body.contains(line), line);
}

TEST_CASE("server: addresses and methods that do not exist are told as JSON")
{
    ServedEngine served;
    const RawAnswer missing = get(served.port(), "/v1/embeddings");
    CHECK(missing.status == 404);
    CHECK(parsed(missing.body)["error"]["code"] == "not_found");
    const RawAnswer wrong = get(served.port(), "/v1/chat/completions");
    CHECK(wrong.status == 405);
    CHECK(wrong.head.contains("Allow: POST"));
    CHECK(parsed(wrong.body)["error"]["code"] == "method_not_allowed");
    CHECK(post(served.port(), "/v1/models", "{}").status == 405);
}

TEST_CASE("server: without a model, 503 and when to come back")
{
    ServedEngine served({}, {}, false);
    const RawAnswer health = get(served.port(), "/health");
    CHECK(health.status == 503);
    CHECK(health.head.contains("Retry-After: "));
    const RawAnswer chat = post(served.port(), "/v1/chat/completions", kChat + "}");
    CHECK(chat.status == 503);
    CHECK(chat.head.contains("Retry-After: "));
    CHECK(parsed(chat.body)["error"]["code"] == "model_not_loaded");
    CHECK(parsed(get(served.port(), "/v1/models").body)["data"].empty());
}

TEST_CASE("server: what the engine refuses, before the stream opens")
{
    const auto errorOf = [](engine::ErrorCode code, bool isAtSubmit) {
        FakeScript script;
        (isAtSubmit ? script.submitError : script.prepareError) = engine::Error { code, "why" };
        ServedEngine served(script);
        return post(served.port(), "/v1/chat/completions", kChat + R"(,"stream":true})");
    };
    const RawAnswer overflow = errorOf(engine::ErrorCode::ContextExceeded, false);
    CHECK(overflow.status == 400);
    CHECK(parsed(overflow.body)["error"]["code"] == "context_length_exceeded");
    const RawAnswer full = errorOf(engine::ErrorCode::QueueFull, true);
    CHECK(full.status == 429);
    CHECK(full.head.contains("Retry-After: "));
    CHECK(errorOf(engine::ErrorCode::BadRequest, false).status == 400);
    CHECK(errorOf(engine::ErrorCode::OutOfMemory, true).status == 503);
    CHECK(errorOf(engine::ErrorCode::Internal, true).status == 500);
    CHECK(errorOf(engine::ErrorCode::Cancelled, true).status == 503);
    CHECK(errorOf(engine::ErrorCode::UnsupportedModel, true).status == 500);
}

TEST_CASE("server: a failure on the way is told within the stream, or as a status")
{
    FakeAnswer answer { "", "Half", engine::FinishReason::Stop, {} };
    answer.failure = engine::Error { engine::ErrorCode::Internal, "a kernel broke" };
    ServedEngine served(saying(answer));
    const RawAnswer stream
        = post(served.port(), "/v1/chat/completions", kChat + R"(,"stream":true})");
    CHECK(stream.status == 200);
    CHECK(eventsOf(stream.body).back()["error"]["message"] == "a kernel broke");
    CHECK_FALSE(stream.body.contains("[DONE]"));
    const RawAnswer whole = post(served.port(), "/v1/chat/completions", kChat + "}");
    CHECK(whole.status == 500);
    CHECK(parsed(whole.body)["error"]["message"] == "a kernel broke");
}

TEST_CASE("server: keys")
{
    app::ApiServerOptions options;
    options.requiresKey = true;
    ServedEngine served({}, options);
    CHECK(served.start() == "A key is required, but there is none yet.");
    const std::string key = served.keys().create("laptop").value();
    REQUIRE(served.start().empty());
    const RawAnswer none = get(served.port(), "/v1/models");
    CHECK(none.status == 401);
    CHECK(none.head.contains("WWW-Authenticate: Bearer"));
    CHECK(parsed(none.body)["error"]["code"] == "invalid_api_key");
    for (const std::string &header :
         { std::string("Authorization: Bearer wrong\r\n"), "Authorization: Basic " + key + "\r\n",
           std::string("Authorization: Bearer \r\n"), "x-api-key: " + key + "0\r\n" })
        CHECK_MESSAGE(get(served.port(), "/v1/models", header).status == 401, header);
    CHECK(get(served.port(), "/metrics").status == 401);
    CHECK(get(served.port(), "/health").status == 200); // open to probes
    CHECK(get(served.port(), "/v1/models", "Authorization: Bearer " + key + "\r\n").status == 200);
    CHECK(get(served.port(), "/v1/models", "x-api-key: " + key + "\r\n").status == 200);
    const auto records = served.ended(8);
    CHECK(records.back().keyName == "laptop");
    REQUIRE(served.keys().remove(served.keys().list()[0].id).has_value());
    CHECK(get(served.port(), "/v1/models", "x-api-key: " + key + "\r\n").status == 401);
}

TEST_CASE("server: an address that others reach needs a key before it opens")
{
    app::ApiServerOptions options;
    options.address = "0.0.0.0";
    const TemporaryFolder folder;
    app::ApiKeys keys(folder / "keys.json");
    CHECK(app::ApiServer::refusal(options, keys).contains("a key is needed"));
    REQUIRE(keys.create("k").has_value());
    CHECK(app::ApiServer::refusal(options, keys).empty());
    options.address = "127.0.0.1";
    CHECK(app::ApiServer::refusal(options, app::ApiKeys(folder / "none.json")).empty());
}

TEST_CASE("server: a taken port and an address of no machine are told with their reason")
{
    ServedEngine served;
    app::ApiServerOptions options;
    options.port = served.port();
    app::ApiServer second(
        served.engine(), served.keys(), options, [](const auto &) { }, [](auto, auto, auto) { });
    const auto started = second.start();
    REQUIRE_FALSE(started.has_value());
    CHECK(started.error().contains(std::to_string(served.port())));
    CHECK(started.error().contains("in use"));
    options.address = "not-an-address.invalid";
    app::ApiServer nowhere(
        served.engine(), served.keys(), options, [](const auto &) { }, [](auto, auto, auto) { });
    CHECK_FALSE(app::ApiServerOptions(options).address.empty());
    REQUIRE(served.keys().create("k").has_value());
    CHECK_FALSE(nowhere.start().has_value());
}

TEST_CASE("server: pages of listed origins only, preflight without a key")
{
    app::ApiServerOptions options;
    options.access.origins = { "https://app.example" };
    ServedEngine served({}, options);
    const std::string good = "Origin: https://app.example\r\n";
    const RawAnswer allowed = get(served.port(), "/v1/models", good);
    CHECK(allowed.status == 200);
    CHECK(allowed.head.contains("Access-Control-Allow-Origin: https://app.example\r\n"));
    CHECK(allowed.head.contains("Vary: Origin"));
    for (const char *header : { "Origin: https://evil.example\r\n", "Origin: null\r\n",
                                "Sec-Fetch-Site: cross-site\r\n" }) {
        const RawAnswer refused = get(served.port(), "/v1/models", header);
        CHECK_MESSAGE(refused.status == 403, header);
        CHECK_FALSE(refused.head.contains("Access-Control-Allow-Origin"));
    }
    CHECK_FALSE(get(served.port(), "/v1/models").head.contains("Access-Control-Allow-Origin"));
    RawClient client(served.port());
    client.send("OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n" + good
                + "Access-Control-Request-Method: POST\r\n\r\n");
    const RawAnswer preflight = client.read();
    CHECK(preflight.status == 204);
    CHECK(preflight.head.contains("Access-Control-Allow-Headers: Authorization, "));
    CHECK(preflight.head.contains("Access-Control-Allow-Methods: GET, POST, OPTIONS"));
}

TEST_CASE("server: names of other models are taken, unless that is switched off")
{
    ServedEngine served;
    CHECK(post(served.port(), "/v1/chat/completions", kChat + "}").status == 200);
    app::ApiServerOptions options;
    options.isModelStrict = true;
    ServedEngine strict({}, options);
    const RawAnswer other = post(strict.port(), "/v1/chat/completions", kChat + "}");
    CHECK(other.status == 404);
    CHECK(parsed(other.body)["error"]["code"] == "model_not_found");
    CHECK(post(strict.port(), "/v1/chat/completions",
               R"({"model":"Glimmer","messages":[{"role":"user","content":"Hi"}]})")
              .status
          == 200);
}

TEST_CASE("server: several requests of one connection, HEAD, and an old client")
{
    ServedEngine served;
    RawClient client(served.port());
    for (int i = 0; i < 3; ++i) {
        client.send(postOf("/v1/chat/completions", kChat + R"(,"stream":true})"));
        CHECK(client.read().body.ends_with("data: [DONE]\n\n"));
    }
    client.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health HTTP/1.1\r\n"
                "Host: localhost\r\n\r\n"); // both at once
    CHECK(client.read().status == 200);
    CHECK(client.read().status == 200);
    RawClient old(served.port());
    old.send("POST /v1/chat/completions HTTP/1.0\r\nHost: localhost\r\n"
             "Content-Type: application/json\r\nContent-Length: "
             + std::to_string((kChat + R"(,"stream":true})").size()) + "\r\n\r\n" + kChat
             + R"(,"stream":true})");
    const std::string all = old.readSome(1 << 20);
    CHECK(all.starts_with("HTTP/1.1 200"));
    CHECK_FALSE(all.contains("Transfer-Encoding"));
    CHECK(all.ends_with("data: [DONE]\n\n"));
}

TEST_CASE("server: bodies in chunks, and clients that ask before they send one")
{
    ServedEngine served;
    const std::string body = kChat + "}";
    const std::string head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                             "Content-Type: application/json\r\n";
    RawClient chunked(served.port());
    chunked.send(head + "Transfer-Encoding: chunked\r\n\r\n");
    for (const std::size_t from : { std::size_t { 0 }, std::size_t { 10 } }) {
        const std::string part = body.substr(from, from == 0 ? 10 : std::string::npos);
        chunked.send(std::format("{:x}\r\n{}\r\n", part.size(), part));
    }
    chunked.send("0\r\n\r\n");
    CHECK(chunked.read().status == 200);
    RawClient asking(served.port());
    asking.send(head
                + std::format("Expect: 100-continue\r\nContent-Length: {}\r\n\r\n", body.size()));
    std::string wanted;
    while (!wanted.ends_with("\r\n\r\n")) { // it may come in pieces
        const std::string more = asking.readSome(1);
        REQUIRE_FALSE(more.empty());
        wanted += more;
    }
    CHECK(wanted.starts_with("HTTP/1.1 100 "));
    asking.send(body);
    CHECK(asking.read().status == 200);
}

TEST_CASE("server: a stream that is silent for long sends comments, as its dialect has them")
{
    app::ApiServerOptions options;
    options.limits.ping = std::chrono::milliseconds(1);
    for (const std::string path : { "/v1/chat/completions", "/v1/messages" }) {
        ServedEngine served(saying({ "", "Ok.", engine::FinishReason::Stop, {} }), options);
        served.engine().holdTokens();
        RawClient client(served.port());
        client.send(postOf(path, kChat + R"(,"max_tokens":50,"stream":true})"));
        const std::string ping = path == "/v1/messages" ? "event: ping\n" : ": ping\n\n";
        std::string all;
        while (!all.contains(ping)) {
            const std::string more = client.readSome(1);
            REQUIRE_FALSE(more.empty());
            all += more;
        }
        served.engine().releaseTokens();
        const std::string end = path == "/v1/messages" ? "message_stop" : "[DONE]";
        while (!all.contains(end)) {
            const std::string more = client.readSome(1);
            REQUIRE_FALSE(more.empty());
            all += more;
        }
        CHECK(all.contains("Ok."));
    }
}

TEST_CASE("server: stopping ends streams and cancels what they asked for")
{
    ServedEngine served;
    served.engine().holdTokens();
    RawClient client(served.port());
    client.send(postOf("/v1/chat/completions", kChat + R"(,"stream":true})"));
    REQUIRE(client.readSome(1).starts_with("HTTP/1.1 200"));
    served.server().stop();
    CHECK(client.isAtEnd());
    served.waitUntilIdle();
    CHECK_THROWS(RawClient(served.port()));
}
