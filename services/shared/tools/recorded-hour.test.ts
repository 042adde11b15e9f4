import { expect, it } from 'vitest'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { Host, HostState } from '#proto/host.ts'
import type { LastHour } from '#proto/history.ts'
import { systemClock } from '../time/clock.ts'
import { runWithHistory } from './recorded-hour.ts'
import { defineReadTool, findHost, type ToolContext } from './tool.ts'

const lastSampleMs = Date.UTC(2026, 0, 2, 3, 4, 5)
const hour: LastHour = {
  isEnabled: true,
  problem: null,
  lastSampleMs,
  samples: [
    { timeMs: lastSampleMs, cpuCores: 1.5, loadAverage: 3, memoryBytes: 1_000, runningQueries: 4, failedQueries: 0 },
  ],
  patterns: [],
  running: [],
  errors: [{ name: 'MEMORY_LIMIT_EXCEEDED', count: 2 }],
  lines: [{ timeMs: lastSampleMs, level: 'Error', logger: 'Application', message: 'x'.repeat(1_000) }],
}

interface Situation {
  reason?: string
  status?: HostState['status']
  recorded?: LastHour
  answersFromHistory?: boolean
  features?: ToolContext['call']['identity']['features']
}

/** Runs a tool whose host fails with this reason. */
const run = (situation: Situation = {}) => {
  const { reason = 'unreachable', status = 'down', recorded = hour, answersFromHistory = true } = situation
  const host = Host.parse({ id: 0, key: 'box', name: 'box', host: 'box', group: null, tags: [] })
  const tool = defineReadTool({
    name: 'read_host',
    title: 'Read a host',
    description: 'Fails',
    feature: null,
    answersFromHistory,
    input: z.strictObject({}),
    async run(_input, context) {
      await findHost(context, 0)
      throw new ServiceError('unavailable', 'host box cannot be reached', { details: { host: 'box', reason } })
    },
  })
  const change = {
    hostKey: 'box',
    kind: 'setting',
    name: 'max_threads',
    change: 'changed' as const,
    summary: '',
    diff: '',
  }
  const query: Pick<ToolContext['query'], 'lastHour' | 'objectChanges' | 'hostStates'> = {
    lastHour: async () => recorded,
    objectChanges: async () => ({
      changes: [{ ...change, atMs: lastSampleMs - 60_000, sinceMs: null }],
      isEnabled: true,
      problem: null,
    }),
    hostStates: async () => [
      HostState.parse({
        ...host,
        status,
        reason: null,
        version: null,
        uptimeSeconds: null,
        latencyMs: null,
        checkedAtMs: null,
      }),
    ],
  }
  const { features = 'all' } = situation
  return runWithHistory(
    tool,
    {},
    {
      query: query as ToolContext['query'],
      report: {} as ToolContext['report'],
      hosts: async () => [host],
      clock: systemClock,
      call: {
        identity: { kind: 'user', subject: 'tester', features },
        deadline: 30_000,
        signal: new AbortController().signal,
        priority: 'tool',
      },
      fullStatements: false,
    },
  )
}

it('returns the last recorded hour of an unreachable host, and names its last sample', async () => {
  const { isError, text, structured, evidence } = await run()
  expect(isError).toBe(false)
  expect(text).toContain(
    'Host unreachable (host box cannot be reached); from history, last sample of box at 2026-01-02T03:04:05Z',
  )
  expect(text).toContain('load 3.00, 1.50 cores, memory 1000 bytes, 4.0 running queries')
  expect(structured).toMatchObject({
    history: {
      host: 'box',
      lastSampleAt: '2026-01-02T03:04:05Z',
      load: [{ at: '2026-01-02T03:04:05Z', loadAverage: 3 }],
      errors: [{ name: 'MEMORY_LIMIT_EXCEEDED' }],
      changes: [{ at: '2026-01-02T03:03:05Z', kind: 'setting', name: 'max_threads', change: 'changed' }],
    },
  })
  expect(JSON.stringify(structured).length).toBeLessThan(1_500)
  expect(evidence).toMatchObject([{ hostKey: 'box', statement: 'lastHour', parameters: { source: 'history' } }])
})

it('names the last sample in the error of a tool that needs the host itself', async () => {
  await expect(run({ answersFromHistory: false })).rejects.toThrow(
    'host box cannot be reached; from history, last sample at 2026-01-02T03:04:05Z; get_metrics returns',
  )
})

it.each<[string, Situation, boolean]>([
  ['a timeout of a host that is down', { reason: 'timeout' }, true],
  ['a timeout of a host that is up', { reason: 'timeout', status: 'up' }, false],
  ['a rejected password', { reason: 'refused' }, false],
  ['a host without samples', { recorded: { ...hour, lastSampleMs: null } }, false],
  ['a caller who may not see the overview', { features: [] }, false],
])('decides for %s', async (_name, situation, isRecorded) => {
  const text = await run(situation).then(
    (result) => result.text,
    (error: unknown) => String(error),
  )
  expect(text.includes('from history')).toBe(isRecorded)
})
