# SPDX-License-Identifier: MIT
"""Says whether a JSON value satisfies a schema, by the library jsonschema with the patterns of ECMA-262."""

import re

import jsonschema

# Python's re and ECMA-262 mean different characters by these.
SPACE = "\\t-\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": SPACE}
LITERALS = {"t": "\\t", "n": "\\n", "v": "\\v", "f": "\\f", "r": "\\r", "0": "\\x00"}
TOKEN = re.compile(r"\\u\{([0-9A-Fa-f]+)\}|\\u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})|\\c(.)|\\(.)|(\(\?<(?=\w))|(.)",
                   re.DOTALL)


def python_pattern(pattern: str) -> str:
    """The same pattern for Python's re; ValueError where there is no short way to say it."""
    written, in_class = "", False
    for code, high, low, control, escaped, group, plain in TOKEN.findall(pattern):
        if code:
            written += re.escape(chr(int(code, 16)))
        elif high:
            written += chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
        elif control:
            written += f"\\x{ord(control) & 31:02x}"
        elif escaped in CLASSES:
            written += CLASSES[escaped] if in_class else f"[{CLASSES[escaped]}]"
        elif escaped.lower() in CLASSES:
            if in_class:
                raise ValueError(pattern)
            written += f"[^{CLASSES[escaped.lower()]}]"
        elif escaped:
            written += LITERALS.get(escaped, "\\" + escaped)
        elif group:
            written += "(?P<"
        elif plain == "$" and not in_class:
            written += "\\Z"
        elif plain == "." and not in_class:
            written += "[^\\n\\r\\u2028\\u2029]"
        else:
            in_class = plain == "[" or in_class and plain != "]"
            written += plain
    return written


def _pattern(validator, value, instance, schema):
    if validator.is_type(instance, "string") and not re.search(python_pattern(value), instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {value!r}")


_Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": _pattern})
_FORMATS = jsonschema.FormatChecker(formats=["date", "email", "ipv4", "ipv6", "uuid"])


def validator_of(schema) -> jsonschema.protocols.Validator:
    """Its iter_errors() raises ValueError at a pattern that Python cannot say."""
    return _Validator(schema, format_checker=_FORMATS)
