// SPDX-License-Identifier: MIT
//
// The parameters of an answer: ranges, texts, layers of choices, and the rows that show them.
#include "app/settings/parameter_list_model.h"
#include "app/settings/request_settings.h"

#include <QAbstractItemModelTester>
#include <QJsonArray>
#include <QLocale>
#include <QSignalSpy>
#include <QTest>

namespace firesteel::test {

using namespace Qt::Literals::StringLiterals;
using app::ParameterListModel;
using app::RequestParameter;
using app::RequestSettings;

namespace {

engine::SamplingParams modelsOwn()
{
    engine::SamplingParams model;
    model.temperature = 0.6F;
    model.topP = 0.95F;
    model.topK = 20;
    return model;
}

struct Rows
{
    explicit Rows(bool isOverPreset = false)
        : model(isOverPreset)
    {
        model.show({}, {}, modelsOwn(), true);
    }

    QVariant value(RequestParameter parameter, int role) const
    {
        return model.index(row(parameter)).data(role);
    }
    static int row(RequestParameter parameter) { return static_cast<int>(parameter); }

    ParameterListModel model;
    QAbstractItemModelTester tester { &model };
};

} // namespace

class RequestSettingsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyParameterHasItsRow();
    void withoutAChoiceTheModelRules();
    void choicesReachTheRequest();
    void thinkingReachesThePrompt_data();
    void thinkingReachesThePrompt();
    void badValuesAreBroughtBackWithANote_data();
    void badValuesAreBroughtBackWithANote();
    void keepsWhatALaterVersionWrote();
    void layersOverEachOther();
    void textsAreReadInThePersonsLanguage();
    void stopStringsAreWrittenOneALine();
    void rowsTellWhatAppliesAndWhy();
    void rowsBringInputIntoRange();
    void rowsRefuseWhatIsNoNumber();
    void rowsOverAPresetForgetWhatEqualsIt();
    void rowsThatMayNotBeEditedStay();
};

void RequestSettingsTest::everyParameterHasItsRow()
{
    int row = 0;
    QStringList keys;
    for (const app::ParameterFacts &facts : app::requestParameters()) {
        QCOMPARE(static_cast<int>(facts.parameter), row++);
        QVERIFY(!app::labelOf(facts.parameter).isEmpty());
        QVERIFY(!app::hintOf(facts.parameter).isEmpty());
        QVERIFY(!keys.contains(QString(facts.key)));
        keys << QString(facts.key);
        const QJsonValue fallback = app::defaultValue(facts.parameter, {});
        QCOMPARE(app::usableValue(facts.parameter, fallback), fallback);
    }
    QCOMPARE(row, static_cast<int>(RequestParameter::DraftTokens) + 1);
}

void RequestSettingsTest::withoutAChoiceTheModelRules()
{
    const app::RequestOptions options = app::requestOptions({}, modelsOwn());
    QCOMPARE(options.sampling.temperature, 0.6F);
    QCOMPARE(options.sampling.topP, 0.95F);
    QCOMPARE(options.sampling.topK, 20);
    QVERIFY(!options.sampling.seed);
    QVERIFY(!options.maxTokens);
    QVERIFY(!options.thinkingBudget);
    QVERIFY(options.stop.empty());
    QVERIFY(!options.drafting.tokens);
    QVERIFY(options.drafting.drafter == engine::DrafterKind::Auto);
    QVERIFY(options.prompt.thinking);
    QVERIFY(options.prompt.effort == engine::ReasoningEffort::Low);
    QVERIFY(options.prompt.clearThinking);
    QVERIFY(app::systemPromptOf({}).isEmpty());
}

