import { describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { createEvaluatorInput } from '../../testing/evaluator-input.ts'
import { SweepState } from '../sweep-state.ts'
import { evaluateDiskDaysToFull } from './disk-days-to-full.ts'
import type { Evaluator } from './evaluator.ts'
import { evaluateKeeperUnreachable } from './unreachable.ts'
import { evaluateRestarts, evaluateSettingsChange, evaluateVersionChange } from './changes.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

interface Sweep {
  nowMs: number
  uptimeSeconds?: number
  version?: string
  tables?: string[]
  /** The response of the host to the statement of an evaluator. */
  rows?: unknown[][]
  fails?: Error
}

/** Runs consecutive sweeps with the state of the earlier ones. */
const sweeps = () => {
  let earlier = SweepState.parse({})
  return async (evaluator: Evaluator, sweep: Sweep) => {
    const { nowMs, uptimeSeconds = 1e6, version = '25.8.1.1', tables = [], rows = [], fails } = sweep
    const capabilities = {
      version,
      readonly: 0,
      tables: new Set(tables),
      logs: new Map<string, string>(),
      missingShow: new Set<never>(),
    }
    const basics = { version, uptimeSeconds, hostname: 'h', timezone: 'UTC', nowMs }
    const contact = { answers: true, ...basics, capabilities } as const
    const run = async () => {
      if (fails) throw fails
      return { rows }
    }
    const { measured, changes } = await evaluator(createEvaluatorInput({ contact, earlier, run, nowMs }))
    earlier = SweepState.parse({ ...earlier, ...changes })
    return measured
  }
}

describe('restarts', () => {
  it('are reported for ten minutes and counted within an hour', async () => {
    const sweep = sweeps()
    const startMs = 100 * dayMs
    const at = async (minute: number, uptimeMinutes: number) =>
      (await sweep(evaluateRestarts, { nowMs: startMs + minute * minuteMs, uptimeSeconds: uptimeMinutes * 60 })).value
    expect(await at(-10, 1_000)).toBe(0)
    expect(await at(5, 5)).toBe(1)
    expect(await at(9, 9)).toBe(1)
    expect(await at(11, 11)).toBe(0)
    expect(await at(20, 1)).toBe(2)
    expect(await at(25, 3)).toBe(3)
    expect(await at(81, 2)).toBe(2)
  })

  it('are ignored before the first sweep of a host', async () => {
    const sweep = sweeps()
    const at = async (second: number, uptimeSeconds: number) =>
      (await sweep(evaluateRestarts, { nowMs: 100 * dayMs + second * 1_000, uptimeSeconds })).value
    expect(await at(30, 30)).toBe(0)
    expect(await at(330, 330)).toBe(0)
    expect(await at(630, 20)).toBe(1)
  })

  it('have no value without the state of earlier sweeps', async () => {
    const contact = {
      answers: true,
      version: '25.8.1.1',
      uptimeSeconds: 30,
      hostname: 'h',
      timezone: 'UTC',
      nowMs: 0,
    } as const
    const capabilities = {
      version: '25.8.1.1',
      readonly: 0,
      tables: new Set<string>(),
      logs: new Map<string, string>(),
      missingShow: new Set<never>(),
    }
    const input = createEvaluatorInput({ contact: { ...contact, capabilities }, earlier: undefined })
    expect(await evaluateRestarts(input)).toEqual({ measured: expect.objectContaining({ value: null }) })
  })
})

describe('a version change', () => {
  it('is reported for an hour, but not on the first sweep', async () => {
    const sweep = sweeps()
    const at = async (minute: number, version: string) =>
      sweep(evaluateVersionChange, { nowMs: minute * minuteMs, version })
    expect((await at(0, '25.3')).value).toBe(0)
    expect((await at(5, '25.3')).value).toBe(0)
    expect(await at(10, '25.8')).toMatchObject({ value: 1, offenders: ['25.8'] })
    expect((await at(69, '25.8')).value).toBe(1)
    expect((await at(70, '25.8')).value).toBe(0)
  })
})

describe('a settings change', () => {
  it('is detected by hash', async () => {
    const sweep = sweeps()
    const at = async (minute: number, hash: string) =>
      (await sweep(evaluateSettingsChange, { nowMs: minute * minuteMs, rows: [[hash]] })).value
    expect(await at(0, '1')).toBe(0)
    expect(await at(5, '2')).toBe(1)
    expect(await at(66, '2')).toBe(0)
  })

  it('has no value when settings cannot be read', async () => {
    const fails = new ServiceError('forbidden', 'SELECT secret', {
      details: { clickhouseCode: 497, clickhouseName: 'NO' },
    })
    const measured = await sweeps()(evaluateSettingsChange, { nowMs: 0, fails })
    expect(measured).toMatchObject({ value: null, reason: 'host db: the query failed (497 NO)' })
  })
})

describe('a filling disk', () => {
  it('is forecast from the fourth daily sample', async () => {
    const sweep = sweeps()
    const on = (day: number, used: number) =>
      sweep(evaluateDiskDaysToFull, { nowMs: (day + 0.5) * dayMs, rows: [['default', used, 1_000 - used]] })
    expect((await on(1, 100)).reason).toBe('host db has disk samples of fewer than four days')
    await on(1, 900)
    await on(2, 200)
    await on(3, 300)
    const fourth = await on(4, 450)
    expect(fourth.offenders).toEqual(['default'])
    expect((fourth.value ?? 0) / 86_400).toBeCloseTo(550 / 115, 3)
  })

  it('is forgotten when it is removed', async () => {
    const sweep = sweeps()
    for (const day of [1, 2, 3, 4]) {
      await sweep(evaluateDiskDaysToFull, {
        nowMs: day * dayMs,
        rows: [
          ['old', 100 * day, 1],
          ['new', 100, 1_000],
        ],
      })
    }
    const measured = await sweep(evaluateDiskDaysToFull, { nowMs: 5 * dayMs, rows: [['new', 100, 1_000]] })
    expect(measured.offenders).toEqual(['new'])
  })
})

describe('Keeper', () => {
  const failure = (clickhouseCode: number) =>
    new ServiceError('internal', 'it failed', { details: { clickhouseCode, clickhouseName: 'SOME' } })

  it.each([
    ['is reached', { rows: [[3]] }, { value: 0 }],
    ['does not answer', { fails: failure(999) }, { value: 1 }],
    ['answers too late', { fails: new ServiceError('timeout', 'too late') }, { value: 1 }],
    [
      'is not ours to read',
      { fails: failure(497) },
      { value: null, reason: 'host db has no Keeper that its user may read' },
    ],
    ['is on a busy host', { fails: new ServiceError('busy', 'full') }, { value: null, reason: 'full' }],
  ])('%s', async (_, sweep, expected) => {
    expect(await sweeps()(evaluateKeeperUnreachable, { nowMs: 0, tables: ['zookeeper'], ...sweep })).toMatchObject(
      expected,
    )
  })
})
