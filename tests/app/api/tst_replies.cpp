// SPDX-License-Identifier: MIT
//
// The same answer in every dialect, piece by piece and whole: both must say the same.
#include "app/api/anthropic_reply.h"
#include "app/api/openai_chat_reply.h"
#include "app/api/openai_completions.h"
#include "app/api/openai_responses_reply.h"
#include "tests/app/api/api_fixture.h"

#include <doctest/doctest.h>
#include <map>
#include <string>
#include <vector>

using namespace firesteel;
using namespace firesteel::app;

namespace {

const ReplyIdentity kIdentity { "id-1", 1700000000, "Glimmer" };

engine::Finished finishedWith(engine::FinishReason reason)
{
    engine::Finished finished;
    finished.reason = reason;
    finished.usage = { 30, 10, 12, 5 };
    finished.timings = { 0.25, 0.5, 0.75, 2.0 };
    finished.drafting.drafted = 8;
    finished.drafting.accepted = 6;
    return finished;
}

Reply answer(engine::FinishReason reason = engine::FinishReason::ToolCalls)
{
    Reply reply;
    reply.thinking = "First.Then.";
    reply.text = "Hello \u00e9";
    reply.calls = { { "call-1", "look", R"({"b":1,"a":"x"})" }, { "call-2", "look", "{}" } };
    reply.finished = finishedWith(reason);
    return reply;
}

std::string streamed(ReplyFormat &format, const Reply &reply)
{
    // One after another: each depends on what was written before.
    std::string bytes = format.opening(30);
    bytes += format.beginAnswer(0);
    bytes += format.thinking("First.");
    bytes += format.thinking("Then.");
    bytes += format.text("Hello ");
    bytes += format.text("\u00e9");
    for (int index = 0; const engine::ToolCall &call : reply.calls)
        bytes += format.call({ index++, call });
    bytes += format.finish(reply.finished);
    bytes += format.closing();
    return bytes;
}

std::vector<std::string> typesOf(const std::vector<Json> &events)
{
    std::vector<std::string> types;
    for (const Json &event : events)
        types.push_back(event["type"].get<std::string>());
    return types;
}

} // namespace

TEST_CASE("chat reply: chunks carry one id and say what the whole says")
{
    OpenAiChatReply format(kIdentity, true, false);
    const std::string bytes = streamed(format, answer());
    CHECK(bytes.ends_with("data: [DONE]\n\n"));
    const auto events = test::eventsOf(bytes);
    std::string text;
    std::string thinking;
    std::vector<Json> calls;
    for (const Json &event : events) {
        CHECK(event["id"] == "id-1");
        CHECK(event["object"] == "chat.completion.chunk");
        CHECK(event["created"] == 1700000000);
        for (const Json &choice : event["choices"]) {
            text += choice["delta"].value("content", "");
            thinking += choice["delta"].value("reasoning_content", "");
            CHECK_FALSE(choice["delta"].contains("reasoning"));
            for (const Json &call : choice["delta"].value("tool_calls", Json::array()))
                calls.push_back(call);
        }
    }
    CHECK(events.front()["choices"][0]["delta"]
          == Json { { "role", "assistant" }, { "content", "" } });
    const Json whole
        = test::parsed(OpenAiChatReply(kIdentity, false, false).whole(std::vector { answer() }));
    const Json &message = whole["choices"][0]["message"];
    CHECK(message["content"] == text);
    CHECK(message["reasoning_content"] == thinking);
    REQUIRE(calls.size() == 2);
    CHECK(calls[0]["index"] == 0);
    CHECK(calls[1]["index"] == 1);
    for (std::size_t i = 0; i < calls.size(); ++i) {
        CHECK(calls[i]["id"] == message["tool_calls"][i]["id"]);
        CHECK(calls[i]["function"] == message["tool_calls"][i]["function"]);
    }
    CHECK(message["tool_calls"][0]["function"]["arguments"] == R"({"b":1,"a":"x"})");
    CHECK(whole["choices"][0]["finish_reason"] == "tool_calls");
    // The usage chunk comes after the one that finishes, and has no choice.
    const Json &last = events[events.size() - 2];
    CHECK(last["choices"][0]["finish_reason"] == "tool_calls");
    CHECK(last["usage"].is_null());
    CHECK(events.back()["choices"].empty());
    CHECK(events.back()["usage"] == whole["usage"]);
    CHECK(whole["usage"]["prompt_tokens"] == 30);
    CHECK(whole["usage"]["total_tokens"] == 42);
    CHECK(whole["usage"]["prompt_tokens_details"]["cached_tokens"] == 10);
    CHECK(whole["usage"]["completion_tokens_details"]["reasoning_tokens"] == 5);
    CHECK(whole["timings"]["prompt_n"] == 20);
    CHECK(whole["timings"]["draft_n_accepted"] == 6);
    CHECK(whole["timings"]["predicted_ms"] == 2000.0);
}

