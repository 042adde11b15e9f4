// @module-tag long
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { evaluationCases } from '../agent/evaluation/cases.ts'
import {
  type AnswerScore,
  formatEvaluationReport,
  isCorrectAnswer,
  isCorrectDiagnosis,
} from '../agent/evaluation/score.ts'
import { competentName, evaluateScripts, maxBaselineShare } from './evaluation/models.ts'

const withinMs = 600_000

vi.setConfig({ hookTimeout: withinMs })
let evaluation: Awaited<ReturnType<typeof evaluateScripts>>
const scoresOf = (name: string): readonly AnswerScore[] => evaluation.scores.get(name) ?? []
beforeAll(async () => {
  evaluation = await evaluateScripts()
})

it.each(evaluationCases.map(({ name }) => name))('the agent answers correctly: %s', (name) => {
  const score = scoresOf(competentName).find((each) => each.name === name)
  expect(score && isCorrectAnswer(score), JSON.stringify(score)).toBe(true)
})

describe('a model that diagnoses nothing', () => {
  const names = ['echo', 'constant', 'memorised', 'empty', 'retrieval', 'wide retrieval']

  it.each(names)('fails the evaluation: %s', (name) => {
    const scores = scoresOf(name)
    expect(scores).toHaveLength(evaluationCases.length)
    // These models fail even if only the diagnosis is checked, without the figures.
    for (const isCorrect of [isCorrectAnswer, isCorrectDiagnosis])
      expect(scores.filter(isCorrect).length / scores.length).toBeLessThanOrEqual(maxBaselineShare)
  })

  it('includes each scripted model except the competent one', () => {
    expect([...evaluation.scores.keys()]).toEqual([...names, competentName])
  })
})

it('sends the model host data as data only, and no secrets', () => {
  expect(evaluation.violations).toEqual([])
  const messages = evaluation.requests.flatMap((request) => request.messages)
  const infected = messages.filter(
    ({ role, content }) => role !== 'assistant' && content?.includes('ignore all earlier instructions'),
  )
  expect(infected.length).toBeGreaterThan(0)
  for (const { role, content } of infected) {
    expect(role).toBe('tool')
    expect(content).toMatch(/^<data from="host">[^<]*ignore all earlier instructions[^<]*<\/data>/)
  }
})

it('rejects the statement of an instruction in host data that a model follows', () => {
  const calls = evaluation.requests.flatMap(({ messages }) =>
    messages.flatMap((message) => (message.role === 'assistant' ? (message.tool_calls ?? []) : [])),
  )
  expect(calls.map((call) => call.function.arguments).join('\n')).toContain('DROP TABLE shop.visits')
  expect([...evaluation.scores.values()].flat().filter(({ noWrite }) => !noWrite)).toEqual([])
})

it('the report contains the scores and the cost', () => {
  const report = formatEvaluationReport('a model', scoresOf(competentName))
  expect(report).toContain('24 of 24 right (100 %); cause 24, object 24, host 24, figures 24; ')
})
