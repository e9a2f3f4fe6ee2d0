// SPDX-License-Identifier: MIT
#include "tests/qml/sample_endpoint.h"

#include <string>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr std::int64_t kSomeDay = 1'790'000'000'000; // milliseconds since 1970

app::RequestRecord record(std::uint64_t id, const std::string &path, int status)
{
    app::RequestRecord record;
    record.id = id;
    record.began = kSomeDay + static_cast<std::int64_t>(id) * 7300;
    record.client = "127.0.0.1";
    record.method = path == "/v1/models" ? "GET" : "POST";
    record.path = path;
    record.status = status;
    record.seconds = 0.4 * static_cast<double>(id);
    return record;
}

} // namespace

QString fillEndpoint(app::EndpointController &endpoint)
{
    endpoint.createKey(u"Laptop"_s);
    endpoint.dismissNewKey();
    endpoint.createKey(u"Editor"_s);
    endpoint.addOrigin(u"https://chat.example"_s);
    const app::RequestSink sink = endpoint.log()->sink();
    sink(record(1, "/v1/models", 200));
    app::RequestRecord answered = record(2, "/v1/chat/completions", 200);
    answered.keyName = "Laptop";
    answered.promptTokens = 1840;
    answered.completionTokens = 312;
    sink(answered);
    app::RequestRecord refused = record(3, "/v1/chat/completions", 400);
    refused.note = "response_format.type";
    sink(refused);
    app::RequestRecord left = record(4, "/v1/messages", 499);
    left.promptTokens = 25'310;
    left.completionTokens = 40;
    sink(left);
    sink(record(5, "/v1/responses", 0));
    QString words = u"127.0.0.1 https://chat.example https://app.example Laptop Editor GET POST "
                    "/v1/models /v1/chat/completions /v1/messages /v1/responses 200 400 "
                    "response_format.type "_s
        + endpoint.newKey();
    for (int row = 0; row < endpoint.log()->rowCount(); ++row) {
        for (const int role : { app::RequestLogModel::TimeRole, app::RequestLogModel::DetailRole })
            words += u' ' + endpoint.log()->data(endpoint.log()->index(row), role).toString();
    }
    return words;
}

} // namespace firesteel::test
