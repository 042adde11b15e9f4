import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** What is measured of answers. */
export interface AgentMetrics {
  ended(answer: { outcome: string; provider: string; seconds: number; inputTokens: number; outputTokens: number }): void
}

const secondsBuckets = [1, 2.5, 5, 10, 20, 40, 80, 160, 320]

export const openAgentMetrics = (registry: Registry, running: () => number): AgentMetrics => {
  const answers = new Counter({
    name: 'watchhouse_agent_answers_total',
    help: 'Answers of the agent by their outcome: answered, stopped, or the code of a failure.',
    labelNames: ['outcome', 'provider'],
    registers: [registry],
  })
  const tokens = new Counter({
    name: 'watchhouse_agent_tokens_total',
    help: 'Tokens that answers have read and written.',
    labelNames: ['direction', 'provider'],
    registers: [registry],
  })
  const duration = new Histogram({
    name: 'watchhouse_agent_answer_seconds',
    help: 'How long answers took, waiting for approvals included.',
    labelNames: ['outcome'],
    buckets: secondsBuckets,
    registers: [registry],
  })
  void new Gauge({
    name: 'watchhouse_agent_runs',
    help: 'Answers in the making.',
    registers: [registry],
    collect() {
      this.set(running())
    },
  })
  return {
    ended({ outcome, provider, seconds, inputTokens, outputTokens }) {
      answers.inc({ outcome, provider })
      tokens.inc({ direction: 'input', provider }, inputTokens)
      tokens.inc({ direction: 'output', provider }, outputTokens)
      duration.observe({ outcome }, seconds)
    },
  }
}
