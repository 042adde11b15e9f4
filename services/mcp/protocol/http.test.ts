import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { service } from '#proto/contract.ts'
import { mcp } from '#proto/mcp.ts'
import { query } from '#proto/query.ts'
import { type Hub, openBus, openMemoryHub, openNatsHub } from '#shared/bus/open.ts'
import { openReadiness } from '#shared/lifecycle/readiness.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import { systemClock } from '#shared/time/clock.ts'
import { describeWith, startNats } from '../../testing/describe-with.ts'
import { start } from '../service.ts'

const { hosts, runQuery } = query.methods
const queryService = service('query', { hosts, runQuery })
/** A cell that grows when it is escaped: `\u0001` has 6 characters in JSON, and 7 in a JSON string within JSON. */
const cell = `${'\u0001'.repeat(400_000)}${'"\\'.repeat(60_000)}${'ö😀'.repeat(40_000)}`

const Answer = z.object({
  result: z.object({ structuredContent: z.looseObject({ rows: z.array(z.array(z.string())) }) }),
})

/** Calls the tool `query` over the bus on a host that returns one long cell; returns the response. */
const answered = async (hub: Hub): Promise<string> => {
  await using opened = new AsyncDisposableStack()
  const busOf = async (caller: 'gateway' | 'mcp' | 'query') =>
    opened.use(await openBus({ hub, caller, instance: `${caller}-1`, version: '1.0.0' }))
  const [gateway, own, owner] = [await busOf('gateway'), await busOf('mcp'), await busOf('query')]
  const statement = { queryId: 'q', durationMs: 1, rows: 1, rowsRead: 1, bytesRead: 1, host: 'one', sql: 'SELECT 1' }
  opened.use(
    await owner.serve(queryService, {
      hosts: async () => [{ id: 0, key: 'one', name: 'one', host: 'one', group: null, tags: [] }],
      runQuery: async () => ({
        columns: [{ name: 'cell', type: 'String' }],
        rows: [[cell]],
        truncated: null,
        statement: { ...statement, clickhouseVersion: '25.8', timezone: null },
      }),
    }),
  )
  const env = {}
  const net = opened.use(openNet({ env }))
  const store = opened.use(await openStore({ env, busIsShared: false }))
  const facts = { instance: 'mcp-1', version: '1.0.0', services: ['mcp' as const], secretNames: [] }
  const telemetry = opened.use(await openTelemetry(env, facts, { write: () => undefined })).of('mcp')
  const openQueue = () => Promise.reject(new Error('the tool server has no queue'))
  opened.use(
    await start({ env, bus: own, store, net, telemetry, clock: systemClock, openQueue, readiness: openReadiness() }),
  )

  const call: CallContext = {
    identity: { kind: 'user', subject: 'tester', features: 'all' },
    deadline: systemClock.elapsedMs() + 30_000,
    signal: new AbortController().signal,
    priority: 'person',
  }
  const params = { name: 'query', arguments: { sql: 'SELECT 1', structured: true, maxBytes: 1024 * 1024 } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const { head, frames } = await gateway.client(mcp).http({ method: 'POST', headers, body, wholeInHead: true }, call)
  const pieces: Uint8Array[] = []
  for await (const piece of frames) pieces.push(piece)
  const text = Buffer.concat(pieces).toString('utf8')
  expect(head).toEqual({
    status: 200,
    headers: { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) },
  })
  return text
}

const expectWhole = (text: string): void => {
  const { structuredContent } = Answer.parse(JSON.parse(text)).result
  expect(text.length).toBeGreaterThan(5 * 1024 * 1024)
  expect(structuredContent.rows.flat()).toSatisfy(([only]) => only === cell)
}

describe('a response that exceeds the maximum message size of the bus', () => {
  it('arrives completely in memory', async () => expectWhole(await answered(openMemoryHub())))
})

describeWith(['nats'], 'a response that exceeds the maximum message size of NATS', () => {
  it('arrives completely', async () => {
    await using server = await startNats({ private: true })
    expectWhole(await answered(openNatsHub({ url: server.url })))
  })
})
