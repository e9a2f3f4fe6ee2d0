# SPDX-License-Identifier: MIT
"""What each client library makes of the endpoint's answers. Run by run_clients.py in its environment.

The small model says what it likes, so these check that answers are understood, whole and consistent, not what they say.
"""

import json
import os
import subprocess
import sys
import time
import traceback
import typing

import anthropic
import openai
import pydantic

BASE = sys.argv[1]
KEY = "not-needed-here"
QUESTION = [{"role": "user", "content": "What is 2+2?"}]
LOOK = {"name": "look", "description": "Looks at a place.",
        "parameters": {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}}


def openai_client() -> openai.OpenAI:
    return openai.OpenAI(base_url=BASE + "/v1", api_key=KEY, max_retries=0)


def test_openai_chat() -> None:
    client = openai_client()
    model = client.models.list().data[0].id
    whole = client.chat.completions.create(model=model, messages=QUESTION, temperature=0, max_tokens=16)
    message = whole.choices[0].message
    text = (message.reasoning_content if hasattr(message, "reasoning_content") else "") + (message.content or "")
    assert text and whole.model == model and whole.choices[0].finish_reason in ("stop", "length")
    assert whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens
    streamed, usage = "", None
    for chunk in client.chat.completions.create(model=model, messages=QUESTION, temperature=0, max_tokens=16, stream=True,
                                                stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            streamed += getattr(choice.delta, "reasoning_content", None) or ""
            streamed += choice.delta.content or ""
    assert streamed == text, (streamed, text)
    assert usage.completion_tokens == whole.usage.completion_tokens


def test_openai_tools() -> None:
    client = openai_client()
    tools = [{"type": "function", "function": LOOK}]
    messages = QUESTION + [
        {"role": "assistant", "content": None,
         "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at":"home"}'}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "4"}]
    whole = client.chat.completions.create(model="m", messages=messages, tools=tools, max_tokens=16, temperature=0,
                                           reasoning_effort="none")
    for call in whole.choices[0].message.tool_calls or []:
        json.loads(call.function.arguments)
    assert whole.usage.prompt_tokens > 20
    streamed = client.chat.completions.create(model="m", messages=messages, tools=tools, max_tokens=16, temperature=0,
                                              reasoning_effort="none", stream=True)
    text = "".join(choice.delta.content or "" for chunk in streamed for choice in chunk.choices)
    assert text == (whole.choices[0].message.content or "")


def test_openai_refusals() -> None:
    client = openai_client()
    refusals = [({"response_format": {"type": "json_schema", "json_schema": {"name": "n"}}}, "response_format.json_schema.schema"),
                ({"n": 2}, "n"), ({"logprobs": True}, "logprobs"), ({"tool_choice": "required"}, "tool_choice")]
    for fields, param in refusals:
        try:
            client.chat.completions.create(model="m", messages=QUESTION, **fields)
        except openai.BadRequestError as error:
            assert error.param == param, (error.param, param)
        else:
            raise AssertionError(f"{fields} was accepted")
    odd = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"properties": {"n": {"multipleOf": 3}}}}}
    try:
        client.chat.completions.create(model="m", messages=QUESTION, response_format=odd)
    except openai.BadRequestError as error:
        assert "/properties/n" in str(error) and "multipleOf" in str(error), error
    else:
        raise AssertionError("a schema that is not supported was accepted")
    try:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "word " * 300_000}])
    except openai.BadRequestError as error:
        assert error.code == "context_length_exceeded" and "maximum context length is" in str(error)
    else:
        raise AssertionError("a prompt beyond the context was accepted")


class Pet(pydantic.BaseModel):
    kind: typing.Literal["cat", "dog"]
    name: str = pydantic.Field(max_length=12)


class Person(pydantic.BaseModel):
    age: int = pydantic.Field(ge=0, le=150)
    nick: typing.Optional[str] = pydantic.Field(max_length=8)
    is_here: bool
    pets: list[Pet] = pydantic.Field(max_length=2)


NO_THINKING = {"chat_template_kwargs": {"enable_thinking": False}}


