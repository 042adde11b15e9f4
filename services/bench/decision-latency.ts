import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import type { ServiceClient } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import type { ChannelTarget } from '../alert-dispatcher/channels/channel.ts'
import { webhookChannel } from '../alert-dispatcher/channels/webhook.ts'
import { openDelivery } from '../alert-dispatcher/delivery/open-delivery.ts'
import { createNotification } from '../alert-dispatcher/delivery/testing/notification.ts'
import { type Notification, toOutboxMessage } from '../alert-dispatcher/notification.ts'
import type { NotificationRoute } from '../alert-dispatcher/policy.ts'
import { testPolicy } from '../alert-dispatcher/testing/simulated-host.ts'

/** Pause between the arrival of a message and the next send, in milliseconds. */
const pauseMs = 5
/** Rate limits that are never reached, because the benchmark should not measure queueing. */
const limits = { concurrency: 64, perSecond: 10_000, burst: 10_000 }

/** Sends a message with this name and resolves with its latency in milliseconds. */
export type MeasureLatency = (name: string) => Promise<number>

let last = 0
/**
 * Measures each path `count` times and returns the latencies by path. Messages are sent one at a time, so that no queue
 * forms. The paths alternate, so that other load affects all of them equally.
 */
export const measureInTurn = async (measures: readonly MeasureLatency[], count: number): Promise<number[][]> => {
  const measured = measures.map((): number[] => [])
  for (let index = 0; index < count; index += 1) {
    for (const [place, measure] of measures.entries()) {
      measured[place]?.push(await measure(`m${(last += 1)}`))
      await wait(pauseMs)
    }
  }
  return measured
}

/**
 * Returns two functions. `measure` sends a message and resolves with its latency; `arrived` reports that the message
 * has arrived. `send` must call `begins` when the measurement starts.
 */
export const createLatencyProbe = (
  send: (name: string, begins: () => void) => Promise<unknown>,
): { measure: MeasureLatency; arrived(name: string): void } => {
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
  /** Targets of the channel in addition to the measured one. */
  others?: readonly ChannelTarget[]
}

/**
 * Starts delivery. Returns a function that measures the time from an alert decision until the first bytes arrive at the
 * webhook.
 */
export const openDecisionProbe = async (
  opened: AsyncDisposableStack,
  { redis, others = [] }: Place,
): Promise<MeasureLatency> => {
  const store = opened.use(await openStore({ env: { REDIS_URL: redis }, busIsShared: true }))
  const { measure, arrived } = createLatencyProbe((name, begins) => decide(store, name, begins))
  const env = { HEALTH_ALERT_WEBHOOK_URL: await startReceiver(opened, arrived) }
  const facts = { instance: 'bench', version: 'bench', services: ['alert-dispatcher'], secretNames: [] }
  const telemetry = opened.use(await openTelemetry({ LOG_LEVEL: 'error' }, facts, process.stderr))
  const hostsOnly: Partial<ServiceClient<typeof query>> = { hosts: async () => [] }
  opened.use(
    await openDelivery({
      env,
      store,
      net: opened.use(openNet({ env })),
      telemetry: telemetry.of('alert-dispatcher'),
      // Delivery calls only the method `hosts`.
      query: hostsOnly as ServiceClient<typeof query>,
      database: undefined,
      policy: async () => ({ ...testPolicy, routes: [measuredTargetRoute] }),
      channels: [{ ...webhookChannel, limits, targets: (given, policy) => [...targetsIn(given, policy), ...others] }],
    }),
  )
  return measure
}

const targetsIn: typeof webhookChannel.targets = (given, policy) =>
  webhookChannel.targets(given, policy).map((target) => ({ ...target, name: measured }))

/** The name of the measured target. A route with the channel name would lead to all targets of the channel. */
const measured = 'measured'

/** A route that sends decisions only to the measured target. The benchmark adds messages for other targets itself. */
const measuredTargetRoute: NotificationRoute = {
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

/** Writes a decision to the outbox in one transaction with the state, as a sweep does. */
const decide = (store: Store, name: string, begins: () => void) => {
  const outbox = [toOutboxMessage(createTestNotification(name))]
  return store.update(`bench:${name}`, z.number(), () => {
    begins()
    return { value: 1, outbox }
  })
}

/** Returns a notification whose episode and title contain this name. */
export const createTestNotification = (name: string): Notification =>
  createNotification({ episode: name, title: `${name}:`, hostKey: null })

/** Starts a webhook that calls `arrived` as soon as the bytes with a name arrive, before parsing. Returns its URL. */
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
  // The address of a listening TCP server is always an object.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}
