// SPDX-License-Identifier: MIT
//
// Requests of programs that people use, constructed after what their sources and documentation say;
// none was recorded. Each is the second request of a turn, in which a tool has answered, since that
// is where dialects differ most.
#include "tests/app/api/api_fixture.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace firesteel;
using namespace firesteel::test;

namespace {

struct ClientRequest
{
    std::string program;
    std::string source;
    std::string path;
    std::string headers;
    std::string body;
    std::vector<engine::Role> roles; // of the conversation that the engine is given
    std::size_t tools = 0; // likewise
    std::string end = "data: [DONE]\n\n"; // of the stream
};

using enum engine::Role;

const std::vector<ClientRequest> kRequests {
    { "Cline",
      "github.com/cline/cline, src/core/api/providers/openai.ts",
      "/v1/chat/completions",
      "Authorization: Bearer any\r\nUser-Agent: OpenAI/JS 4.83.0\r\n"
      "X-Stainless-Lang: js\r\n",
      R"({"model":"glimmer","temperature":0,"stream":true,"stream_options":{"include_usage":true},
          "messages":[{"role":"system","content":"You are Cline."},
            {"role":"user","content":[{"type":"text","text":"<task>\nList the files\n</task>"},
              {"type":"text","text":"# Environment"}]},
            {"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function",
              "function":{"name":"list_files","arguments":"{\"path\":\".\"}"}}]},
            {"role":"tool","tool_call_id":"call_1","content":"README.md"}],
          "tools":[{"type":"function","function":{"name":"list_files","strict":false,
            "description":"Lists.","parameters":{"type":"object","properties":{
              "path":{"type":"string"}},"required":["path"],"additionalProperties":false}}}]})",
      { System, User, Assistant, Tool },
      1 },
    { "OpenCode",
      "npm @ai-sdk/openai-compatible 2.0, opencode.ai/docs/providers",
      "/v1/chat/completions",
      "Authorization: Bearer any\r\nUser-Agent: ai-sdk/openai-compatible/2.0.2\r\n",
      R"({"model":"glimmer","max_tokens":32000,"top_p":1,"stream":true,"tool_choice":"auto",
          "stream_options":{"include_usage":true},"reasoning_effort":"medium",
          "messages":[{"role":"system","content":"You are opencode."},
            {"role":"user","content":"List the files"},
            {"role":"assistant","content":"","reasoning_content":"I list.","tool_calls":[
              {"id":"call_1","type":"function","function":{"name":"list","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"call_1","content":"README.md"}],
          "tools":[{"type":"function","function":{"name":"list","description":"Lists.",
            "parameters":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",
              "properties":{},"additionalProperties":false}}},
            {"type":"function","function":{"name":"read","parameters":{"type":"object"}}}]})",
      { System, User, Assistant, Tool },
      2 },
    { "Codex",
      "github.com/openai/codex, codex-rs/codex-api/src/common.rs",
      "/v1/responses",
      "Authorization: Bearer any\r\nAccept: text/event-stream\r\noriginator: codex_cli_rs\r\n",
      R"({"model":"glimmer","instructions":"You are Codex.","tool_choice":"auto","stream":true,
          "parallel_tool_calls":false,"store":false,"include":["reasoning.encrypted_content"],
          "reasoning":{"effort":"medium","summary":"auto"},"prompt_cache_key":"0199",
          "text":{"verbosity":"medium"},
          "input":[{"type":"message","role":"developer","content":[
              {"type":"input_text","text":"<permissions>"}]},
            {"type":"message","role":"user","content":[
              {"type":"input_text","text":"List the files"}]},
            {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"I list."}],
              "content":null,"encrypted_content":null},
            {"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}",
              "call_id":"call_1"},
            {"type":"function_call_output","call_id":"call_1",
              "output":"{\"output\":\"README.md\"}"}],
          "tools":[{"type":"function","name":"shell","description":"Runs.","strict":false,
              "parameters":{"type":"object","properties":{"command":{"type":"array",
                "items":{"type":"string"}}},"required":["command"]}},
            {"type":"local_shell"},{"type":"web_search"},
            {"type":"custom","name":"apply_patch","format":{"type":"grammar"}}]})",
      { System, System, User, Assistant, Tool },
      1,
      "\n\n" },
    { "Claude Code",
      "code.claude.com/docs; a published capture of version 2.1.69, its fields only",
      "/v1/messages?beta=true",
      "Authorization: Bearer any\r\nanthropic-version: 2023-06-01\r\nx-app: cli\r\n"
      "anthropic-beta: claude-code-20250219,adaptive-thinking-2026-01-28\r\n"
      "anthropic-dangerous-direct-browser-access: true\r\nsec-fetch-mode: cors\r\n",
      R"({"model":"claude-opus-4-6","max_tokens":32000,"stream":true,
          "metadata":{"user_id":"user_0_account_0_session_0"},"thinking":{"type":"adaptive"},
          "context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},
          "output_config":{"effort":"medium"},
          "system":[{"type":"text","text":"You are Claude Code."},
            {"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral","ttl":"1h"}}],
          "messages":[{"role":"user","content":[{"type":"text","text":"<system-reminder>"},
              {"type":"text","text":"List the files","cache_control":{"type":"ephemeral"}}]},
            {"role":"assistant","content":[{"type":"thinking","thinking":"I list.",
                "signature":""},
              {"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1",
                "content":"README.md","is_error":false,"cache_control":{"type":"ephemeral"}},
              {"type":"text","text":"<system-reminder>"}]}],
          "tools":[{"name":"Bash","description":"Runs.","input_schema":{"type":"object",
            "properties":{"command":{"type":"string"}},"required":["command"]}}]})",
      { System, User, Assistant, Tool, User },
      1,
      "\"type\":\"message_stop\"}\n\n" },
    { "Open WebUI",
      "docs.openwebui.com; github.com/open-webui/open-webui, backend/open_webui/routers/openai.py",
      "/chat/completions", // the base URL without /v1
      "Authorization: Bearer any\r\nX-OpenWebUI-User-Name: Ann\r\n",
      R"({"model":"glimmer","stream":true,"stream_options":{"include_usage":true},
          "messages":[{"role":"system","content":"Be kind."},
            {"role":"user","content":"Hi"},
            {"role":"assistant","content":"Hello."},
            {"role":"user","content":[{"type":"text","text":"List the files"}]}],
          "temperature":0.8,"top_p":0.9,"max_tokens":512,"seed":42,"stop":["###"],
          "frequency_penalty":0.1,"logit_bias":{}})",
      { System, User, Assistant, User },
      0 },
};

} // namespace