void RequestSettingsTest::choicesReachTheRequest()
{
    RequestSettings settings;
    settings.set(RequestParameter::SystemPrompt, u"  Answer in rhymes.\n"_s);
    settings.set(RequestParameter::Temperature, 0);
    settings.set(RequestParameter::TopP, 0.5);
    settings.set(RequestParameter::TopK, 7);
    settings.set(RequestParameter::MinP, 0.05);
    settings.set(RequestParameter::RepetitionPenalty, 1.1);
    settings.set(RequestParameter::PresencePenalty, -0.5);
    settings.set(RequestParameter::FrequencyPenalty, 0.25);
    settings.set(RequestParameter::Seed, 4'294'967'295.0);
    settings.set(RequestParameter::MaxTokens, 64);
    settings.set(RequestParameter::ThinkingBudget, 512);
    settings.set(RequestParameter::Stop, QJsonArray { u"\n\n"_s, u"END"_s });
    settings.set(RequestParameter::ClearThinking, false);
    settings.set(RequestParameter::Drafter, u"lookup"_s);
    settings.set(RequestParameter::DraftTokens, 0); // off is a choice, too
    const app::RequestOptions options = app::requestOptions(settings, modelsOwn());
    QCOMPARE(options.sampling.temperature, 0.0F);
    QCOMPARE(options.sampling.topP, 0.5F);
    QCOMPARE(options.sampling.topK, 7);
    QCOMPARE(options.sampling.minP, 0.05F);
    QCOMPARE(options.sampling.repetitionPenalty, 1.1F);
    QCOMPARE(options.sampling.presencePenalty, -0.5F);
    QCOMPARE(options.sampling.frequencyPenalty, 0.25F);
    QCOMPARE(options.sampling.seed, std::optional<std::uint64_t>(4'294'967'295));
    QCOMPARE(options.maxTokens, std::optional(64));
    QCOMPARE(options.thinkingBudget, std::optional(512));
    // No limit is a choice, too: over a preset that has one.
    settings.set(RequestParameter::ThinkingBudget, app::kNoTokenLimit);
    QVERIFY(settings.has(RequestParameter::ThinkingBudget));
    QVERIFY(!app::requestOptions(settings, modelsOwn()).thinkingBudget);
    QCOMPARE(options.stop, std::vector<std::string>({ "\n\n", "END" }));
    QVERIFY(!options.prompt.clearThinking);
    QCOMPARE(options.drafting.tokens, std::optional(0));
    QVERIFY(options.drafting.drafter == engine::DrafterKind::Lookup);
    QCOMPARE(app::systemPromptOf(settings), u"Answer in rhymes."_s);
}

void RequestSettingsTest::thinkingReachesThePrompt_data()
{
    QTest::addColumn<QString>("choice");
    QTest::addColumn<bool>("thinks");
    QTest::addColumn<int>("effort");
    using Effort = engine::ReasoningEffort;
    QTest::newRow("off") << u"off"_s << false << static_cast<int>(Effort::Low);
    QTest::newRow("low") << u"low"_s << true << static_cast<int>(Effort::Low);
    QTest::newRow("high") << u"high"_s << true << static_cast<int>(Effort::High);
    QTest::newRow("max") << u"max"_s << true << static_cast<int>(Effort::Max);
}

void RequestSettingsTest::thinkingReachesThePrompt()
{
    QFETCH(const QString, choice);
    QFETCH(const bool, thinks);
    QFETCH(const int, effort);
    RequestSettings settings;
    settings.set(RequestParameter::Thinking, choice);
    const app::RequestOptions options = app::requestOptions(settings, {});
    QCOMPARE(options.prompt.thinking, thinks);
    QCOMPARE(static_cast<int>(options.prompt.effort), effort);
}

void RequestSettingsTest::badValuesAreBroughtBackWithANote_data()
{
    QTest::addColumn<QString>("key");
    QTest::addColumn<QJsonValue>("stored");
    QTest::addColumn<QJsonValue>("now"); // undefined: dropped
    const QJsonValue dropped(QJsonValue::Undefined);
    QTest::newRow("too hot") << u"temperature"_s << QJsonValue(900) << QJsonValue(2);
    QTest::newRow("below") << u"topP"_s << QJsonValue(-1) << QJsonValue(0.01);
    QTest::newRow("less than none") << u"thinkingBudget"_s << QJsonValue(-5) << QJsonValue(0);
    QTest::newRow("text") << u"temperature"_s << QJsonValue(u"hot"_s) << dropped;
    QTest::newRow("null") << u"seed"_s << QJsonValue() << dropped;
    QTest::newRow("half a token") << u"topK"_s << QJsonValue(2.4) << QJsonValue(2);
    QTest::newRow("no such effort") << u"thinking"_s << QJsonValue(u"vast"_s) << dropped;
    QTest::newRow("effort of another kind") << u"thinking"_s << QJsonValue(3) << dropped;
    QTest::newRow("no such drafter") << u"drafter"_s << QJsonValue(u"oracle"_s) << dropped;
    QTest::newRow("flag") << u"clearThinking"_s << QJsonValue(u"yes"_s) << dropped;
    QTest::newRow("object") << u"systemPrompt"_s << QJsonValue(QJsonObject {}) << dropped;
    QTest::newRow("stop strings") << u"stop"_s
                                  << QJsonValue(QJsonArray { 3, u""_s, u"a"_s, u"a"_s })
                                  << QJsonValue(QJsonArray { u"a"_s });
    QTest::newRow("stop text") << u"stop"_s << QJsonValue(u"a"_s) << dropped;
}

void RequestSettingsTest::badValuesAreBroughtBackWithANote()
{
    QFETCH(const QString, key);
    QFETCH(const QJsonValue, stored);
    QFETCH(const QJsonValue, now);
    QStringList notes;
    const auto settings
        = RequestSettings::fromJson({ { key, stored }, { u"minP"_s, 0.1 } }, &notes);
    QCOMPARE(settings.json().value(key), now);
    QCOMPARE(settings.value(RequestParameter::MinP), QJsonValue(0.1));
    QCOMPARE(notes.size(), 1);
}

void RequestSettingsTest::keepsWhatALaterVersionWrote()
{
    const QJsonObject json { { u"topK"_s, 5 }, { u"mirostat"_s, QJsonArray { 1, u"x"_s } } };
    QStringList notes;
    RequestSettings settings = RequestSettings::fromJson(json, &notes);
    QCOMPARE(settings.json(), json);
    QVERIFY(notes.isEmpty());
    settings.reset(RequestParameter::TopK);
    QVERIFY(settings.isEmpty());
    QVERIFY(settings.json().contains(u"mirostat"_s));
}

void RequestSettingsTest::layersOverEachOther()
{
    RequestSettings preset;
    preset.set(RequestParameter::Temperature, 0.2);
    preset.set(RequestParameter::TopK, 5);
    RequestSettings chat;
    chat.set(RequestParameter::TopK, 0);
    const RequestSettings joined = chat.over(preset);
    QCOMPARE(joined.value(RequestParameter::Temperature), QJsonValue(0.2));
    QCOMPARE(joined.value(RequestParameter::TopK), QJsonValue(0));
    QVERIFY(!joined.has(RequestParameter::TopP));
}

void RequestSettingsTest::textsAreReadInThePersonsLanguage()
{
    QLocale::setDefault(QLocale(QLocale::German));
    QCOMPARE(app::valueText(RequestParameter::Temperature, 0.7), u"0,7"_s);
    QCOMPARE(app::valueFromText(RequestParameter::Temperature, u" 0,7 "_s), QJsonValue(0.7));
    QCOMPARE(app::valueFromText(RequestParameter::MaxTokens, u"4096"_s), QJsonValue(4096));
    QLocale::setDefault(QLocale::c());
    QCOMPARE(app::valueFromText(RequestParameter::Temperature, u"0.7"_s), QJsonValue(0.7));
    QCOMPARE(app::valueText(RequestParameter::Seed, -1), u"random"_s);
    QCOMPARE(app::valueFromText(RequestParameter::Seed, u"Random"_s), QJsonValue(-1));
    QCOMPARE(app::valueText(RequestParameter::MaxTokens, 0), u"no limit"_s);
    QCOMPARE(app::valueFromText(RequestParameter::MaxTokens, u"no limit"_s), QJsonValue(0));
    QCOMPARE(app::valueText(RequestParameter::ThinkingBudget, 0), u"no limit"_s);
    QCOMPARE(app::valueFromText(RequestParameter::ThinkingBudget, u"No limit"_s), QJsonValue(0));
    QCOMPARE(app::valueText(RequestParameter::DraftTokens, -1), u"automatic"_s);
    QCOMPARE(app::valueFromText(RequestParameter::DraftTokens, u"automatic"_s), QJsonValue(-1));
    QCOMPARE(app::valueText(RequestParameter::DraftTokens, 0), u"0"_s);
    QVERIFY(!app::valueFromText(RequestParameter::Seed, u"soon"_s));
    QVERIFY(!app::valueFromText(RequestParameter::Seed, u"inf"_s));
}

void RequestSettingsTest::stopStringsAreWrittenOneALine()
{
    const QJsonArray stop { u"\n\n"_s, u"a\\n"_s, u"\tEND"_s };
    const QString text = app::valueText(RequestParameter::Stop, stop);
    QCOMPARE(text, u"\\n\\n\na\\\\n\n\\tEND"_s);
    QCOMPARE(app::valueFromText(RequestParameter::Stop, text), QJsonValue(stop));
    QCOMPARE(app::valueFromText(RequestParameter::Stop, u"\n"_s), QJsonValue(QJsonArray()));
}

void RequestSettingsTest::rowsTellWhatAppliesAndWhy()
{
    Rows rows;
    using Role = ParameterListModel::Role;
    QCOMPARE(rows.value(RequestParameter::TopP, Role::TextRole).toString(), u"0.95"_s);
    QVERIFY(!rows.value(RequestParameter::TopP, Role::ChosenRole).toBool());
    QCOMPARE(rows.value(RequestParameter::TopP, Role::OtherwiseRole).toString(),
             u"Model's default: 0.95"_s);
    QSignalSpy edited(&rows.model, &ParameterListModel::edited);
    rows.model.setText(Rows::row(RequestParameter::TopP), u"0.5"_s);
    QCOMPARE(edited.size(), 1);
    QVERIFY(rows.value(RequestParameter::TopP, Role::ChosenRole).toBool());
    QCOMPARE(rows.value(RequestParameter::TopP, Role::NumberRole).toDouble(), 0.5);
    QCOMPARE(rows.model.chosenCount(), 1);
    rows.model.reset(Rows::row(RequestParameter::TopP));
    QCOMPARE(rows.value(RequestParameter::TopP, Role::TextRole).toString(), u"0.95"_s);
    QCOMPARE(edited.size(), 2);
    rows.model.reset(Rows::row(RequestParameter::TopP)); // nothing to do
    QCOMPARE(edited.size(), 2);

    RequestSettings preset;
    preset.set(RequestParameter::TopP, 0.3);
    rows.model.show({}, preset, modelsOwn(), true);
    QCOMPARE(rows.value(RequestParameter::TopP, Role::OtherwiseRole).toString(), u"Preset: 0.3"_s);
}

void RequestSettingsTest::rowsBringInputIntoRange()
{
    Rows rows;
    using Role = ParameterListModel::Role;
    const int row = Rows::row(RequestParameter::Temperature);
    rows.model.setText(row, u"99"_s);
    QCOMPARE(rows.model.chosen().value(RequestParameter::Temperature), QJsonValue(2));
    QCOMPARE(rows.value(RequestParameter::Temperature, Role::NoteRole).toString(),
             u"From 0 to 2."_s);
    rows.model.setText(row, u"2.0"_s);
    QVERIFY(rows.value(RequestParameter::Temperature, Role::NoteRole).toString().isEmpty());
    rows.model.setNumber(row, -5);
    QCOMPARE(rows.model.chosen().value(RequestParameter::Temperature), QJsonValue(0));
    rows.model.setText(row, u" "_s); // emptied: nothing is chosen
    QVERIFY(!rows.model.chosen().has(RequestParameter::Temperature));
}

void RequestSettingsTest::rowsRefuseWhatIsNoNumber()
{
    Rows rows;
    QSignalSpy edited(&rows.model, &ParameterListModel::edited);
    rows.model.setText(Rows::row(RequestParameter::Seed), u"soon"_s);
    rows.model.setNumber(Rows::row(RequestParameter::Thinking), 17);
    rows.model.setChecked(Rows::row(RequestParameter::Seed), true);
    rows.model.setText(-1, u"1"_s);
    rows.model.setNumber(100, 1);
    QCOMPARE(edited.size(), 0);
    QVERIFY(rows.value(RequestParameter::Seed, ParameterListModel::NoteRole)
                .toString()
                .contains(u"soon"_s));
}

void RequestSettingsTest::rowsOverAPresetForgetWhatEqualsIt()
{
    Rows rows(true);
    RequestSettings preset;
    preset.set(RequestParameter::Temperature, 0.2);
    rows.model.show({}, preset, modelsOwn(), true);
    const int row = Rows::row(RequestParameter::Temperature);
    rows.model.setNumber(row, 0.9);
    QCOMPARE(rows.model.chosenCount(), 1);
    rows.model.setNumber(row, 0.2);
    QCOMPARE(rows.model.chosenCount(), 0);
    rows.model.setNumber(Rows::row(RequestParameter::TopK), 20); // the model's own
    QCOMPARE(rows.model.chosenCount(), 0);
    rows.model.setNumber(row, 0.9);
    rows.model.setNumber(Rows::row(RequestParameter::TopK), 3);
    QSignalSpy edited(&rows.model, &ParameterListModel::edited);
    rows.model.resetAll();
    QCOMPARE(rows.model.chosenCount(), 0);
    QCOMPARE(edited.size(), 1);
}

void RequestSettingsTest::rowsThatMayNotBeEditedStay()
{
    Rows rows;
    rows.model.show({}, {}, modelsOwn(), false);
    QSignalSpy edited(&rows.model, &ParameterListModel::edited);
    rows.model.setText(Rows::row(RequestParameter::TopK), u"3"_s);
    rows.model.setNumber(Rows::row(RequestParameter::Temperature), 1);
    rows.model.resetAll();
    QCOMPARE(edited.size(), 0);
    QVERIFY(rows.model.chosen().isEmpty());
}

} // namespace firesteel::test

QTEST_GUILESS_MAIN(firesteel::test::RequestSettingsTest)
#include "tst_request_settings.moc"
