// SPDX-License-Identifier: MIT
#include "engine/grammar/grammar_builder.h"
#include "engine/grammar/grammar_states.h"
#include "tests/engine/grammar/grammar_walk.h"

#include <doctest/doctest.h>
#include <utility>

using namespace firesteel::engine;
using namespace firesteel::test;

namespace {

GrammarPointer built(GrammarBuilder &builder, GrammarBuilder::Expression body)
{
    const GrammarBuilder::Rule start = builder.declare();
    builder.define(start, body);
    Result<GrammarPointer> grammar = builder.build(start);
    REQUIRE_MESSAGE(grammar.has_value(), grammar.error().message);
    return std::move(*grammar);
}

std::string buildError(GrammarBuilder &builder, GrammarBuilder::Expression body)
{
    const GrammarBuilder::Rule start = builder.declare();
    builder.define(start, body);
    const Result<GrammarPointer> grammar = builder.build(start);
    return grammar ? "" : grammar.error().message;
}

} // namespace

TEST_CASE("expressions accept what they say")
{
    GrammarBuilder b;
    CHECK(accepts(built(b, b.nothing()), ""));
    CHECK_FALSE(accepts(built(b, b.nothing()), "a"));

    const GrammarPointer text = built(b, b.bytes("ab"));
    CHECK(accepts(text, "ab"));
    CHECK_FALSE(accepts(text, "a"));
    CHECK_FALSE(accepts(text, "abb"));

    const GrammarPointer choice = built(b, b.choice({ b.bytes("a"), b.bytes("ab"), b.nothing() }));
    CHECK(accepts(choice, ""));
    CHECK(accepts(choice, "a"));
    CHECK(accepts(choice, "ab"));
    CHECK_FALSE(accepts(choice, "b"));

    const GrammarPointer counted = built(b, b.repeat(b.bytes("xy"), 2, 3));
    for (const auto &[sample, isIn] :
         { std::pair("xy", false), { "xyxy", true }, { "xyxyxy", true }, { "xyxyxyxy", false } }) {
        CAPTURE(sample);
        CHECK(accepts(counted, sample) == isIn);
    }

    const GrammarPointer many = built(
        b,
        b.sequence({ b.repeat(b.range('a', 'c'), 1, GrammarBuilder::kUnbounded), b.bytes("d") }));
    CHECK(accepts(many, "abcabcd"));
    CHECK_FALSE(accepts(many, "d"));

    // Bodies that may be empty, inside a loop and beside another alternative.
    const GrammarPointer loops
        = built(b,
                b.choice({ b.repeat(b.optional(b.bytes("a")), 0, GrammarBuilder::kUnbounded),
                           b.sequence({ b.bytes("b"), b.repeat(b.bytes("c"), 0, 2) }) }));
    for (const auto &[sample, isIn] : { std::pair("", true),
                                        { "aaa", true },
                                        { "bcc", true },
                                        { "ab", false },
                                        { "ba", false },
                                        { "bccc", false } }) {
        CAPTURE(sample);
        CHECK(accepts(loops, sample) == isIn);
    }
}

TEST_CASE("an automaton's edges carry expressions")
{
    GrammarBuilder b;
    // (ab)* c, ends in state 2
    const GrammarPointer grammar = built(
        b,
        b.automaton(3, { { 0, b.bytes("a"), 1 }, { 1, b.bytes("b"), 0 }, { 0, b.bytes("c"), 2 } },
                    { 2 }));
    CHECK(accepts(grammar, "c"));
    CHECK(accepts(grammar, "ababc"));
    CHECK_FALSE(accepts(grammar, "abac"));
    CHECK_FALSE(accepts(grammar, "ab"));
}

TEST_CASE("rules nest, and only so deep")
{
    GrammarBuilder b;
    const GrammarBuilder::Rule list = b.declare(true);
    b.define(list, b.sequence({ b.bytes("["), b.optional(b.call(list)), b.bytes("]") }));
    const GrammarPointer grammar = built(b, b.call(list));
    const std::string opened(kMaxGrammarNesting, '[');
    CHECK(accepts(grammar, opened + std::string(kMaxGrammarNesting, ']')));
    CHECK_FALSE(accepts(grammar, opened + std::string(kMaxGrammarNesting - 1, ']')));
    CHECK(followed(grammar, opened + "[") == kMaxGrammarNesting);
}

TEST_CASE("near the limit of nesting only what can still end goes on")
{
    GrammarBuilder b;
    // A node is "l" or an object that holds an array of at least one node: two levels for one node.
    const GrammarBuilder::Rule object = b.declare(true);
    const GrammarBuilder::Rule array = b.declare(true);
    const auto node = b.choice({ b.bytes("l"), b.call(object) });
    b.define(object, b.sequence({ b.bytes("{"), b.call(array), b.bytes("}") }));
    b.define(array, b.sequence({ b.bytes("["), node, b.bytes("]") }));
    const GrammarPointer grammar = built(b, node);
    std::string text;
    for (int level = 0; level < kMaxGrammarNesting; level += 2)
        text += "{[";
    CHECK(followed(grammar, text) == text.size());
    CHECK(followed(grammar, text + "{") == text.size());
    CHECK(followed(grammar, text + "l]}") == text.size() + 3);
    std::mt19937 random(7);
    GrammarStates states(grammar);
    for (int i = 0; i < 200; ++i)
        CHECK_FALSE(randomWalk(states, random, random() % 300).wasStuck);
}