def test_openai_structured_output() -> None:
    client = openai_client()
    for temperature in (0, 1):
        parsed = client.chat.completions.parse(model="m", messages=QUESTION, response_format=Person, temperature=temperature,
                                               max_tokens=300, reasoning_effort="none")
        assert isinstance(parsed.choices[0].message.parsed, Person) and parsed.choices[0].finish_reason == "stop"
    answer = client.responses.parse(model="m", input="Who is there?", text_format=Person, reasoning={"effort": "none"},
                                    max_output_tokens=300)
    assert isinstance(answer.output_parsed, Person), answer
    # Thinking is free; its end is not the answer's.
    thought = client.chat.completions.parse(model="m", messages=QUESTION, response_format=Person, temperature=0,
                                            max_tokens=400, extra_body={"thinking_budget": 40})
    assert isinstance(thought.choices[0].message.parsed, Person)


def test_openai_forced_call() -> None:
    client = openai_client()
    tools = [openai.pydantic_function_tool(Person), openai.pydantic_function_tool(Pet)]
    for choice, names in (("required", ("Person", "Pet")), ({"type": "function", "function": {"name": "Pet"}}, ("Pet",))):
        answer = client.chat.completions.parse(model="m", messages=QUESTION, tools=tools, tool_choice=choice, temperature=0.7,
                                               max_tokens=400, parallel_tool_calls=False, extra_body=NO_THINKING)
        assert answer.choices[0].finish_reason == "tool_calls", answer
        (call,) = answer.choices[0].message.tool_calls
        assert call.function.name in names and isinstance(call.function.parsed_arguments, (Person, Pet))


def test_openai_completions() -> None:
    client = openai_client()
    whole = client.completions.create(model="m", prompt=["One, two,", "A, B,"], max_tokens=6, temperature=0)
    assert [choice.index for choice in whole.choices] == [0, 1]
    streamed = ["", ""]
    for chunk in client.completions.create(model="m", prompt=["One, two,", "A, B,"], max_tokens=6, temperature=0, stream=True):
        streamed[chunk.choices[0].index] += chunk.choices[0].text
    assert streamed == [choice.text for choice in whole.choices]


def test_openai_responses() -> None:
    client = openai_client()
    whole = client.responses.create(model="m", input="What is 2+2?", max_output_tokens=24, temperature=0)
    assert whole.status in ("completed", "incomplete") and whole.usage.output_tokens > 0
    last, text = None, ""
    for event in client.responses.create(model="m", input="What is 2+2?", max_output_tokens=24, temperature=0, stream=True):
        last = event
        if event.type == "response.output_text.delta":
            text += event.delta
    assert last.type == f"response.{whole.status}" and last.response.output_text == text == whole.output_text


def test_anthropic() -> None:
    client = anthropic.Anthropic(base_url=BASE, api_key=KEY, max_retries=0)
    tools = [{"name": "look", "description": "Looks.", "input_schema": LOOK["parameters"]}]
    asked = {"model": "claude-any", "max_tokens": 24, "messages": QUESTION, "tools": tools, "extra_body": {"temperature": 0}}
    whole = client.messages.create(**asked)
    assert whole.model == "claude-any" and whole.stop_reason in ("end_turn", "max_tokens", "tool_use")
    assert whole.content and whole.usage.output_tokens > 0
    with client.messages.stream(**asked) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text == "".join(block.text for block in final.content if block.type == "text")
    assert [block.type for block in final.content] == [block.type for block in whole.content]
    assert [getattr(block, "text", None) for block in final.content] == [getattr(block, "text", None) for block in whole.content]
    assert final.usage.output_tokens == whole.usage.output_tokens
    counted = client.messages.count_tokens(model="claude-any", messages=QUESTION, tools=tools)
    assert counted.input_tokens == whole.usage.input_tokens + (whole.usage.cache_read_input_tokens or 0)


def test_anthropic_thinking_and_tool_results() -> None:
    client = anthropic.Anthropic(base_url=BASE, auth_token=KEY, max_retries=0)
    thinking = client.messages.create(model="claude-any", max_tokens=24, messages=QUESTION, extra_body={"temperature": 0},
                                      thinking={"type": "enabled", "budget_tokens": 32_000})
    assert thinking.content[0].type == "thinking" and thinking.content[0].thinking, thinking.content
    tools = [{"name": "look", "description": "Looks.", "input_schema": LOOK["parameters"]}]
    turns = QUESTION + [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "home"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "4"}]}]}]
    answer = client.messages.create(model="m", max_tokens=12, messages=turns, tools=tools, system="Be brief.")
    assert answer.role == "assistant" and answer.usage.input_tokens > 20


