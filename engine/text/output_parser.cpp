// SPDX-License-Identifier: MIT
#include "engine/text/output_parser.h"

#include <algorithm>
#include <atomic>
#include <format>
#include <utility>

namespace firesteel::engine {

namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::string trimmed(std::string_view text)
{
    const std::size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos)
        return {};
    return std::string(text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin));
}

std::string newCallId()
{
    static std::atomic<std::uint64_t> next = 1;
    return std::format("call_{}", next++);
}

PromptJson stringValue(std::string text)
{
    return { PromptJson::Kind::String, std::move(text), {}, {} };
}

} // namespace

OutputParser::OutputParser(const Tokenizer &tokenizer, Options options)
    : m_tokenizer(tokenizer)
    , m_options(std::move(options))
    , m_state(m_options.startsInThinking && !m_options.isPlainText ? State::Thinking
                                                                   : State::Content)
    , m_stops(m_options.stop)
{
    const auto id
        = [&tokenizer](std::string_view tag) { return tokenizer.addedTokenId(tag).value_or(-1); };
    m_tags = { id("<think>"),   id("</think>"),   id("<tool_call>"), id("</tool_call>"),
               id("<arg_key>"), id("</arg_key>"), id("<arg_value>"), id("</arg_value>") };
}

OutputParser::Outcome OutputParser::push(std::span<const std::int32_t> tokens)
{
    Outcome outcome;
    for (const std::int32_t id : tokens) {
        if (m_status != Status::Running)
            break;
        ++outcome.consumed;
        consume(id);
    }
    outcome.status = m_status;
    outcome.pieces = std::exchange(m_pieces, {});
    return outcome;
}

std::vector<OutputParser::Piece> OutputParser::finish()
{
    const std::string rest = m_characters.finish();
    if (m_status != Status::StopString)
        addText(rest);
    if (m_state == State::Content)
        releaseContent(m_toolCallCount > 0);
    return std::exchange(m_pieces, {});
}

void OutputParser::consume(std::int32_t id)
{
    m_idsSinceDelta.push_back(id);
    if (std::ranges::find(m_options.eosTokenIds, id) != m_options.eosTokenIds.end()) {
        m_status = Status::EndOfTurn;
        return;
    }
    if (m_state == State::Thinking)
        ++m_reasoningTokens;
    const bool isTag = !m_options.isPlainText && consumeTag(id);
    if (id < 0 || isTag || m_tokenizer.isSpecial(id))
        return;
    addText(m_characters.push(m_tokenizer.tokenBytes(id)));
}

// True when `id` is a tag that means something here. Elsewhere the same tag is text: a model may
// write about its own format.
bool OutputParser::consumeTag(std::int32_t id)
{
    switch (m_state) {
    case State::Thinking:
        if (id == m_tags.endThink) {
            enter(State::Content);
            return true;
        }
        return id == m_tags.think && m_atStart;
    case State::Content:
        if (id == m_tags.call) {
            startCall();
            return true;
        }
        // With thinking switched off the prompt holds an empty block; a model may open one again
        // all the same.
        if (id == m_tags.think && m_atStart) {
            enter(State::Thinking);
            return true;
        }
        return id == m_tags.endThink && m_atStart;
    case State::CallName:
    case State::CallBetween:
    case State::CallKey:
    case State::CallValue:
        break;
    }
    return consumeCallTag(id);
}

bool OutputParser::consumeCallTag(std::int32_t id)
{
    if (id == m_tags.endCall) {
        if (m_state == State::CallValue)
            endArgument(); // its end tag was forgotten
        endCall();
        return true;
    }
    if (m_state == State::CallValue) {
        if (id != m_tags.endValue)
            return false;
        endArgument();
        return true;
    }
    if (id == m_tags.call) {
        startCall(); // the one before stays unfinished
    } else if (id == m_tags.key) {
        enter(State::CallKey);
        m_key.clear();
    } else if (id == m_tags.endKey) {
        enter(State::CallBetween);
    } else if (id == m_tags.value) {
        enter(State::CallValue);
        m_value.clear();
    } else {
        return id == m_tags.endValue;
    }
    return true;
}

