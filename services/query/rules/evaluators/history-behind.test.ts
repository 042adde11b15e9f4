import { describe, expect, it } from 'vitest'
import { createEvaluatorInput } from '../../testing/evaluator-input.ts'
import { createMissingMeasurement } from '../measurement.ts'
import { evaluateHistoryBehind } from './history-behind.ts'

const up = {
  answers: true as const,
  uptimeSeconds: 5,
  version: '25.8.1.1',
  hostname: 'machine',
  timezone: 'UTC',
  nowMs: 0,
  capabilities: {
    version: '25.8.1.1',
    readonly: 0,
    tables: new Set<string>(),
    logs: new Map(),
    missingShow: new Set<never>(),
  },
}

describe('the length of the logs that is not recorded', () => {
  it.each([
    ['is measured', 720, undefined, []],
    ['names the problem of the history server', 720, 'history store: disk full', ['history store: disk full']],
    ['is 0 before the first recording', undefined, undefined, []],
  ])('%s', async (_, seconds, problem, offenders) => {
    const history = { problem, readSecondsBehind: async () => seconds }
    const { measured } = await evaluateHistoryBehind(createEvaluatorInput({ contact: up, history }))
    expect(measured).toMatchObject({ value: seconds ?? 0, offenders })
  })

  it('has no data while the host is unreachable', async () => {
    const { measured } = await evaluateHistoryBehind(createEvaluatorInput())
    expect(measured).toEqual(createMissingMeasurement('no response'))
  })
})
