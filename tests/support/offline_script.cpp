// SPDX-License-Identifier: MIT
#include "tests/support/offline_script.h"

#include <string>
#include <string_view>

namespace firesteel::test {

namespace {

constexpr std::string_view kThinking
    = "The question has three parts: what a hash map is, what it costs, and an example.\n\n"
      "A table fits the costs. Python keeps the example short; I should show how a collision is "
      "handled, since that "
      "is where the worst case comes from.";

constexpr std::string_view kEveryBlock
    = R"(A **hash map** keeps pairs of keys and values in an array of *buckets*. A hash function turns the key into a number, and that number picks the bucket, so `map[key]` does not search through the others.

## What it costs

| Operation | Average | Worst case | Why |
|:----------|:-------:|:----------:|:----|
| Insert    | O(1)    | O(n)       | One bucket; now and then a resize |
| Look up   | O(1)    | O(n)       | All keys in one bucket |
| Delete    | O(1)    | O(n)       | The same search as a look-up |

## In Python

```python
class HashMap:
    def __init__(self, size=16):
        self.buckets = [[] for _ in range(size)]

    def put(self, key, value):
        bucket = self.buckets[hash(key) % len(self.buckets)]
        for i, (k, _) in enumerate(bucket):
            if k == key:
                bucket[i] = (key, value)  # replace
                return
        bucket.append((key, value))
```

Two things keep it fast:

1. A **good hash function** spreads the keys evenly.
2. A *load factor* below about 0.75; beyond it
   - the array doubles,
   - every key is placed again.

> Most of the time the simplest structure that is fast enough is the right one.

---

More in the [documentation](https://docs.python.org/3/).)";

constexpr std::string_view kRightToLeft
    = "שלום! זוהי תשובה בעברית.\n\n- פריט ראשון\n- פריט שני עם `code`\n\n"
      "And a sentence in English.";

constexpr std::string_view kFormulas
    = R"(The mean of $n$ independent values with variance \(\sigma^2\) has the variance

\[
\operatorname{Var}(\bar{x}) = \frac{1}{n^2} \sum_{i=1}^{n} \sigma^2
= \frac{\sigma^2}{n}
\]

so that the standard error falls with \(\sqrt{n}\):

1. for \(n = 4\) it is half of \(\sigma\),
2. for \(n = 100\) a tenth:
   $$\frac{\sigma}{\sqrt{100}} = 0.1\,\sigma$$

Drawing them costs $5 or $10, which is no formula.)";

std::string longAnswer()
{
    std::string text;
    for (int i = 1; i <= 40; ++i) {
        text += "## Part " + std::to_string(i) + "\n\n";
        for (int k = 0; k < 4; ++k)
            text += "A sentence that is only here to make the paragraph as long as paragraphs "
                    "usually are. ";
        text += "\n\n```cpp\nint part" + std::to_string(i) + "() { return " + std::to_string(i)
            + "; }\n```\n\n";
    }
    return text;
}

FakeAnswer answerTo(const std::vector<engine::Message> &messages)
{
    const std::string &question = messages.back().content.front().text;
    const auto asks
        = [&](std::string_view word) { return question.find(word) != std::string::npos; };
    FakeAnswer answer { std::string(kThinking), std::string(kEveryBlock),
                        engine::FinishReason::Stop, std::nullopt };
    if (asks("rtl"))
        answer.text = kRightToLeft;
    if (asks("formula"))
        answer.text = kFormulas;
    if (asks("long"))
        answer.text = longAnswer();
    if (asks("fail")) {
        answer.text = "This answer stops in the middle,";
        answer.failure = engine::Error { engine::ErrorCode::Internal,
                                         "The engine stopped: an invariant broke." };
    }
    return answer;
}

} // namespace

FakeScript offlineScript(double tokensPerSecond)
{
    FakeScript script;
    script.contextTokens = 8192;
    script.prefillTime = std::chrono::milliseconds(tokensPerSecond > 0 ? 300 : 0);
    script.tokensPerSecond = tokensPerSecond;
    script.answer = answerTo;
    return script;
}

} // namespace firesteel::test
