import type { Registry } from 'prom-client'
import { metrics } from '#shared/telemetry/metrics.ts'

/** What is measured of answers. */
export interface AgentMetrics {
  ended(answer: { outcome: string; provider: string; seconds: number; inputTokens: number; outputTokens: number }): void
}

export const openAgentMetrics = (registry: Registry, running: () => number): AgentMetrics => {
  const answers = metrics.agentAnswers(registry)
  const tokens = metrics.agentTokens(registry)
  const duration = metrics.agentAnswerDuration(registry)
  metrics.agentRuns(registry, () => [{ labels: {}, value: running() }])
  return {
    ended({ outcome, provider, seconds, inputTokens, outputTokens }) {
      answers.inc({ outcome, provider })
      tokens.inc({ direction: 'input', provider }, inputTokens)
      tokens.inc({ direction: 'output', provider }, outputTokens)
      duration.observe({ outcome }, seconds)
    },
  }
}