TEST_CASE("what cannot end is left out or refused")
{
    GrammarBuilder b;
    CHECK(buildError(b, b.never()) == "no text satisfies it");
    const GrammarBuilder::Rule endless = b.declare(true);
    b.define(endless, b.sequence({ b.bytes("("), b.call(endless), b.bytes(")") }));
    CHECK(buildError(b, b.call(endless)) == "no text satisfies it");
    const GrammarPointer rest = built(b, b.choice({ b.call(endless), b.bytes("x") }));
    CHECK(accepts(rest, "x"));
    CHECK(followed(rest, "(") == 0);
}

TEST_CASE("a rule that begins with itself is refused")
{
    GrammarBuilder b;
    const GrammarBuilder::Rule left = b.declare();
    b.define(left,
             b.choice({ b.sequence({ b.optional(b.bytes("a")), b.call(left), b.bytes("b") }),
                        b.bytes("c") }));
    CHECK(buildError(b, b.call(left)) == "refers to itself without a value between");
}

TEST_CASE("a grammar that is too large is refused before it is written")
{
    GrammarBuilder b;
    auto body = b.bytes("x");
    for (int i = 0; i < 8; ++i)
        body = b.sequence({ body, b.repeat(b.rule(body), 1000, 1000) });
    for (int i = 0; i < 40; ++i)
        body = b.sequence({ body, body });
    CHECK(buildError(b, body) == "the grammar is too large, more than 400000 nodes");
}

TEST_CASE("steps are remembered, and symbols of a class go the same way")
{
    GrammarBuilder b;
    const GrammarPointer grammar = built(
        b,
        b.repeat(b.choice({ b.range('a', 'm'), b.bytes("\"q") }), 0, GrammarBuilder::kUnbounded));
    GrammarStates states(grammar);
    const GrammarStates::State first = states.next(states.start(), 'a');
    CHECK(states.next(first, 'b') == first);
    CHECK(states.size() <= 2);
    CHECK(states.symbolClass('a') == states.symbolClass('m'));
    CHECK(states.symbolClass('a') != states.symbolClass('q'));
    CHECK(states.next(states.start(), 'z') == GrammarStates::kDead);
    CHECK(states.next(GrammarStates::kDead, 'a') == GrammarStates::kDead);
    CHECK_FALSE(states.mayEnd(GrammarStates::kDead));
    CHECK_FALSE(states.hasNext(GrammarStates::kDead));
    CHECK(states.hasNext(first));
}

TEST_CASE("a text with very many readings keeps some of them")
{
    GrammarBuilder b;
    // Each level may be read in two ways that differ only in where they go on.
    const GrammarBuilder::Rule tree = b.declare(true);
    b.define(tree,
             b.choice({ b.sequence({ b.bytes("("), b.call(tree), b.bytes(")") }),
                        b.sequence(
                            { b.bytes("("), b.call(tree), b.bytes(")"), b.optional(b.bytes("!")) }),
                        b.bytes("x") }));
    const GrammarPointer grammar = built(b, b.call(tree));
    const std::string text = std::string(40, '(') + "x" + std::string(40, ')');
    CHECK(accepts(grammar, text));
}

TEST_CASE("old states are dropped, live ones stay what they are")
{
    GrammarBuilder b;
    const GrammarPointer grammar = built(
        b, b.sequence({ b.bytes("<"), b.repeat(b.range('a', 'z'), 0, 20'000), b.bytes(">") }));
    GrammarStates states(grammar);
    GrammarStates::State live = states.next(states.start(), '<');
    GrammarStates::State dead = GrammarStates::kDead;
    GrammarStates::State early = live;
    CHECK_FALSE(states.trim({}));
    for (int i = 0; i < 10'000; ++i)
        live = states.next(live, 'q');
    REQUIRE(states.size() > GrammarStates::kKeptStates);
    std::vector<GrammarStates::State *> kept { &live, &dead, &early };
    CHECK(states.trim(kept));
    CHECK(states.size() == 3); // the start and two
    CHECK(dead == GrammarStates::kDead);
    CHECK(states.mayEnd(states.next(live, '>')));
    for (int i = 0; i < 10'000; ++i)
        live = states.next(live, 'q');
    CHECK(states.next(live, 'q') == GrammarStates::kDead); // 20,000 of them, counted across
    CHECK(states.mayEnd(states.next(early, '>')));
    CHECK(states.next(states.start(), 'q') == GrammarStates::kDead);
}