TEST_CASE("chat reply: no usage chunk unasked, reasoning mirrored where it is switched on")
{
    OpenAiChatReply format(kIdentity, false, true);
    for (const Json &event : test::eventsOf(streamed(format, answer()))) {
        CHECK(event["choices"].size() == 1);
        CHECK_FALSE(event.contains("usage"));
        const Json &delta = event["choices"][0]["delta"];
        CHECK(delta.value("reasoning", "") == delta.value("reasoning_content", ""));
    }
    for (const auto &[reason, name] : { std::pair { engine::FinishReason::Stop, "stop" },
                                        { engine::FinishReason::StopString, "stop" },
                                        { engine::FinishReason::Length, "length" },
                                        { engine::FinishReason::ToolCalls, "tool_calls" } }) {
        const Json whole = test::parsed(format.whole(std::vector { answer(reason) }));
        CHECK(whole["choices"][0]["finish_reason"] == name);
    }
    Reply onlyCalls = answer();
    onlyCalls.text.clear();
    CHECK(test::parsed(format.whole(std::vector { onlyCalls }))["choices"][0]["message"]["content"]
              .is_null());
    const auto failure = test::eventsOf(format.failure({ .status = 500, .message = "broke" }));
    CHECK(failure.at(0)["error"]["message"] == "broke");
}

TEST_CASE("completion reply: several answers by index")
{
    OpenAiCompletionReply format(kIdentity, true);
    std::string bytes = format.opening(3);
    for (int index = 0; index < 2; ++index) {
        bytes += format.beginAnswer(index);
        bytes += format.text(index == 0 ? "a" : "b");
        bytes += format.finish(finishedWith(engine::FinishReason::Length));
    }
    bytes += format.closing();
    const auto events = test::eventsOf(bytes);
    REQUIRE(events.size() == 5);
    CHECK(events[0]["choices"][0]
          == Json { { "index", 0 },
                    { "text", "a" },
                    { "logprobs", nullptr },
                    { "finish_reason", nullptr } });
    CHECK(events[3]["choices"][0]["index"] == 1);
    CHECK(events[3]["choices"][0]["finish_reason"] == "length");
    CHECK(events[4]["usage"]["total_tokens"] == 84);
    const Json whole = test::parsed(format.whole(std::vector { answer(), answer() }));
    CHECK(whole["choices"].size() == 2);
    CHECK(whole["choices"][1]["index"] == 1);
    CHECK(whole["object"] == "text_completion");
}

TEST_CASE("anthropic reply: blocks open and close in turn and say what the whole says")
{
    AnthropicReply format(kIdentity, {});
    const std::string bytes = streamed(format, answer());
    const auto events = test::eventsOf(bytes);
    CHECK(typesOf(events)
          == std::vector<std::string> {
              "message_start", "content_block_start", "content_block_delta", "content_block_delta",
              "content_block_stop", "content_block_start", "content_block_delta",
              "content_block_delta", "content_block_stop", "content_block_start",
              "content_block_delta", "content_block_stop", "content_block_start",
              "content_block_delta", "content_block_stop", "message_delta", "message_stop" });
    CHECK(events[0]["message"]["usage"]["input_tokens"]
          == 30); // before anything is known of a cache
    // Build the blocks as a client does.
    std::vector<Json> blocks;
    std::map<std::size_t, std::string> inputs;
    for (const Json &event : events) {
        if (event["type"] == "content_block_start") {
            CHECK(event["index"] == blocks.size());
            blocks.push_back(event["content_block"]);
        } else if (event["type"] == "content_block_delta") {
            const auto index = event["index"].get<std::size_t>();
            const Json &delta = event["delta"];
            if (delta["type"] == "text_delta")
                blocks[index]["text"]
                    = blocks[index]["text"].get<std::string>() + delta["text"].get<std::string>();
            else if (delta["type"] == "thinking_delta")
                blocks[index]["thinking"] = blocks[index]["thinking"].get<std::string>()
                    + delta["thinking"].get<std::string>();
            else
                inputs[index] += delta["partial_json"].get<std::string>();
        }
    }
    for (const auto &[index, input] : inputs)
        blocks[index]["input"] = test::parsed(input);
    const Json whole = test::parsed(AnthropicReply(kIdentity, {}).whole(std::vector { answer() }));
    CHECK(whole["content"] == Json(blocks));
    CHECK(whole["stop_reason"] == "tool_use");
    const Json &end = events[events.size() - 2];
    CHECK(end["delta"]["stop_reason"] == "tool_use");
    CHECK(end["usage"]["input_tokens"] == 20);
    CHECK(end["usage"]["cache_read_input_tokens"] == 10);
    CHECK(end["usage"]["output_tokens"] == 12);
    CHECK(bytes.starts_with("event: message_start\n"));
    CHECK(test::eventsOf(format.ping()).at(0)["type"] == "ping");
}

