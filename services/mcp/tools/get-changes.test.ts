import { expect, it } from 'vitest'
import type { ObjectChange } from '#proto/changes.ts'
import { ServiceError } from '#proto/errors.ts'
import { parseAndRunTool, type ToolContext } from '#shared/tools/tool.ts'
import { createToolContext } from '../testing/context.ts'
import { getChanges } from './get-changes.ts'

const nowMs = Date.parse('2026-03-01T12:00:00Z')
const table: ObjectChange = {
  hostKey: 'one',
  kind: 'table',
  name: 'shop.orders',
  change: 'changed',
  atMs: nowMs - 60_000,
  sinceMs: 0,
  summary: '',
  diff: '--- shop.orders\n+++ shop.orders\n-  `a` UInt8\n+  `a` UInt16\n',
}
const deployment = { id: 'd', kind: 'deployment', repository: 'shop', version: 'v2', environment: 'production' }
const deployed = { ...deployment, outcome: 'success', title: 'Release v2', by: 'ada', url: null, atMs: nowMs - 120_000 }

/** Runs the tool on two hosts; returns its result, and the request of the history. */
const run = async (input: object, more: Partial<ToolContext['query']> = {}, isRecorded = true) => {
  const requests: unknown[] = []
  const context = createToolContext(() => [])
  const [one] = await context.hosts()
  const query: Partial<ToolContext['query']> = {
    objectChanges: async (request) => {
      requests.push(request)
      return { changes: isRecorded ? [table] : [], isEnabled: isRecorded, problem: null }
    },
    ...more,
  }
  const result = await parseAndRunTool(getChanges, input, {
    ...context,
    query: { ...context.query, ...query },
    hosts: async () => (one ? [one, { ...one, id: 1, key: 'two', name: 'two' }] : []),
    clock: { ...context.clock, now: () => nowMs },
    ingest: { deployments: async () => [deployed] } as unknown as NonNullable<ToolContext['ingest']>,
    alerts: {
      alertHistory: () => Promise.reject(new ServiceError('unavailable', 'no answer')),
    } as unknown as NonNullable<ToolContext['alerts']>,
  })
  const text = getChanges.format?.(result.structured ?? {}) ?? ''
  return { ...result, text: `${result.text}\n${text}`.trimEnd(), requests }
}

it('returns the timeline of all hosts, and which part comes from the history', async () => {
  const { text, structured } = await run({})
  expect(text).toBe(
    [
      '2 changes on 2 hosts from 2026-02-28T12:00:00Z to 2026-03-01T12:00:00Z, 1 of them from the history. Not included: alerts: no answer.',
      'at\thost\tkind\twhat\tsource',
      '2026-03-01T11:59:00Z\tone\tschema\ttable shop.orders changed\thistory',
      '2026-03-01T11:58:00Z\t\tdeployment\tshop: Release v2 (production, success, by ada)\tdeployments',
    ].join('\n'),
  )
  expect(structured).toMatchObject({ unavailable: ['alerts: no answer'], truncated: false })
})

it('returns diffs on request', async () => {
  const { text } = await run({ hostId: 0, kind: 'schema', diff: true })
  expect(text).toContain(`\n\ntable shop.orders changed:\n${table.diff}`.trimEnd())
  expect(text).not.toContain('Release')
})

it.each([
  [{ around: '2026-02-01T08:00:00Z' }, '2026-02-01T07:00:00Z', '2026-02-01T09:00:00Z'],
  [{ from: '2026-02-01', to: '2026-02-02 03:04' }, '2026-02-01T00:00:00Z', '2026-02-02T03:04:00Z'],
  [{ to: '2026-02-02T03:00:00+02:00', lastHours: 1 }, '2026-02-02T00:00:00Z', '2026-02-02T01:00:00Z'],
])('reads the window %j', async (input, from, to) => {
  const { requests } = await run({ hostId: 1, ...input })
  expect(requests).toMatchObject([{ hostKeys: ['two'], fromMs: Date.parse(from), toMs: Date.parse(to) }])
})

it.each([
  [{ around: 'yesterday' }, 'must be an ISO time'],
  [{ around: '2026-02-31T25:00:00Z' }, 'must be an ISO time'],
  [{ around: '2026-02-01', to: '2026-02-02' }, 'around excludes from and to'],
  [{ from: '2026-02-02', to: '2026-02-01' }, 'from must be before to'],
  [{ from: '2027-01-01' }, 'from must be before now'],
  [{ kind: 'weather' }, 'kind'],
])('rejects %j', async (input, message) => {
  await expect(run(input)).rejects.toThrow(message)
})

it('reads the log of a host where no history is recorded', async () => {
  const chart = async () => ({
    rows: [{ time: nowMs - 1_000, kind: 'Schema', what: 'DROP TABLE t' }],
    unavailable: null,
  })
  const more = { chart: chart as unknown as ToolContext['query']['chart'] }
  expect((await run({ hostId: 0, kind: 'schema' }, more, false)).structured).toMatchObject({
    changes: [{ kind: 'schema', what: 'DROP TABLE t', source: 'log of the host' }],
  })
  expect((await run({}, more, false)).text).toContain('set hostId to read the log of a host')
  const down = () => Promise.reject(new ServiceError('unavailable', 'host one cannot be reached'))
  expect((await run({ hostId: 0 }, { chart: down }, false)).text).toContain(
    'log of the host: host one cannot be reached',
  )
})
