import { createClock } from '#shared/time/clock.ts'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Environment } from '#shared/config/environment.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { sendUsageReportIfDue } from './usage-report.ts'

let store: Store
let nowMs: number
let sent: { url: string; body: unknown }[]
beforeEach(async () => {
  store = await openStore({ env: {}, busIsShared: false })
  nowMs = 1_790_000_000_000
  sent = []
})
afterEach(() => store[Symbol.asyncDispose]())

const dayMs = 86_400_000
const endpoint = 'https://telemetry.example/v1'

const report = (env: Environment = { SVC_TELEMETRY_ENDPOINT: endpoint }, hosts = 1, fails = false) =>
  sendUsageReportIfDue({
    env,
    store,
    clock: createClock(() => nowMs),
    log: pino({ enabled: false }),
    hosts: {
      all: async () =>
        Array.from({ length: hosts }, (_, id) => ({
          id,
          key: `k${id}`,
          name: 'secret',
          host: 'db',
          group: null,
          tags: [],
        })),
    },
    send: async (url, outgoing) => {
      sent.push({ url: String(url), body: JSON.parse(String(outgoing?.body)) })
      if (fails) throw new Error('connection refused')
      return new Response('')
    },
    version: '1.2.3',
  })

it('sends nothing while SVC_TELEMETRY_ENDPOINT is unset', async () => {
  await report({})
  expect(sent).toEqual([])
})

it('sends the version and the size, and nothing else', async () => {
  await report({ SVC_TELEMETRY_ENDPOINT: endpoint, NATS_URL: 'nats://secret' }, 37)
  const node = Number(process.versions.node.split('.')[0])
  const body = { product: 'watchhouse', version: '1.2.3', node, hostsUpTo: 100, isCluster: true }
  expect(sent).toEqual([{ url: endpoint, body }])
})

it.each([
  [0, 1],
  [1, 1],
  [2, 10],
  [10, 10],
  [11, 100],
])('counts %s hosts as up to %s', async (hosts, hostsUpTo) => {
  await report(undefined, hosts)
  expect(sent).toMatchObject([{ body: { hostsUpTo, isCluster: false } }])
})

it('is sent once a day, even if sending fails', async () => {
  await report(undefined, 1, true)
  nowMs += dayMs - 1
  await report()
  expect(sent).toHaveLength(1)
  nowMs += 1
  await report()
  expect(sent).toHaveLength(2)
})
