// SPDX-License-Identifier: MIT
#include "app/inference/generation.h"

#include <utility>

namespace firesteel::app {

LocalGeneration::LocalGeneration(engine::Engine &engine, std::shared_ptr<GenerationLink> link)
    : m_engine(engine)
    , m_link(std::move(link))
{
}

LocalGeneration::~LocalGeneration() { LocalGeneration::cancel(); }

void LocalGeneration::cancel()
{
    m_link->isCancelled = true;
    if (m_link->isSubmitted)
        m_engine.cancel(m_link->request);
}

void LocalGeneration::answerNow()
{
    m_link->isAnswerWanted = true;
    if (m_link->isSubmitted)
        m_engine.answerNow(m_link->request);
}

} // namespace firesteel::app
