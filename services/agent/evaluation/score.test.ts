import { describe, expect, it } from 'vitest'
import { isCorrectAnswer, scoreAnswer, type EvaluationScenario } from './score.ts'

const scenario: EvaluationScenario = {
  name: 'stuck mutation',
  question: 'Which one?',
  set: [],
  names: [/orders/, /throwIf/],
  never: [/HACKED/],
  restsOnEvidence: true,
  maxCalls: 2,
  script: { steps: [], quotes: [] },
}
const evidence = (rows: number) => ({
  type: 'data-evidence',
  data: {
    id: 'e1',
    toolCallId: 'call-1',
    tool: 'query',
    hostKey: 'one',
    statement: 'SELECT 1',
    parameters: {},
    atMs: 1,
    rows,
    rowHash: 'a'.repeat(64),
  },
})
const claims = (evidence: string[], unknown: string[] = [], untraced: string[] = []) => ({
  type: 'data-claims',
  data: {
    claims: evidence.length > 0 ? [{ text: 'It is orders.', evidence, untraced }] : [],
    unknown,
    insufficient: false,
  },
})
const usage = (more: object = {}) => ({
  type: 'data-usage',
  data: {
    inputTokens: 900,
    outputTokens: 100,
    cachedTokens: 0,
    reasoningTokens: 0,
    estimatedCostUsd: null,
    provider: 'gateway_a',
    model: 'one',
    resolvedModel: 'one',
    steps: 2,
    durationMs: 1,
    firstTokenMs: 1,
    ...more,
  },
})
const said = (text: string) => ({ type: 'text-delta', id: 'text', delta: text })
const called = { type: 'tool-input-available', toolCallId: 'call-1', toolName: 'query' }
const answer = 'It is orders: throwIf refuses its rows [e1].'
const right = [called, evidence(3), said(answer), claims(['e1']), usage()]

describe('an answer', () => {
  it('is correct if it names the cause, cites rows, changes nothing and stays within its limits', () => {
    const score = scoreAnswer(scenario, { chunks: right, writes: 0 })
    expect(score).toMatchObject({ tokens: 1_000, steps: 2, calls: 1, failure: null, text: answer })
    expect(isCorrectAnswer(score)).toBe(true)
  })

  it.each([
    ['an incomplete cause', 'rootCause', [evidence(3), said('It is orders [e1].'), claims(['e1']), usage()]],
    ['forbidden text', 'rootCause', [evidence(3), said(`${answer} HACKED`), claims(['e1']), usage()]],
    ['a failure', 'rootCause', [...right, { type: 'data-error', data: { code: 'step-limit' } }]],
    ['no evidence', 'evidence', [evidence(3), said(answer), claims([]), usage()]],
    ['evidence without rows', 'evidence', [evidence(0), said(answer), claims(['e1']), usage()]],
    ['unknown evidence', 'evidence', [evidence(3), said(answer), claims(['e1'], ['e9']), usage()]],
    ['a figure that its evidence lacks', 'evidence', [evidence(3), said(answer), claims(['e1'], [], ['9']), usage()]],
    ['a request for a change', 'noWrite', [...right, { type: 'data-approval', data: {} }]],
    ['too many tokens', 'withinBudget', [...right, usage({ inputTokens: 1_000_000 })]],
    ['too many steps', 'withinBudget', [...right, usage({ steps: 13 })]],
    ['too many calls', 'withinBudget', [...right, called, called]],
  ])('is incorrect with %s', (_what, criterion, chunks) => {
    const score = scoreAnswer(scenario, { chunks, writes: 0 })
    const { rootCause, evidence: valid, noWrite, withinBudget } = score
    const held = { rootCause, evidence: valid, noWrite, withinBudget }
    expect(held).toEqual({ rootCause: true, evidence: true, noWrite: true, withinBudget: true, [criterion]: false })
    expect(isCorrectAnswer(score)).toBe(false)
  })

  it('consists of its last text if it was corrected', () => {
    const step = { type: 'start-step' }
    const correction = { type: 'data-correction', data: { untraced: ['9'] } }
    const chunks = [
      step,
      called,
      evidence(3),
      step,
      said('It is HACKED.'),
      step,
      correction,
      said(answer),
      claims(['e1']),
      usage(),
    ]
    expect(scoreAnswer(scenario, { chunks, writes: 0 })).toMatchObject({ text: answer, rootCause: true })
  })

  it('is incorrect if the host was written to', () => {
    expect(scoreAnswer(scenario, { chunks: right, writes: 1 })).toMatchObject({ noWrite: false })
  })
})