def test_anthropic_refusals() -> None:
    client = anthropic.Anthropic(base_url=BASE, api_key=KEY, max_retries=0)
    try:
        client.messages.create(model="m", max_tokens=5, messages=[{"role": "user", "content": [{"type": "document"}]}])
    except anthropic.BadRequestError as error:
        assert "messages[0].content[0].type" in str(error)
    else:
        raise AssertionError("a document was accepted")


def test_anthropic_forced_call() -> None:
    client = anthropic.Anthropic(base_url=BASE, api_key=KEY, max_retries=0)
    tool = {"name": "pet", "description": "A pet.", "input_schema": Pet.model_json_schema()}
    for choice in ({"type": "any"}, {"type": "tool", "name": "pet"}):
        answer = client.messages.create(model="m", max_tokens=300, messages=QUESTION, tools=[tool],
                                        tool_choice=choice | {"disable_parallel_tool_use": True})
        assert answer.stop_reason == "tool_use", answer
        Pet.model_validate(next(block.input for block in answer.content if block.type == "tool_use"))
    answer = client.messages.create(model="m", max_tokens=300, messages=QUESTION, extra_body={
        "output_format": {"type": "json_schema", "schema": Person.model_json_schema()}})
    Person.model_validate_json(answer.content[-1].text)


def test_langchain_structured_output() -> None:
    from langchain_openai import ChatOpenAI

    chat = ChatOpenAI(base_url=BASE + "/v1", api_key=KEY, model="m", temperature=0, max_tokens=300, max_retries=0,
                      extra_body=NO_THINKING)
    for method in ("json_schema", "function_calling"):
        assert isinstance(chat.with_structured_output(Person, method=method).invoke("Who?"), Person), method


def test_langchain() -> None:
    from langchain_openai import ChatOpenAI

    chat = ChatOpenAI(base_url=BASE + "/v1", api_key=KEY, model="m", temperature=0, max_tokens=24, max_retries=0,
                      extra_body={"chat_template_kwargs": {"enable_thinking": False}})
    whole = chat.invoke("What is 2+2?")
    assert "".join(part.content for part in chat.stream("What is 2+2?")) == whole.content
    assert whole.usage_metadata["output_tokens"] > 0


def test_litellm() -> None:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it looks for prices elsewhere otherwise
    import litellm

    answer = litellm.completion(model="openai/m", api_base=BASE + "/v1", api_key=KEY, messages=QUESTION, extra_body={"temperature": 0},
                                max_tokens=24, reasoning_effort="none", drop_params=False,
                                allowed_openai_params=["reasoning_effort"])
    assert answer.choices[0].message.content is not None and answer.usage.completion_tokens > 0


def curl(*arguments: str) -> str:
    return subprocess.run(["curl", "--silent", "--show-error", "--max-time", "300", *arguments], check=True,
                          capture_output=True, text=True).stdout


def test_curl() -> None:
    body = json.dumps({"messages": QUESTION, "max_tokens": 8, "stream": True})
    stream = curl("--no-buffer", BASE + "/v1/chat/completions", "-H", "Content-Type: application/json", "-d", body)
    assert stream.endswith("data: [DONE]\n\n"), stream[-200:]
    # A body so long that curl asks first whether it may send it.
    long = json.dumps({"messages": QUESTION, "max_tokens": 4, "metadata": {"x": "y" * 2_000_000}})
    answer = subprocess.run(["curl", "--silent", BASE + "/v1/chat/completions", "-H", "Content-Type: application/json",
                             "-d", "@-"], input=long, capture_output=True, text=True, check=True).stdout
    assert json.loads(answer)["object"] == "chat.completion"
    assert curl("-o", "/dev/null", "-w", "%{http_code}", BASE + "/v1/models", "-H", "Origin: https://evil.example") == "403"


def main() -> int:
    failed = 0
    for name, check in sorted(globals().items()):
        if not name.startswith("test_"):
            continue
        began = time.monotonic()
        try:
            check()
            print(f"ok {name}, {time.monotonic() - began:.1f} s", flush=True)
        except Exception:  # every client is tried
            failed += 1
            print(f"FAILED {name}, {time.monotonic() - began:.1f} s\n{traceback.format_exc(limit=-3)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
