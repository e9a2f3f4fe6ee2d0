// SPDX-License-Identifier: MIT
//
// Masks of a grammar over a vocabulary, against the definition: each token tried alone, byte by
// byte.
#include "engine/decode/answer_constraint.h"
#include "engine/grammar/json_grammar.h"
#include "tests/support/tiny_checkpoint.h"

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace firesteel;
using namespace firesteel::engine;

namespace {

constexpr std::string_view kSchema = R"({"type":"object","properties":{
    "the":{"type":"string","maxLength":5},"and":{"type":"array","items":{"type":"integer"}},
    "other":{"enum":["ing","in",null]}},"required":["the","and"]})";

class Fixture
{
public:
    explicit Fixture(bool mayCallInstead = false)
        : m_tokenizer(*Tokenizer::parse(test::tinyTokenizerJson(), "tokenizer.json"))
        , m_tokens(std::make_shared<const AnswerTokens>(
              m_tokenizer, m_tokenizer.size(),
              std::vector { id("<|endoftext|>"), id("<|user|>"), id("<|observation|>") }))
        , m_grammar(grammar())
        , m_constraint(m_grammar, m_tokens, mayCallInstead)
    {
    }

    const Tokenizer &tokenizer() const { return m_tokenizer; }
    AnswerConstraint &constraint() { return m_constraint; }
    std::int32_t id(std::string_view tag) const { return m_tokenizer.addedTokenId(tag).value(); }

    std::vector<std::int32_t> allowed()
    {
        const TokenMask mask = m_constraint.mask();
        std::vector<std::int32_t> ids;
        for (std::int32_t id = 0; id < m_tokenizer.size(); ++id) {
            if ((mask[static_cast<std::size_t>(id / 64)] >> (id % 64)) & 1)
                ids.push_back(id);
        }
        return ids;
    }

    // By the definition, after `text`.
    std::vector<std::int32_t> expected(std::string_view text) const
    {
        std::vector<std::int32_t> ids;
        for (std::int32_t id = 0; id < m_tokenizer.size(); ++id) {
            if (!m_tokenizer.isMapped(id))
                continue;
            GrammarStates states(m_grammar);
            GrammarStates::State state = states.start();
            for (const char byte : text)
                state = states.next(state, static_cast<std::uint8_t>(byte));
            REQUIRE(state != GrammarStates::kDead);
            if (m_tokenizer.isAdded(id)) {
                if (states.mayEnd(state)
                    && (id == this->id("<|endoftext|>") || id == this->id("<|user|>")
                        || id == this->id("<|observation|>")))
                    ids.push_back(id);
                continue;
            }
            for (const char byte : m_tokenizer.tokenBytes(id))
                state = states.next(state, static_cast<std::uint8_t>(byte));
            if (state != GrammarStates::kDead)
                ids.push_back(id);
        }
        return ids;
    }

private:
    static std::shared_ptr<const Grammar> grammar()
    {
        auto made = jsonSchemaGrammar(kSchema);
        if (!made)
            FAIL(made.error().message);
        return *made;
    }

    Tokenizer m_tokenizer;
    std::shared_ptr<const AnswerTokens> m_tokens;
    std::shared_ptr<const Grammar> m_grammar;
    AnswerConstraint m_constraint;
};

} // namespace

TEST_CASE("the trie holds every text of the vocabulary once, and no tag")
{
    const Fixture fixture;
    const TokenTrie trie(fixture.tokenizer(), fixture.tokenizer().size());
    std::vector<std::string> texts(static_cast<std::size_t>(fixture.tokenizer().size()));
    std::string text;
    std::vector<std::uint32_t> ends;
    for (std::uint32_t at = 0; at < trie.nodes().size(); ++at) {
        while (!ends.empty() && ends.back() <= at) {
            ends.pop_back();
            text.pop_back();
        }
        const TokenTrie::Node &node = trie.nodes()[at];
        text += static_cast<char>(node.byte);
        ends.push_back(node.next);
        if (node.token != TokenTrie::kNone) {
            CHECK(texts[static_cast<std::size_t>(node.token)].empty());
            texts[static_cast<std::size_t>(node.token)] = text;
        }
    }
    for (std::int32_t id = 0; id < fixture.tokenizer().size(); ++id) {
        CHECK(texts[static_cast<std::size_t>(id)]
              == (fixture.tokenizer().isAdded(id) ? "" : fixture.tokenizer().tokenBytes(id)));
    }
}

TEST_CASE("a mask allows exactly the tokens whose bytes go on with a text of the grammar")
{
    const std::string text = R"({"the": "inging", "and": [1, -20], "other": "ing"})";
    const std::string shorter = R"({"the": "in\u00e4\n", "and": []})";
    for (const std::string &whole : { shorter, text }) {
        Fixture fixture;
        if (whole == text) // six characters where five are allowed
            CHECK(fixture.tokenizer().encode(whole).size() > 10);
        std::string read;
        for (const std::int32_t token : fixture.tokenizer().encode(whole)) {
            const std::vector<std::int32_t> allowed = fixture.allowed();
            INFO("after ", read);
            REQUIRE(allowed == fixture.expected(read));
            if (!std::ranges::contains(allowed, token)) {
                CHECK(whole == text);
                CHECK(read.starts_with(R"({"the": ")"));
                break;
            }
            fixture.constraint().accept(token);
            read += fixture.tokenizer().tokenBytes(token);
        }
        if (whole == shorter) {
            CHECK(read == whole);
            CHECK(fixture.allowed() == fixture.expected(read)); // the end alone
            CHECK(fixture.allowed().size() == 3);
            fixture.constraint().accept(fixture.id("<|user|>"));
        }
    }
}

TEST_CASE("thinking may not end the turn, everything else may be thought")
{
    const Fixture fixture;
    Fixture other;
    const TokenMask mask = other.constraint().thinkingMask();
    for (std::int32_t id = 0; id < fixture.tokenizer().size(); ++id) {
        const bool isEnd = id == fixture.id("<|endoftext|>") || id == fixture.id("<|user|>")
            || id == fixture.id("<|observation|>");
        CHECK(((mask[static_cast<std::size_t>(id / 64)] >> (id % 64)) & 1) == (isEnd ? 0 : 1));
    }
}

TEST_CASE("a call may come instead of the text where that is allowed, and is free")
{
    Fixture bound;
    CHECK_FALSE(std::ranges::contains(bound.allowed(), bound.id("<tool_call>")));
    Fixture fixture(true);
    CHECK(std::ranges::contains(fixture.allowed(), fixture.id("<tool_call>")));
    fixture.constraint().accept(fixture.tokenizer().encode("{").front());
    CHECK_FALSE(std::ranges::contains(fixture.allowed(), fixture.id("<tool_call>")));
    Fixture calling(true);
    calling.constraint().accept(calling.id("<tool_call>"));
    CHECK(calling.constraint().mask().empty());
}
