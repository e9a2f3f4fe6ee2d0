// SPDX-License-Identifier: MIT
#include "app/inference/generation.h"

#include <utility>

namespace firesteel::app {

Generation::Generation(engine::Engine &engine, std::shared_ptr<GenerationLink> link)
    : m_engine(engine)
    , m_link(std::move(link))
{
}

Generation::~Generation() { cancel(); }

void Generation::cancel()
{
    m_link->isCancelled = true;
    if (m_link->isSubmitted)
        m_engine.cancel(m_link->request);
}

void Generation::answerNow()
{
    m_link->isAnswerWanted = true;
    if (m_link->isSubmitted)
        m_engine.answerNow(m_link->request);
}

} // namespace firesteel::app