TEST_CASE("anthropic reply: why it stopped")
{
    const auto stop = [](engine::FinishReason reason, std::vector<std::string> stops) {
        return test::parsed(
            AnthropicReply(kIdentity, std::move(stops)).whole(std::vector { answer(reason) }));
    };
    CHECK(stop(engine::FinishReason::Stop, {})["stop_reason"] == "end_turn");
    CHECK(stop(engine::FinishReason::Length, {})["stop_reason"] == "max_tokens");
    CHECK(stop(engine::FinishReason::Repetition, {})["stop_reason"] == "max_tokens");
    const Json one = stop(engine::FinishReason::StopString, { "END" });
    CHECK(one["stop_reason"] == "stop_sequence");
    CHECK(one["stop_sequence"] == "END");
    CHECK(stop(engine::FinishReason::StopString, { "a", "b" })["stop_sequence"].is_null());
}

TEST_CASE("responses reply: numbered events build the response that the whole is")
{
    OpenAiResponsesReply format(kIdentity);
    const auto events = test::eventsOf(streamed(format, answer(engine::FinishReason::Stop)));
    for (std::size_t i = 0; i < events.size(); ++i)
        CHECK(events[i]["sequence_number"] == i);
    CHECK(typesOf(events)
          == std::vector<std::string> { "response.created",
                                        "response.in_progress",
                                        "response.output_item.added",
                                        "response.content_part.added",
                                        "response.reasoning_text.delta",
                                        "response.reasoning_text.delta",
                                        "response.reasoning_text.done",
                                        "response.content_part.done",
                                        "response.output_item.done",
                                        "response.output_item.added",
                                        "response.content_part.added",
                                        "response.output_text.delta",
                                        "response.output_text.delta",
                                        "response.output_text.done",
                                        "response.content_part.done",
                                        "response.output_item.done",
                                        "response.output_item.added",
                                        "response.function_call_arguments.delta",
                                        "response.function_call_arguments.done",
                                        "response.output_item.done",
                                        "response.output_item.added",
                                        "response.function_call_arguments.delta",
                                        "response.function_call_arguments.done",
                                        "response.output_item.done",
                                        "response.completed" });
    Json items = Json::array();
    for (const Json &event : events) {
        if (event["type"] == "response.output_item.done") {
            CHECK(event["output_index"] == items.size());
            items.push_back(event["item"]);
        }
    }
    const Json &response = events.back()["response"];
    CHECK(response["output"] == items);
    const Json whole = test::parsed(
        OpenAiResponsesReply(kIdentity).whole(std::vector { answer(engine::FinishReason::Stop) }));
    CHECK(whole == response);
    CHECK(whole["status"] == "completed");
    CHECK(whole["output"][2]["call_id"] == "call-1");
    CHECK(whole["usage"]["input_tokens"] == 30);
    CHECK(whole["usage"]["input_tokens_details"]["cached_tokens"] == 10);
}

TEST_CASE("responses reply: cut by its limit it is incomplete, broken it has failed")
{
    const Json cut = test::parsed(OpenAiResponsesReply(kIdentity).whole(
        std::vector { answer(engine::FinishReason::Length) }));
    CHECK(cut["status"] == "incomplete");
    CHECK(cut["incomplete_details"]["reason"] == "max_output_tokens");
    OpenAiResponsesReply format(kIdentity);
    const auto failure = test::eventsOf(format.failure({ .status = 500, .message = "broke" }));
    CHECK(failure.at(0)["type"] == "response.failed");
    CHECK(failure.at(0)["response"]["error"]["message"] == "broke");
}
