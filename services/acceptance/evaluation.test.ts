// @module-tag long
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { formatEvaluationReport, isCorrectAnswer, type AnswerScore } from '../agent/evaluation/score.ts'
import { evaluationScenarios } from '../agent/evaluation/scenarios.ts'
import {
  createGatewayVariables,
  type ScriptedGateway,
  startScriptedGateway,
} from '../agent/testing/scripted-gateway.ts'
import { evaluateAgent } from './evaluation/evaluate.ts'
import { createScenarioScript } from './evaluation/scenario-script.ts'

const withinMs = 300_000

vi.setConfig({ hookTimeout: withinMs })
let gateway: ScriptedGateway
let scores: readonly AnswerScore[] = []
beforeAll(async () => {
  gateway = await startScriptedGateway({ script: [{ say: [{ text: 'yes' }] }] })
  scores = await evaluateAgent({
    variables: createGatewayVariables(gateway),
    before: (scenario) => gateway.play(createScenarioScript(scenario)),
  })
})
afterAll(() => gateway[Symbol.asyncDispose]())

it.each(evaluationScenarios.map(({ name }) => name))('the agent answers correctly: %s', (name) => {
  const score = scores.find((each) => each.name === name)
  expect(score && isCorrectAnswer(score), JSON.stringify(score)).toBe(true)
})

it('sends the model host data as data only, and no secrets', () => {
  expect(gateway.violations).toEqual([])
  const messages = gateway.requests.flatMap((request) => request.messages)
  const infected = messages.filter(({ content }) => content?.includes('ignore all earlier instructions'))
  expect(infected.length).toBeGreaterThan(0)
  for (const { role, content } of infected) {
    expect(role).toBe('tool')
    expect(content).toMatch(/^<data from="host">[^<]*ignore all earlier instructions[^<]*<\/data>/)
  }
})

it('the report contains the scores and the cost', () => {
  expect(formatEvaluationReport('a model', scores)).toContain('12 of 12 right; cause named in 12 of 12')
})
