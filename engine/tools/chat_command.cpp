// SPDX-License-Identifier: MIT
#include "engine/tools/chat_command.h"

#include "engine/tools/cli_request.h"
#include "engine/tools/cli_session.h"
#include "engine/tools/cli_terminal.h"

#include <format>
#include <utility>

namespace firesteel::engine {

namespace {

class Conversation
{
public:
    Conversation(const CliOptions &options, CliSession &session, ModelInfo info,
                 std::vector<Tool> tools)
        : m_options(options)
        , m_session(session)
        , m_info(std::move(info))
        , m_tools(std::move(tools))
        , m_seed(chosenSeed(options))
    {
        startOver();
    }

    void startOver()
    {
        m_messages.clear();
        if (!m_options.system.empty())
            m_messages.push_back(Message::text(Role::System, m_options.system));
    }

    // One turn. Errors: the engine's, Io (standard output is gone), Cancelled (a second signal, or
    // SIGTERM).
    Result<void> say(std::string text)
    {
        m_messages.push_back(Message::text(Role::User, std::move(text)));
        auto request
            = makeRequest(m_session.engine(), m_options, m_info, m_messages, m_tools, m_seed);
        if (!request) {
            m_messages.pop_back(); // the conversation goes on without what could not be said
            return std::unexpected(request.error());
        }
        bool isWritable = true;
        auto answer = m_session.run(std::move(*request), [&](const GenerationEvent &event) {
            isWritable = isWritable && show(event);
            return isWritable;
        });
        if (!answer) {
            m_messages.pop_back();
            return std::unexpected(answer.error());
        }
        if (!isWritable || !writeOutput("\n"))
            return fail(ErrorCode::Io, "standard output was closed");
        if (answer->interruptedBy == CliSignal::Terminate)
            return fail(ErrorCode::Cancelled, "terminated");
        remember(std::move(*answer));
        return {};
    }

private:
    bool show(const GenerationEvent &event) const
    {
        if (const auto *thinking = std::get_if<ThinkingDelta>(&event);
            thinking != nullptr && m_options.showsThinking)
            writeError(thinking->text);
        if (const auto *text = std::get_if<TextDelta>(&event))
            return writeOutput(text->text);
        if (const auto *call = std::get_if<ToolCallEvent>(&event))
            return writeOutput(std::format("{} {}\n", call->call.name, call->call.argumentsJson));
        return true;
    }

    void remember(Answer answer)
    {
        Message message = Message::text(Role::Assistant, std::move(answer.text));
        if (!answer.thinking.empty())
            message.reasoning = std::move(answer.thinking);
        message.toolCalls = std::move(answer.toolCalls);
        m_messages.push_back(std::move(message));
    }

    const CliOptions &m_options;
    CliSession &m_session;
    const ModelInfo m_info;
    const std::vector<Tool> m_tools;
    const std::uint64_t m_seed;
    std::vector<Message> m_messages;
};

// Whether the conversation can go on after this error.
bool isOfOneTurn(const Error &error) { return error.code == ErrorCode::ContextExceeded; }

} // namespace

int runChat(const CliOptions &options, const CliSignals &signals)
{
    auto tools = readTools(options.toolsFile);
    if (!tools)
        return reportError(tools.error());
    CliSession session(signals, options.isVerbose);
    const auto info = loadModel(session, options);
    if (!info)
        return reportError(info.error());
    const bool isTerminal = isInputTerminal();
    if (isTerminal) {
        writeError(std::format("{} on {}, context {} tokens. /new starts over, /quit ends.\n",
                               info->name, info->backend, info->contextTokens));
    }

    Conversation conversation(options, session, *info, std::move(*tools));
    CliInput input(signals);
    for (;;) {
        if (isTerminal)
            writeError("> ");
        auto read = input.readLine();
        if (!read && read.error().code == ErrorCode::Cancelled && isTerminal) {
            writeError("\n");
            return 0; // Ctrl+C at the prompt
        }
        if (!read)
            return reportError(read.error());
        const std::optional<std::string> line = std::move(*read);
        if (!line || *line == "/quit")
            return 0;
        if (*line == "/new") {
            conversation.startOver();
            continue;
        }
        if (line->empty())
            continue;
        if (const auto said = conversation.say(*line); !said) {
            const int status = reportError(said.error());
            if (!isOfOneTurn(said.error()))
                return status;
        }
    }
}

} // namespace firesteel::engine
