// SPDX-License-Identifier: MIT
//
// One request of a client on its way through the engine, on the thread of its connection: prepared,
// submitted, its events handed on in order, cancelled when the client goes. Never outlives the
// engine; the engine never waits for it.
#pragma once

#include "app/api/api_request.h"
#include "app/api/event_queue.h"
#include "app/api/reply_format.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace firesteel::app {

class GenerationRun
{
public:
    enum class Ending { Finished, Failed, ClientGone, ClientSlow };
    struct Client
    {
        std::function<bool()> isGone;
        std::function<bool(const std::string &)> write; // false: it could not be written
        std::chrono::milliseconds ping {}; // of silence, until one is written
    };

    // Everything that can be refused is refused here, before a byte of an answer is sent. `source`
    // names the client for a person who looks at the engine's requests.
    static ApiResult<std::unique_ptr<GenerationRun>>
    start(engine::Engine &engine, ApiRequest request, const std::string &source);
    GenerationRun(const GenerationRun &) = delete;
    GenerationRun &operator=(const GenerationRun &) = delete;
    ~GenerationRun(); // cancels what has not ended

    // Either of the two, once. Both watch for the client at least every 50 ms.
    Ending stream(ReplyFormat &format, const Client &client);
    ApiResult<std::vector<Reply>> collect(const Client &client); // nothing is written

    const ApiRequest &request() const { return m_request; }
    int promptTokens() const { return m_promptTokens; } // of all prompts
    engine::Usage usage() const { return m_usage; } // of the answers that ended
    Ending ending() const { return m_ending; }
    std::optional<double> timeToFirstTokenSeconds() const { return m_firstToken; }

private:
    using Deliver = std::function<bool(const engine::GenerationEvent &)>;

    GenerationRun(engine::Engine &engine, ApiRequest request, std::string source);
    ApiResult<void> prepare();
    ApiResult<void> submit(std::size_t index);
    // Hands on the events of the submitted answer. False: it did not finish; ending() says why.
    // `pulse` is called at least every 50 ms; false: the client is gone.
    bool follow(const Client &client, const Deliver &deliver, const std::function<bool()> &pulse);
    bool handle(engine::GenerationEvent &event, const Deliver &deliver);

    engine::Engine &m_engine;
    ApiRequest m_request;
    std::string m_source;
    std::vector<engine::Prompt> m_prompts;
    std::shared_ptr<EventQueue> m_queue;
    std::optional<engine::RequestId> m_running;
    bool m_endsAfterCall = false; // and was cancelled for it
    int m_promptTokens = 0;
    engine::Usage m_usage;
    Ending m_ending = Ending::Finished;
    ApiError m_error; // where the ending is Failed
    std::optional<double> m_firstToken;
};

} // namespace firesteel::app
