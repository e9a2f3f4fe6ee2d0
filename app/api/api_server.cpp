// SPDX-License-Identifier: MIT
#include "app/api/api_server.h"

#include "app/api/anthropic_messages.h"
#include "app/api/anthropic_reply.h"
#include "app/api/model_report.h"
#include "app/api/openai_chat.h"
#include "app/api/openai_chat_reply.h"
#include "app/api/openai_completions.h"
#include "app/api/openai_responses.h"
#include "app/api/openai_responses_reply.h"

#include <algorithm>
#include <chrono>
#include <format>
#include <random>
#include <utility>

namespace firesteel::app {

namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;

constexpr std::size_t kMostBodyBytes = std::size_t { 256 } << 20; // of all requests together
constexpr std::size_t kLongestLoggedPath = 100;
constexpr int kRetrySeconds = 2;
constexpr int kClientGone = 499; // nginx's number; never sent

template <typename Unit> std::int64_t now()
{
    return duration_cast<Unit>(system_clock::now().time_since_epoch()).count();
}

std::uint64_t randomNumber()
{
    std::random_device device;
    return std::uniform_int_distribution<std::uint64_t>()(device);
}

// What of a path may be logged: it is the client's text.
std::string shown(const std::string &path)
{
    std::string text = path.substr(0, kLongestLoggedPath);
    std::ranges::replace_if(text, [](unsigned char c) { return c < ' ' || c >= 127; }, '?');
    return text;
}

std::string keyOf(const httplib::Request &request)
{
    constexpr std::string_view kBearer = "Bearer ";
    const std::string authorization = request.get_header_value("Authorization");
    if (authorization.starts_with(kBearer))
        return authorization.substr(kBearer.size());
    return request.get_header_value("x-api-key");
}

bool isJson(std::string type)
{
    type = type.substr(0, type.find(';'));
    while (type.ends_with(' '))
        type.pop_back();
    std::ranges::transform(type, type.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return type == "application/json" || type.ends_with("+json");
}

ApiError crowded(std::string message)
{
    return { .status = 503,
             .type = "server_error",
             .code = "overloaded",
             .message = std::move(message),
             .retryAfterSeconds = kRetrySeconds };
}

ApiResult<ApiRequest> parse(Route route, const Json &body, const engine::ModelInfo &model)
{
    switch (route) {
    case Route::Completions:
        return parseTextCompletion(body, model);
    case Route::Responses:
    case Route::ResponsesInputTokens:
        return parseResponses(body, model);
    case Route::Messages:
        return parseAnthropicMessages(body, model);
    case Route::MessagesCountTokens:
        return parseAnthropicMessages(body, model, true);
    default:
        return parseChatCompletion(body, model);
    }
}

} // namespace

struct ApiServer::Exchange
{
    RequestRecord record;
    steady_clock::time_point began;
    std::optional<RouteMatch> match;
    std::size_t leasedBytes = 0; // of m_bodyBytes
    std::shared_ptr<GenerationRun> run;
    std::unique_ptr<ReplyFormat> format;

