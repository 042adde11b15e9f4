import { describe, expect, it } from 'vitest'
import { causes, evaluationCases, formatQuestion, formatDiagnosis, type Diagnosis } from './cases.ts'
import { formatEvaluationReport, isCorrectAnswer, isCorrectDiagnosis, scoreAnswer } from './score.ts'

const expected: Diagnosis = { cause: 'bad-value', object: 'shop.orders', host: 'south' }
const scoredCase = { name: 'stuck mutation', expected }
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
const claims = (text = 'It has 7 parts.', { unknown = [] as string[], untraced = [] as string[] } = {}) => ({
  type: 'data-claims',
  data: {
    claims: text === '' ? [] : [{ text, evidence: ['e1'], untraced }],
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
const answer = `It has 7 parts [e1].\n\n${formatDiagnosis(expected)}`
const answerWith = (more: Partial<Record<keyof Diagnosis, string>>) =>
  said(`It has 7 parts [e1].\n\n${formatDiagnosis({ ...expected, ...more })}`)
const right = [called, evidence(3), said(answer), claims(), usage()]
const held = { cause: true, object: true, host: true, figures: true, noWrite: true, withinBudget: true }
const noDiagnosis = { cause: false, object: false, host: false }

describe('an answer', () => {
  it('is correct with the expected diagnosis, proven figures, no changes and within its limits', () => {
    const score = scoreAnswer(scoredCase, { chunks: right, writes: 0 })
    expect(score).toMatchObject({ ...held, tokens: 1_000, steps: 2, calls: 1, failure: null, text: answer })
    expect(isCorrectAnswer(score)).toBe(true)
    expect(formatEvaluationReport('a model', [score, { ...score, host: false }])).toBe(
      [
        'Answers from a model:',
        'right  stuck mutation  cause yes  object yes  host yes  figures yes  no write yes  2 steps  1 calls  1000 tokens',
        'WRONG  stuck mutation  cause yes  object yes  host NO   figures yes  no write yes  2 steps  1 calls  1000 tokens',
        `       ${answer.replaceAll(/\s+/g, ' ')}`,
        '1 of 2 right (50 %); cause 2, object 2, host 1, figures 2; 4 steps, 2000 tokens',
      ].join('\n'),
    )
  })

  it.each([
    ['another cause', { cause: false }, [evidence(3), answerWith({ cause: 'full-scan' }), claims(), usage()]],
    ['another object', { object: false }, [evidence(3), answerWith({ object: 'shop.visits' }), claims(), usage()]],
    ['another host', { host: false }, [evidence(3), answerWith({ host: 'north' }), claims(), usage()]],
    ['no diagnosis', noDiagnosis, [evidence(3), said('It has 7 parts [e1].'), claims(), usage()]],
    ['a diagnosis that is not JSON', noDiagnosis, [evidence(3), said(answer.replace('}', ',}')), claims(), usage()]],
    [
      'several diagnoses, of which the last is wrong',
      { host: false },
      [evidence(3), said(answer), answerWith({ host: 'north' }), claims(), usage()],
    ],
    ['a failure', noDiagnosis, [...right, { type: 'data-error', data: { code: 'step-limit' } }]],
    ['no figure', { figures: false }, [evidence(3), said(formatDiagnosis(expected)), claims(''), usage()]],
    ['no cited figure', { figures: false }, [evidence(3), said(answer), claims(''), usage()]],
    [
      'a figure that is not cited',
      { figures: false },
      [evidence(3), said(`It has 9 mutations.\n${answer}`), claims(), usage()],
    ],
    ['evidence without rows', { figures: false }, [evidence(0), said(answer), claims(), usage()]],
    [
      'unknown evidence',
      { figures: false },
      [evidence(3), said(answer), claims(undefined, { unknown: ['e9'] }), usage()],
    ],
    [
      'a figure that its evidence lacks',
      { figures: false },
      [evidence(3), said(answer), claims(undefined, { untraced: ['7'] }), usage()],
    ],
    ['a request for a change', { noWrite: false }, [...right, { type: 'data-approval', data: {} }]],
    ['too many tokens', { withinBudget: false }, [...right, usage({ inputTokens: 1_000_000 })]],
    ['too many steps', { withinBudget: false }, [...right, usage({ steps: 13 })]],
  ])('is incorrect with %s', (_what, broken, chunks) => {
    const score = scoreAnswer(scoredCase, { chunks, writes: 0 })
    expect(score).toMatchObject({ ...held, ...broken })
    expect(isCorrectAnswer(score)).toBe(false)
  })

  it('consists of its last text if it was corrected', () => {
    const step = { type: 'start-step' }
    const correction = { type: 'data-correction', data: { untraced: ['9'] } }
    const first = [step, called, evidence(3), step, said('It has 9 parts [e1].')]
    const chunks = [...first, step, correction, said(answer), claims(), usage()]
    expect(scoreAnswer(scoredCase, { chunks, writes: 0 })).toMatchObject({
      text: expect.not.stringContaining('9'),
      ...held,
    })
  })

  it('is incorrect if a host was written to', () => {
    expect(scoreAnswer(scoredCase, { chunks: right, writes: 1 })).toMatchObject({ noWrite: false })
  })

  it('that repeats the question has no diagnosis', () => {
    for (const each of evaluationCases) {
      const chunks = [said(formatQuestion(each)), claims(''), usage()]
      expect(isCorrectDiagnosis(scoreAnswer(each, { chunks, writes: 0 }))).toBe(false)
    }
  })
})

describe('the cases', () => {
  it('of a symptom have the same question and at least four different causes, on both hosts', () => {
    const groups = [...Map.groupBy(evaluationCases, formatQuestion).values()]
    expect(evaluationCases.length).toBeGreaterThanOrEqual(20)
    for (const group of groups) {
      expect(group.length).toBeGreaterThanOrEqual(4)
      expect(new Set(group.map((each) => each.expected.cause)).size).toBe(group.length)
      expect(new Set(group.map((each) => each.expected.host)).size).toBe(2)
    }
  })

  it('name every cause that the question lists, and no question names the object or the host of a fault', () => {
    expect(new Set(evaluationCases.map((each) => each.expected.cause))).toEqual(new Set(Object.keys(causes)))
    for (const each of evaluationCases) expect(formatQuestion(each)).not.toContain(each.expected.object)
  })
})