// An incomplete character does not go on behind a tag.
void OutputParser::enter(State state)
{
    addText(m_characters.finish());
    if (m_status != Status::Running)
        return; // that character completed a stop string
    if (m_state == State::Content)
        releaseContent(true);
    m_state = state;
    m_atStart = true;
    m_contentBegun = false;
}

void OutputParser::addText(std::string_view text)
{
    m_atStart = m_atStart && text.find_first_not_of(kSpace) == std::string_view::npos;
    switch (m_state) {
    case State::Thinking:
        emit<ThinkingDelta>(text);
        break;
    case State::Content:
        addContent(text);
        break;
    case State::CallName:
        m_callName += text;
        break;
    case State::CallBetween:
        break;
    case State::CallKey:
        m_key += text;
        break;
    case State::CallValue:
        m_value += text;
        break;
    }
}

void OutputParser::addContent(std::string_view text)
{
    const StopMatcher::Output output = m_stops.push(text);
    emitContent(output.text);
    if (output.found)
        m_status = Status::StopString;
}

void OutputParser::emitContent(std::string_view text)
{
    m_leadingSpace += text;
    m_contentBegun = m_contentBegun || m_options.isPlainText
        || text.find_first_not_of(kSpace) != std::string_view::npos;
    if (m_contentBegun)
        emit<TextDelta>(std::exchange(m_leadingSpace, {}));
}

void OutputParser::releaseContent(bool dropSpace)
{
    emitContent(m_stops.release());
    const std::string space = std::exchange(m_leadingSpace, {});
    if (!dropSpace)
        emit<TextDelta>(space);
}

template <typename Delta> void OutputParser::emit(std::string_view text)
{
    if (text.empty())
        return;
    Delta *last = m_pieces.empty() ? nullptr : std::get_if<Delta>(&m_pieces.back());
    Delta &delta = last != nullptr ? *last : std::get<Delta>(m_pieces.emplace_back(Delta {}));
    delta.text += text;
    delta.tokens += static_cast<int>(m_idsSinceDelta.size());
    delta.ids.insert(delta.ids.end(), m_idsSinceDelta.begin(), m_idsSinceDelta.end());
    m_idsSinceDelta.clear();
}

void OutputParser::startCall()
{
    enter(State::CallName);
    m_callName.clear();
    m_key.clear();
    m_value.clear();
    m_arguments = { PromptJson::Kind::Object, "", {}, {} };
}

// A key given twice keeps its first place and takes its last value.
void OutputParser::endArgument()
{
    enter(State::CallBetween);
    const std::string key = trimmed(std::exchange(m_key, {}));
    if (key.empty())
        return;
    auto &[kind, text, keys, items] = m_arguments;
    const auto known = std::ranges::find(keys, key);
    if (known == keys.end()) {
        keys.push_back(key);
        items.push_back(argumentValue(key));
    } else {
        items[static_cast<std::size_t>(known - keys.begin())] = argumentValue(key);
    }
}

void OutputParser::endCall()
{
    enter(State::Content);
    std::string name = trimmed(m_callName);
    if (name.empty())
        return;
    m_pieces.emplace_back(ToolCallEvent {
        m_toolCallCount++, { newCallId(), std::move(name), dumpPromptJson(m_arguments) } });
}

// A string parameter's text is taken as it is, anything else is JSON where it parses.
PromptJson OutputParser::argumentValue(const std::string &key) const
{
    std::string type;
    if (const auto tool = m_options.toolParameterTypes.find(trimmed(m_callName));
        tool != m_options.toolParameterTypes.end()) {
        if (const auto parameter = tool->second.find(key); parameter != tool->second.end())
            type = parameter->second;
    }
    if (type == "string" || (type == "string|null" && m_value != "null"))
        return stringValue(m_value);
    return parsePromptJson(m_value, key).value_or(stringValue(m_value));
}

} // namespace firesteel::engine
