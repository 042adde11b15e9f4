import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import type { Client } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import type { ChannelTarget } from '../alert-dispatcher/channels/channel.ts'
import { webhook } from '../alert-dispatcher/channels/webhook.ts'
import { openDelivery } from '../alert-dispatcher/delivery/open.ts'
import { notificationOf } from '../alert-dispatcher/delivery/testing/notification.ts'
import { type Notification, asMessage } from '../alert-dispatcher/notification.ts'
import type { Route } from '../alert-dispatcher/policy.ts'
import { plainPolicy } from '../alert-dispatcher/testing/story.ts'

/** Between one that has arrived and the next. */
const pauseMs = 5
/** Where they would wait for each other the wait would be measured. */
const limits = { concurrency: 64, perSecond: 10_000, burst: 10_000 }

/** Sets something on its way under a name; resolves with the milliseconds until it was there. */
export type Measure = (name: string) => Promise<number>

let last = 0
/**
 * What each takes, so many times, one after the other: what is measured is the way and no queue before it, and what else the
 * machine does meets all of them alike.
 */
export const byTurns = async (measures: readonly Measure[], count: number): Promise<number[][]> => {
  const measured = measures.map((): number[] => [])
  for (let index = 0; index < count; index += 1) {
    for (const [place, measure] of measures.entries()) {
      measured[place]?.push(await measure(`m${(last += 1)}`))
      await wait(pauseMs)
    }
  }
  return measured
}

/** Takes the time from when `send` says that it begins until `arrived` hears of the name. */
export const timing = (
  send: (name: string, begins: () => void) => Promise<unknown>,
): { measure: Measure; arrived(name: string): void } => {
  const waiting = new Map<string, () => void>()
  return {
    arrived: (name) => waiting.get(name)?.(),
    async measure(name) {
      const { promise, resolve } = Promise.withResolvers<number>()
      let began = Number.NaN
      waiting.set(name, () => resolve(performance.now() - began))
      await send(name, () => {
        began = performance.now()
      })
      return promise
    },
  }
}

interface Place {
  redis: string
  /** Further targets of the channel, beside the one whose first bytes are waited for. */
  others?: readonly ChannelTarget[]
}

/** Decisions as a sweep makes them, told by the delivery of the product until their first byte is at a channel. */
export const openDecisions = async (opened: AsyncDisposableStack, { redis, others = [] }: Place): Promise<Measure> => {
  const store = opened.use(await openStore({ env: { REDIS_URL: redis }, busIsShared: true }))
  const { measure, arrived } = timing((name, begins) => decide(store, name, begins))
  const env = { HEALTH_ALERT_WEBHOOK_URL: await startReceiver(opened, arrived) }
  const facts = { instance: 'bench', version: 'bench', services: ['alert-dispatcher'], secretNames: [] }
  const telemetry = opened.use(await openTelemetry({ LOG_LEVEL: 'error' }, facts, process.stderr))
  const unasked: Partial<Client<typeof query>> = { hosts: async () => [] }
  opened.use(
    await openDelivery({
      env,
      store,
      net: opened.use(openNet({ env })),
      telemetry: telemetry.of('alert-dispatcher'),
      // Delivery asks for the host list and for nothing else.
      query: unasked as Client<typeof query>,
      database: undefined,
      policy: async () => ({ ...plainPolicy, routes: [toMeasured] }),
      channels: [{ ...webhook, limits, targets: (given, policy) => [...targetsIn(given, policy), ...others] }],
    }),
  )
  return measure
}

const targetsIn: typeof webhook.targets = (given, policy) =>
  webhook.targets(given, policy).map((target) => ({ ...target, name: measured }))

/** By the name of the channel routes lead to all its targets. */
const measured = 'measured'

/** Decisions are told to the one target alone; what waits for others was put there. */
const toMeasured: Route = {
  id: 'measured',
  matchRule: '*',
  matchHost: '*',
  matchGroup: '*',
  matchTag: '*',
  matchSeverity: '*',
  last: true,
  target: measured,
  enabled: true,
  minSeverity: null,
}

/** As a sweep writes it: with state, in the step that decides. */
const decide = (store: Store, name: string, begins: () => void) => {
  const outbox = [asMessage(noticeFor(name))]
  return store.update(`bench:${name}`, z.number(), () => {
    begins()
    return { value: 1, outbox }
  })
}

/** What is told under a name. */
export const noticeFor = (name: string): Notification =>
  notificationOf({ episode: name, title: `${name}:`, hostKey: null })

/** Hears of a message with the first of its bytes that name it, before anything is made of them. */
const startReceiver = async (opened: AsyncDisposableStack, arrived: (name: string) => void): Promise<string> => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('ok'))
  })
  server.on('connection', (socket) => {
    socket.prependListener('data', (chunk: Buffer) => arrived(/m\d+(?=:)/.exec(chunk.toString())?.[0] ?? ''))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.defer(async () => {
    server.closeAllConnections()
    server.close()
  })
  // A listening TCP server has an address of this kind.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}