    bool hasBegun() const { return record.id != 0; }
    static Exchange &current()
    {
        static thread_local Exchange exchange;
        return exchange;
    }
};

ApiServer::ApiServer(engine::Engine &engine, const ApiKeys &keys, ApiServerOptions options,
                     RequestSink requests, engine::LogSink log)
    : m_engine(engine)
    , m_keys(keys)
    , m_options(std::move(options))
    , m_requests(std::move(requests))
    , m_log(std::move(log))
    , m_http(m_options.limits)
    , m_started(now<seconds>())
    , m_nonce(randomNumber())
{
    install();
}

ApiServer::~ApiServer() { stop(); }

std::string ApiServer::refusal(const ApiServerOptions &options, const ApiKeys &keys)
{
    if (!isLoopbackAddress(options.address) && keys.isEmpty())
        return std::format("{} can be reached from other computers, so a key is needed first.",
                           options.address);
    if (options.requiresKey && keys.isEmpty())
        return "A key is required, but there is none yet.";
    return {};
}

std::expected<int, std::string> ApiServer::start()
{
    if (std::string reason = refusal(m_options, m_keys); !reason.empty())
        return std::unexpected(std::move(reason));
    std::string problem;
    const int port = m_http.bind(m_options.address, m_options.port, problem);
    if (port < 0)
        return std::unexpected(std::move(problem));
    m_thread = std::thread([this] { m_http.serveConnections(); });
    return port;
}

void ApiServer::stop()
{
    if (!m_thread.joinable())
        return;
    m_http.requestStop();
    m_thread.join();
}

void ApiServer::install()
{
    using Handled = httplib::Server::HandlerResponse;
    m_http.set_pre_routing_handler([this](const auto &request, auto &response) {
        return gate(request, response) ? Handled::Handled : Handled::Unhandled;
    });
    // Only addresses that the gate knows come so far.
    m_http.Post("/.*", [this](const auto &request, auto &response, const auto &reader) {
        answerPost(request, response, reader);
    });
    m_http.set_exception_handler([this](const auto &, auto &response, std::exception_ptr thrown) {
        std::string what = "unknown";
        try {
            std::rethrow_exception(std::move(thrown));
        } catch (const std::exception &exception) {
            what = exception.what();
        } catch (...) { // NOLINT(bugprone-empty-catch): it has no text
        }
        m_log(engine::LogLevel::Error, "api", "A request failed: " + what);
        refuse(response,
               { .status = 500, .type = "server_error", .message = "The endpoint failed." });
    });
    // What the library itself refuses has no body yet.
    m_http.set_error_handler([this](const auto &, auto &response) {
        if (!response.body.empty())
            return Handled::Unhandled;
        HttpConnection *connection = HttpConnection::current();
        if (connection != nullptr && connection->isLate())
            response.status = 408;
        refuse(response,
               { .status = response.status,
                 .message = std::format("The request is malformed or too large (HTTP {}).",
                                        response.status) });
        return Handled::Handled;
    });
    m_http.set_logger(
        [this](const auto &request, const auto &response) { finish(request, response); });
}

std::string ApiServer::newId(std::string_view prefix)
{
    return std::format("{}{:016x}{:08x}", prefix, m_nonce, ++m_lastId);
}

void ApiServer::refuse(httplib::Response &response, const ApiError &error)
{
    Exchange &exchange = Exchange::current();
    exchange.record.note = error.code.empty() ? error.param : error.code;
    const bool isForAnthropic = exchange.match && isAnthropic(exchange.match->route);
    response.status = error.status;
    if (error.retryAfterSeconds > 0)
        response.set_header("Retry-After", std::to_string(error.retryAfterSeconds));
    response.set_content(isForAnthropic ? anthropicErrorBody(error) : openAiErrorBody(error),
                         "application/json");
    // A body that was not read would be taken for the next request.
    if (HttpConnection *connection = HttpConnection::current();
        connection != nullptr && !connection->hasReadBody()) {
        connection->endAfterAnswer();
        response.set_header("Connection", "close");
    }
}

std::optional<ApiError> ApiServer::keyProblem(const httplib::Request &request,
                                              Exchange &exchange) const
{
    if (!m_options.requiresKey && isLoopbackAddress(m_options.address))
        return std::nullopt;
    if (const auto name = m_keys.nameOf(keyOf(request))) {
        exchange.record.keyName = *name;
        return std::nullopt;
    }
    return ApiError { .status = 401,
                      .type = "authentication_error",
                      .code = "invalid_api_key",
                      .message = "This endpoint needs one of its keys, as \"Authorization: Bearer "
                                 "KEY\" or \"x-api-key: KEY\"." };
}

std::optional<ApiError> ApiServer::headProblem(const httplib::Request &request,
                                               httplib::Response &response,
                                               Exchange &exchange) const
{
    if (auto problem = hostProblem(request.get_header_value("Host"),
                                   request.get_header_value_count("Host"), m_options.access))
        return problem;
    const bool hasLength = request.has_header("Content-Length");
    if (request.get_header_value_count("Content-Length") > 1
        || (hasLength && request.has_header("Transfer-Encoding")))
        return badRequest({}, "The length of the body is given twice.");
    const std::string origin = request.get_header_value("Origin");
    const bool hasOrigin = request.has_header("Origin");
    if (auto problem
        = originProblem(hasOrigin ? std::optional<std::string_view>(origin) : std::nullopt,
                        request.get_header_value("Sec-Fetch-Site"), m_options.access))
        return problem;
    response.set_header("Vary", "Origin");
    if (hasOrigin)
        response.set_header("Access-Control-Allow-Origin", origin);
    if (request.method == "OPTIONS")
        return std::nullopt;
    exchange.match = routeOf(request.path);
    if (m_http.isCrowded() && !(exchange.match && exchange.match->route == Route::Health))
        return crowded("Too many connections; try again.");
    if (!exchange.match)
        return ApiError { .status = 404,
                          .code = "not_found",
                          .message = "There is nothing under this address." };
    const bool isGet = request.method == "GET" || request.method == "HEAD";
    if (exchange.match->method != (isGet ? "GET" : request.method)) {
        response.set_header("Allow", std::string(exchange.match->method));
        return ApiError { .status = 405,
                          .code = "method_not_allowed",
                          .message = std::format("{} takes {}.", exchange.match->name,
                                                 exchange.match->method) };
    }
    if (exchange.match->route != Route::Health) {
        if (auto problem = keyProblem(request, exchange)) {
            response.set_header("WWW-Authenticate", "Bearer");
            return problem;
        }
    }
    if (isGet)
        return std::nullopt;
    if (!isJson(request.get_header_value("Content-Type")))
        return ApiError { .status = 415,
                          .code = "unsupported_media_type",
                          .message = "The body must be sent as application/json." };
    if (request.get_header_value_u64("Content-Length") > m_options.limits.bodyBytes)
        return ApiError { .status = 413,
                          .code = "body_too_large",
                          .message = std::format("The body is larger than {} bytes.",
                                                 m_options.limits.bodyBytes) };
    return std::nullopt;
}

// True: answered.
bool ApiServer::gate(const httplib::Request &request, httplib::Response &response)
{
    Exchange &exchange = Exchange::current();
    exchange = {};
    exchange.began = steady_clock::now();
    exchange.record.id = ++m_lastRecord;
    exchange.record.began = now<milliseconds>();
    exchange.record.client = request.remote_addr;
    exchange.record.method = request.method;
    exchange.record.path = shown(request.path);
    const auto problem = headProblem(request, response, exchange);
    m_requests(exchange.record);
    HttpConnection *connection = HttpConnection::current();
    if (problem) {
        refuse(response, *problem);
        return true;
    }
    if (request.method == "POST")
        return false;
    // A body where none belongs is not read.
    if (request.has_header("Content-Length") || request.has_header("Transfer-Encoding"))
        connection->endAfterAnswer();
    if (request.method == "OPTIONS")
        answerPreflight(request, response);
    else
        answerGet(response, exchange);
    return true;
}

void ApiServer::answerPreflight(const httplib::Request &request, httplib::Response &response) const
{
    response.status = 204;
    if (!request.has_header("Origin"))
        return;
    response.set_header("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
    // The header names Authorization itself: a wildcard does not cover it.
    const std::string asked = request.get_header_value("Access-Control-Request-Headers");
    response.set_header("Access-Control-Allow-Headers",
                        asked.empty() ? "Authorization, Content-Type, x-api-key, anthropic-version"
                                      : asked);
    response.set_header("Access-Control-Max-Age", "600");
    if (request.has_header("Access-Control-Request-Private-Network"))
        response.set_header("Access-Control-Allow-Private-Network", "true");
}

void ApiServer::answerGet(httplib::Response &response, const Exchange &exchange) const
{
    const Route route = exchange.match->route;
    response.status = 200;
    if (route == Route::Metrics) {
        response.set_content(m_metrics.text(m_engine.stats(), m_http.liveConnections()),
                             "text/plain; version=0.0.4; charset=utf-8");
        return;
    }
    const auto model = m_engine.model();
    Json json;
    if (route == Route::Health) {
        const bool isLoading = m_engine.stats().state == engine::EngineStats::State::Loading;
        json = { { "status", model ? "ok" : isLoading ? "loading model" : "no model" } };
        if (!model) {
            response.status = 503;
            response.set_header("Retry-After", std::to_string(kRetrySeconds));
        }
    } else if (route == Route::Models) {
        json = modelList(model, m_started);
    } else if (model && exchange.match->modelId == modelIdOf(*model)) {
        json = modelReport(*model, m_started);
    } else {
        response.status = 404;
        response.set_content(openAiErrorBody({ .code = "model_not_found",
                                               .param = "model",
                                               .message = "There is no such model here." }),
                             "application/json");
        return;
    }
    response.set_content(toText(json), "application/json");
}

ApiResult<std::string> ApiServer::readBody(const httplib::Response &response,
                                           const httplib::ContentReader &reader)
{
    Exchange &exchange = Exchange::current();
    HttpConnection *connection = HttpConnection::current();
    connection->beginBody();
    std::string body;
    bool isTooLarge = false;
    bool isTooMuch = false;
    // Counted as it arrives: a compressed body is larger than it says.
    const bool isRead = reader([&](const char *data, std::size_t size) {
        isTooLarge = body.size() + size > m_options.limits.bodyBytes;
        isTooMuch = (m_bodyBytes += size) > kMostBodyBytes;
        exchange.leasedBytes += size;
        if (isTooLarge || isTooMuch)
            return false;
        body.append(data, size);
        return true;
    });
    if (isTooMuch)
        return std::unexpected(crowded("Too many large requests at once; try again."));
    if (isTooLarge || (!isRead && response.status == 413))
        return std::unexpected(
            ApiError { .status = 413,
                       .code = "body_too_large",
                       .message = std::format("The body is larger than {} bytes.",
                                              m_options.limits.bodyBytes) });
    if (connection->isLate())
        return std::unexpected(ApiError {
            .status = 408, .code = "timeout", .message = "The body did not arrive in time." });
    if (!isRead)
        return std::unexpected(badRequest({}, "The body could not be read to its end."));
    connection->setBodyRead();
    return body;
}

void ApiServer::answerPost(const httplib::Request &request, httplib::Response &response,
                           const httplib::ContentReader &reader)
{
    Exchange &exchange = Exchange::current();
    const auto body = readBody(response, reader);
    const auto json = body.and_then([](const std::string &text) { return parseBody(text); });
    m_bodyBytes -= std::exchange(exchange.leasedBytes, 0);
    response.status = 200;
    if (!json)
        return refuse(response, json.error());
    const auto model = m_engine.model();
    if (!model)
        return refuse(response,
                      apiErrorOf({ engine::ErrorCode::NotLoaded,
                                   m_engine.stats().state == engine::EngineStats::State::Loading
                                       ? "The model is being loaded; try again."
                                       : "No model is loaded." }));
    switch (exchange.match->route) {
    case Route::ChatCompletions:
    case Route::Completions:
    case Route::Responses:
    case Route::Messages:
        return generate(request, response, *json, *model);
    default:
        break;
    }
    const auto answer = answerTo(*json, *model, exchange);
    if (!answer)
        return refuse(response, answer.error());
    response.set_content(*answer, "application/json");
}

// What needs no generation.
ApiResult<std::string> ApiServer::answerTo(const Json &body, const engine::ModelInfo &model,
                                           Exchange &exchange) const
{
    const Route route = exchange.match->route;
    if (route == Route::Tokenize)
        return tokenizeAnswer(m_engine, model, body).transform(toText);
    if (route == Route::Detokenize)
        return detokenizeAnswer(m_engine, body).transform(toText);
    const auto request = parse(route, body, model);
    if (!request)
        return std::unexpected(request.error());
    const auto prompt = m_engine.prepare(request->messages, request->tools, request->prompt);
    if (!prompt)
        return std::unexpected(apiErrorOf(prompt.error()));
    exchange.record.promptTokens = static_cast<int>(prompt->tokens.size());
    Json json { { "input_tokens", prompt->tokens.size() } };
    if (route != Route::MessagesCountTokens)
        json["object"] = "response.input_tokens";
    return toText(json);
}

void ApiServer::generate(const httplib::Request &request, httplib::Response &response,
                         const Json &body, const engine::ModelInfo &model)
{
    Exchange &exchange = Exchange::current();
    const Route route = exchange.match->route;
    auto parsed = parse(route, body, model);
    if (!parsed)
        return refuse(response, parsed.error());
    exchange.record.unknownFields = parsed->unknownFields;
    const std::string id = modelIdOf(model);
    if (m_options.isModelStrict && parsed->model != id)
        return refuse(response,
                      { .status = 404,
                        .code = "model_not_found",
                        .param = "model",
                        .message = std::format("This endpoint serves \"{}\".", id) });
    ReplyIdentity identity { {}, now<seconds>(), id, fingerprintOf(model) };
    std::unique_ptr<ReplyFormat> format;
    if (route == Route::Messages) {
        identity.id = newId("msg_");
        // Claude Code compares it with what it asked for.
        if (!parsed->model.empty())
            identity.model = parsed->model;
        format = std::make_unique<AnthropicReply>(identity, parsed->generation.stop);
    } else if (route == Route::Responses) {
        identity.id = newId("resp_");
        format = std::make_unique<OpenAiResponsesReply>(identity);
    } else if (route == Route::Completions) {
        identity.id = newId("cmpl-");
        format = std::make_unique<OpenAiCompletionReply>(identity, parsed->includesUsage);
    } else {
        identity.id = newId("chatcmpl-");
        format = std::make_unique<OpenAiChatReply>(identity, parsed->includesUsage,
                                                   m_options.mirrorsReasoning);
    }
    std::string source = "API " + exchange.record.client;
    if (!exchange.record.keyName.empty())
        source += ", " + exchange.record.keyName;
    auto run = GenerationRun::start(m_engine, std::move(*parsed), source);
    if (!run)
        return refuse(response, run.error());
    exchange.run = std::move(*run);
    exchange.format = std::move(format);
    GenerationRun::Client client;
    client.isGone = [this, connection = HttpConnection::current()] {
        return m_http.isStopping() || connection->isPeerGone();
    };
    client.ping = m_options.limits.ping;
    if (!exchange.run->request().isStream) {
        const auto replies = exchange.run->collect(client);
        if (!replies)
            return refuse(response, replies.error());
        response.set_content(exchange.format->whole(*replies), "application/json");
        return;
    }
    response.set_header("Cache-Control", "no-cache");
    response.set_header("X-Accel-Buffering", "no");
    const auto provider = [client](std::size_t, httplib::DataSink &sink) mutable {
        Exchange &streamed = Exchange::current();
        client.write
            = [&sink](const std::string &bytes) { return sink.write(bytes.data(), bytes.size()); };
        const auto ending = streamed.run->stream(*streamed.format, client);
        if (ending != GenerationRun::Ending::Finished && ending != GenerationRun::Ending::Failed)
            return false;
        sink.done();
        return true;
    };
    constexpr const char *kEventStream = "text/event-stream; charset=utf-8";
    if (request.version == "HTTP/1.0")
        response.set_content_provider(kEventStream, provider);
    else
        response.set_chunked_content_provider(kEventStream, provider);
}

// The answer was written, or could not be.
void ApiServer::finish(const httplib::Request &request, const httplib::Response &response)
{
    Exchange &exchange = Exchange::current();
    RequestRecord &record = exchange.record;
    if (!exchange.hasBegun()) { // refused before its head was whole
        record.id = ++m_lastRecord;
        record.began = now<milliseconds>();
        record.client = request.remote_addr;
        record.method = request.method;
        exchange.began = steady_clock::now();
    }
    record.status = response.status;
    record.seconds = duration<double>(steady_clock::now() - exchange.began).count();
    if (exchange.run) {
        using enum GenerationRun::Ending;
        const GenerationRun::Ending ending = exchange.run->ending();
        if (ending == ClientGone || ending == ClientSlow) {
            record.status = kClientGone;
            record.note = ending == ClientSlow ? "client_too_slow" : "client_gone";
        } else if (ending == Failed && record.note.empty()) {
            record.note = "failed";
        }
        record.promptTokens = exchange.run->promptTokens();
        record.completionTokens = exchange.run->usage().completionTokens;
        record.timeToFirstTokenSeconds = exchange.run->timeToFirstTokenSeconds();
    }
    m_bodyBytes -= exchange.leasedBytes; // of a body that was not read to its end
    m_metrics.add(record, std::string(exchange.match ? exchange.match->name : "other"));
    m_requests(record);
    exchange = {};
}

} // namespace firesteel::app
