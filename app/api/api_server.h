// SPDX-License-Identifier: MIT
//
// The local endpoint: an HTTP server that speaks the dialects of OpenAI's and Anthropic's APIs and
// is, like the window, one client of the engine. Started and stopped by EndpointController and by
// the headless program; knows neither Qt nor the window.
//
// Each connection has a thread. It parses, prepares and submits; the engine's sink only queues, so
// that no client can hold the engine up. What is refused is refused before a byte of an answer, in
// this order: Host, Origin, too many connections, address, method, key, type and size of the body.
#pragma once

#include "app/api/access_rules.h"
#include "app/api/api_keys.h"
#include "app/api/api_metrics.h"
#include "app/api/api_routes.h"
#include "app/api/generation_run.h"
#include "app/api/http_server.h"
#include "app/api/request_record.h"
#include "engine/api/engine.h"

#include <atomic>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <thread>

namespace firesteel::app {

struct ApiServerOptions
{
    std::string address = "127.0.0.1"; // to listen on
    int port = 8686; // 0: any free one
    AccessRules access;
    bool requiresKey = false; // on this machine; other addresses always do
    bool isModelStrict = false; // names of other models are answered 404
    bool mirrorsReasoning = false; // as "reasoning" beside "reasoning_content"
    HttpLimits limits;
};

class ApiServer
{
public:
    // Engine and keys must outlive this. The sinks are called on the threads of the connections.
    ApiServer(engine::Engine &engine, const ApiKeys &keys, ApiServerOptions options,
              RequestSink requests, engine::LogSink log);
    ~ApiServer(); // stops
    ApiServer(const ApiServer &) = delete;
    ApiServer &operator=(const ApiServer &) = delete;

    // The port that is listened on. Errors: a sentence for a person: the address is taken or none
    // of this machine, or needs a key and there is none. Once.
    std::expected<int, std::string> start();
    // Ends every connection, cancels what they asked for and waits for their threads: at most
    // fractions of a second.
    void stop();

    // Why this address must not be listened on yet; empty: it may.
    static std::string refusal(const ApiServerOptions &options, const ApiKeys &keys);

private:
    struct Exchange; // a request and its answer, of the thread that serves it

    void install();
    bool gate(const httplib::Request &request, httplib::Response &response);
    std::optional<ApiError> headProblem(const httplib::Request &request,
                                        httplib::Response &response, Exchange &exchange) const;
    std::optional<ApiError> keyProblem(const httplib::Request &request, Exchange &exchange) const;
    void answerPreflight(const httplib::Request &request, httplib::Response &response) const;
    void answerGet(httplib::Response &response, const Exchange &exchange) const;
    void answerPost(const httplib::Request &request, httplib::Response &response,
                    const httplib::ContentReader &reader);
    ApiResult<std::string> readBody(const httplib::Response &response,
                                    const httplib::ContentReader &reader);
    ApiResult<std::string> answerTo(const Json &body, const engine::ModelInfo &model,
                                    Exchange &exchange) const;
    void generate(const httplib::Request &request, httplib::Response &response, const Json &body,
                  const engine::ModelInfo &model);
    void refuse(httplib::Response &response, const ApiError &error);
    void finish(const httplib::Request &request, const httplib::Response &response);
    std::string newId(std::string_view prefix);

    engine::Engine &m_engine;
    const ApiKeys &m_keys;
    const ApiServerOptions m_options;
    RequestSink m_requests;
    engine::LogSink m_log;
    HttpServer m_http;
    ApiMetrics m_metrics;
    const std::int64_t m_started;
    const std::uint64_t m_nonce;
    std::atomic<std::uint64_t> m_lastRecord = 0;
    std::atomic<std::uint64_t> m_lastId = 0;
    std::atomic<std::size_t> m_bodyBytes = 0; // of all requests that are being read
    std::thread m_thread; // accepts
};

} // namespace firesteel::app
