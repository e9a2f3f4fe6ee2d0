# SPDX-License-Identifier: MIT
#
# Random conversations rendered by the official template through jinja2, set up as the transformers library does:
#   generate.py TEMPLATE.jinja SEED COUNT OUT.json
# Tools and arguments are stored as strings of JSON, so that the spelling of numbers survives.
import json
import pathlib
import random
import sys

from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

TEXTS = ["", "Hi", "  padded \n", "a\nb", "\u00dcn\u00efc\u00f6d\u00e9 \u4f60\u597d \U0001f600", "<b>&amp;</b> \"q\" 'x'", "\u00a0\u3000x\u2028\x1c", "{{ x }} {% y %}",
         "<think>in</think>out", "a</think>b</think> c", "x<think>y<think>z</think>  end  ", "no end <think>", "</think>", "tail</think>\n\n",
         "\x85y\x0b", "0", "back\\slash\ttab", "<tool_call>fake</tool_call>", "  <think> r </think>  "]
NUMBERS = ["0", "-0", "-0.0", "1", "-17", "1.0", "1.5", "1e5", "1E+16", "123456789012345680000", "1e16", "9999999999999998.0", "1e-4",
           "0.0001", "0.00001", "1.5e-7", "5e-324", "1.7976931348623157e308", "0.1", "100.0", "12345678901234567890123", "-98765432109876543210",
           "18446744073709551615", "9223372036854775808", "3.0e0", "2.50", "1e22", "1e21", "123456.789e3"]
KEYS = ["city", "n", "\u00fc", "a b", "x\"y", "k<v", "items", "name", "l\\b", "\u2028"]
IDS = ["c1", "c2", "c3", "", None]
NAMES = ["get_weather", "calculator", "search", "later", "gr\u00f6\u00dfe"]


def value(rng, depth=0):
    k = rng.random()
    if k < 0.35:
        return json.dumps(rng.choice(TEXTS), ensure_ascii=rng.random() < 0.5)
    if k < 0.65:
        return rng.choice(NUMBERS)
    if k < 0.78 or depth > 2:
        return rng.choice(["true", "false", "null", "[]", "{}"])
    if k < 0.9:
        return "[" + rng.choice([",", " , "]).join(value(rng, depth + 1) for _ in range(rng.randrange(4))) + "]"
    return members(rng, depth + 1)


def members(rng, depth=0):
    keys = [rng.choice(KEYS) for _ in range(rng.randrange(4))]
    return "{" + ",".join(json.dumps(k) + rng.choice([":", ": "]) + value(rng, depth) for k in keys) + "}"


def tool(rng):
    fields = [f'"name":"{rng.choice(NAMES)}"', '"description":' + json.dumps(rng.choice(TEXTS)), '"parameters":' + members(rng)]
    if rng.random() < 0.3:
        fields.insert(rng.randrange(3), '"defer_loading":' + rng.choice(["true", "false", "null", "0", "1", "0.0", "\"\"", "\"x\"", "[]"]))
    if rng.random() < 0.3:
        fields.append('"strict":true')
    if rng.random() < 0.2:
        fields.append('"x\\"y":1')
    inner = "{" + ",".join(fields) + "}"
    return inner if rng.random() < 0.3 else '{"type":"function","function":' + inner + "}"


def content(rng):
    k = rng.random()
    if k < 0.6:
        return rng.choice(TEXTS)
    if k < 0.68:
        return None
    parts = []
    for _ in range(rng.randrange(4)):
        kind = rng.choice(["text", "text", "text", "image", "image_url", "video", "video_url", "audio", "audio_url", "input_audio", "file"])
        parts.append(rng.choice(TEXTS) if rng.random() < 0.1 else {"type": kind, "text": rng.choice(TEXTS)})
    return parts


def references(rng):
    return [{"type": "tool_reference", "name": rng.choice(NAMES)} for _ in range(rng.randrange(1, 4))]


def assistant(rng):
    message = {"role": "assistant", "content": content(rng)}
    if rng.random() < 0.5:
        message["reasoning_content"] = rng.choice(TEXTS + [None])
    if rng.random() < 0.6:
        calls = []
        for i in range(rng.randrange(4)):
            function = {"name": rng.choice(NAMES), "arguments": members(rng)}
            call = {"type": "function", "function": function} if rng.random() < 0.8 else dict(function)
            identity = f"c{i + 1}" if rng.random() < 0.8 else rng.choice(IDS)
            if identity is not None:
                call["id"] = identity
            calls.append(call)
        message["tool_calls"] = calls
    return message


def tool_messages(rng, has_tools):
    messages = []
    order = ["c1", "c2", "c3"][:rng.randrange(1, 4)]
    rng.shuffle(order)
    for identity in order:
        if rng.random() < 0.1:
            identity = rng.choice(IDS)
        k = rng.random()
        if k < 0.2:
            outputs = []
            for other in [identity, "c3"][:rng.randrange(1, 3)]:
                output = references(rng) if has_tools and rng.random() < 0.3 else content(rng)
                outputs.append({rng.choice(["id", "tool_call_id"]): other, "output": output})
            messages.append({"role": "tool", "content": outputs})
            continue
        message = {"role": "tool", "content": references(rng) if has_tools and k < 0.4 else content(rng)}
        if identity is not None:
            message[rng.choice(["id", "tool_call_id"])] = identity
        messages.append(message)
    return messages


def conversation(rng):
    tools = [tool(rng) for _ in range(rng.randrange(1, 4))] if rng.random() < 0.5 else None
    messages = []
    for _ in range(rng.randrange(1, 7)):
        k = rng.random()
        if k < 0.15:
            messages.append({"role": "system", "content": content(rng)})
        elif k < 0.45:
            messages.append({"role": "user", "content": content(rng)})
        elif k < 0.75:
            messages.append(assistant(rng))
        else:
            if rng.random() < 0.7:
                messages.append(assistant(rng))
            messages.extend(tool_messages(rng, tools is not None))
    variables = {}
    if rng.random() < 0.5:
        variables["reasoning_effort"] = rng.choice(["low", "high", "max", "medium", "none"])
    if rng.random() < 0.5:
        variables["clear_thinking"] = rng.random() < 0.6
    return {"messages": messages, "tools": tools, "add_generation_prompt": rng.random() < 0.7, "kwargs": variables}


def with_objects(case):
    """What the template is given: arguments and tools parsed."""
    case = json.loads(json.dumps(case))
    for message in case["messages"]:
        for call in message.get("tool_calls") or []:
            function = call.get("function", call)
            function["arguments"] = json.loads(function["arguments"])
    if case["tools"] is not None:
        case["tools"] = [json.loads(tool) for tool in case["tools"]]
    return case


def main():
    template_file, seed, count, out = sys.argv[1:5]
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    environment.filters["tojson"] = lambda x, ensure_ascii=False: json.dumps(x, ensure_ascii=ensure_ascii)
    template = environment.from_string(pathlib.Path(template_file).read_text(encoding="utf-8"))
    rng = random.Random(int(seed))
    cases = []
    for _ in range(int(count)):
        case = conversation(rng)
        given = with_objects(case)
        case["text"] = template.render(messages=given["messages"], tools=given["tools"],
                                       add_generation_prompt=given["add_generation_prompt"], **given["kwargs"])
        cases.append(case)
    pathlib.Path(out).write_text(json.dumps(cases, separators=(",", ":")) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