TEST_CASE("requests of programs: each is understood whole and answered as a stream")
{
    FakeScript script;
    script.answer = [](const auto &) {
        FakeAnswer answer { "Hm.", "Ok.", engine::FinishReason::ToolCalls, {} };
        answer.toolCalls = { { "c1", "list", R"({"path":"."})" } };
        return answer;
    };
    for (const ClientRequest &request : kRequests) {
        CAPTURE(request.program);
        CAPTURE(request.source);
        ServedEngine served(script);
        const RawAnswer answer = post(served.port(), request.path, request.body, request.headers);
        REQUIRE_MESSAGE(answer.status == 200, answer.body);
        CHECK(answer.body.ends_with(request.end));
        CHECK(answer.body.contains("Ok."));
        CHECK(answer.body.contains("list"));
        std::vector<engine::Role> roles;
        for (const engine::Message &message : served.engine().lastMessages())
            roles.push_back(message.role);
        CHECK(roles == request.roles);
        CHECK(served.engine().lastTools().size() == request.tools);
        CHECK(served.ended(1)[0].unknownFields == 0);
        // What the model said before comes back as what it was.
        for (const engine::Message &message : served.engine().lastMessages()) {
            if (message.role == Assistant && request.tools > 0)
                CHECK(message.toolCalls.size() == 1);
        }
    }
}
