// SPDX-License-Identifier: MIT
#include "engine/text/chat_format.h"
#include "engine/text/reply_tokens.h"
#include "tests/engine/text/text_fixture.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace firesteel::engine;
using namespace firesteel::test;

namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::int32_t kEndOfText = 6084;
constexpr std::int32_t kUser = 6091;
const Ids kEndOfTurn = { kEndOfText, kUser };

std::int32_t tag(std::string_view name) { return testTokenizer().addedTokenId(name).value(); }

// One token a byte: what the tokenizer itself would never choose.
Ids byteIds(std::string_view text)
{
    Ids ids;
    for (const char byte : text) {
        const Ids one = testTokenizer().encodeOrdinary(std::string(1, byte));
        ids.insert(ids.end(), one.begin(), one.end());
    }
    return ids;
}

Ids joined(std::initializer_list<Ids> parts)
{
    Ids all;
    for (const Ids &part : parts)
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

Message reply(const std::string &reasoning, const std::string &text, Ids tokens)
{
    Message message = Message::text(Role::Assistant, text);
    if (!reasoning.empty())
        message.reasoning = reasoning;
    message.tokens = std::move(tokens);
    return message;
}

std::optional<ReplyTokens> cut(const Message &message)
{
    return replyTokens(testTokenizer(), message, kEndOfTurn, {});
}

// The prompt as prepare() makes it, without the checks.
Ids prompt(const std::vector<Message> &messages, const PromptOptions &options)
{
    std::vector<std::optional<ReplyTokens>> replies;
    replies.reserve(messages.size());
    for (const Message &message : messages)
        replies.push_back(cut(message));
    const auto segments = renderChatSegments(messages, {}, options, replies);
    REQUIRE(segments);
    return encodeChat(testTokenizer(), *segments);
}

} // namespace

TEST_CASE("a reply's tokens are cut where its reasoning ends")
{
    const Ids thought = byteIds("Hm, the sky.");
    const Ids answer = byteIds("It is blue.");
    const auto whole = cut(reply("Hm, the sky.", "It is blue.",
                                 joined({ thought, { tag("</think>") }, answer, { kUser } })));
    REQUIRE(whole);
    CHECK(whole->reasoning == thought);
    CHECK(whole->answer == answer);
    CHECK(!whole->answerHasOuterSpace);

    // Thinking was off: the prompt had closed the block.
    const auto unthinking = cut(reply("", "It is blue.", joined({ answer, { kEndOfText } })));
    REQUIRE(unthinking);
    CHECK(unthinking->reasoning.empty());
    CHECK(unthinking->answer == answer);

    // Stopped while it thought.
    const auto halfway = cut(reply("Hm, the sky.", "", thought));
    REQUIRE(halfway);
    CHECK(halfway->reasoning == thought);
    CHECK(halfway->answer.empty());
    CHECK(cut(reply("", "", {})));
}

TEST_CASE("tokens that do not say what the message says are not used")
{
    const Ids answer = byteIds("It is blue.");
    CHECK(!cut(Message::text(Role::Assistant, "It is blue.")));
    CHECK(!cut(reply("", "It is red.", answer)));
    CHECK(!cut(reply("Hm.", "It is blue.", answer)));
    // An end of turn inside, a control token, ids that mean nothing.
    CHECK(!cut(reply("", "It is blue.", joined({ { kUser }, answer }))));
    CHECK(!cut(reply("", "It is blue.", joined({ { tag("<|system|>") }, answer }))));
    CHECK(!cut(reply("", "It is blue.", joined({ { -1 }, answer }))));
    CHECK(!cut(reply("", "It is blue.", joined({ { testTokenizer().size() }, answer }))));
    // A call that the message does not tell of.
    CHECK(!cut(
        reply("", "It is blue.",
              joined({ answer, { tag("<tool_call>") }, byteIds("f"), { tag("</tool_call>") } }))));
    Message question = Message::text(Role::User, "It is blue.");
    question.tokens = answer;
    CHECK(!cut(question));
}

TEST_CASE("a call in the tokens has to be the message's")
{
    const Ids tokens = joined({ byteIds("Wait."),
                                { tag("<tool_call>") },
                                byteIds("f"),
                                { tag("<arg_key>") },
                                byteIds("n"),
                                { tag("</arg_key>") },
                                { tag("<arg_value>") },
                                byteIds("1"),
                                { tag("</arg_value>") },
                                { tag("</tool_call>") } });
    Message message = reply("", "Wait.", tokens);
    message.toolCalls = { { "call_99", "f", R"({"n": 1})" } };
    const auto same = cut(message);
    REQUIRE(same);
    CHECK(same->answer == tokens);
    message.toolCalls.front().argumentsJson = R"({"n": 2})";
    CHECK(!cut(message));
}

TEST_CASE("a prompt with known tokens is the history that was generated")
{
    const Ids generated = joined(
        { byteIds("Hm.\n"), { tag("</think>") }, byteIds("\nIt is blue, I think."), { kUser } });
    const std::vector<Message> before = { Message::text(Role::User, "What colour?") };
    std::vector<Message> after = before;
    after.push_back(reply("Hm.\n", "\nIt is blue, I think.", generated));
    after.push_back(Message::text(Role::User, "Why?"));

    const Ids first = prompt(before, {});
    const Ids second = prompt(after, {});
    const Ids history = joined({ first, generated }); // its end of turn opens the user's next
    REQUIRE(second.size() > history.size());
    CHECK(std::ranges::equal(std::span(second).first(history.size()), history));

    // Tokenised again the same text gives another history.
    std::vector<Message> textOnly = after;
    textOnly[1].tokens.reset();
    CHECK(prompt(textOnly, {}) != second);
    CHECK(testTokenizer().decode(prompt(textOnly, {})).find("It is blue, I think.")
          != std::string::npos);
}

TEST_CASE("where the reasoning is dropped the tokens of the answer stay")
{
    const Ids answer = byteIds("It is blue.");
    const auto history = [&](const std::string &text, const Ids &ids) {
        return std::vector<Message> {
            Message::text(Role::User, "What colour?"),
            reply("Hm.", text, joined({ byteIds("Hm."), { tag("</think>") }, ids, { kUser } })),
            Message::text(Role::User, "Why?"),
        };
    };
    const PromptOptions clear { .clearThinking = true };
    const auto holds
        = [](const Ids &ids, const Ids &part) { return !std::ranges::search(ids, part).empty(); };
    const Ids blank = { tag("<think>"), tag("</think>") };
    CHECK(holds(prompt(history("It is blue.", answer), clear), joined({ blank, answer })));
    // The template trims an answer, which tokens cannot be: then it is the text.
    const Ids spaced = joined({ byteIds("\n"), answer });
    const Ids trimmed = prompt(history("\nIt is blue.", spaced), clear);
    CHECK(!holds(trimmed, answer));
    std::vector<Message> textOnly = history("\nIt is blue.", spaced);
    textOnly[1].tokens.reset();
    CHECK(trimmed == prompt(textOnly, clear));
}
