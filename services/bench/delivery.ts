import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import type { Client } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { openNatsQueue } from '#shared/bus/durable/nats-queue.ts'
import { systemClock } from '#shared/clock.ts'
import { openReadiness } from '#shared/lifecycle/readiness.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import { startNats, startRedis } from '../acceptance/servers.ts'
import { webhook } from '../alert-dispatcher/channels/webhook.ts'
import { openDelivery } from '../alert-dispatcher/delivery/open.ts'
import { noticeOf } from '../alert-dispatcher/delivery/testing/notice.ts'
import { Queued, messageIdOf, subjectOf } from '../alert-dispatcher/delivery/queued.ts'
import { type Notice, asMessage } from '../alert-dispatcher/notice.ts'
import { plainPolicy } from '../alert-dispatcher/testing/story.ts'
import { type Benchmark, percentile } from './benchmark.ts'

const repetitions = 5
const warmUp = 100
const messages = 300
/** Between one that has arrived and the next. */
const pauseMs = 5
/** Where they would wait for each other the wait would be measured. */
const limits = { concurrency: 64, perSecond: 10_000, burst: 10_000 }

/** How long it takes from a decision until its first byte is at a channel, beside what the queue takes from a publish to its consumer. */
export const deliveryTime: Benchmark = {
  name: 'delivery',
  async run() {
    await using opened = new AsyncDisposableStack()
    const nats = opened.use(await startNats({ private: true }))
    // As the product's chart runs it. NATS waits for no disk here either, as those before 2.10 cannot be told to.
    const redis = opened.use(await startRedis({ private: true, settings: { appendfsync: 'everysec' } }))
    const decide = await openDecisions(opened, nats.url, redis.url)
    const publish = await openPublishing(opened, nats.url)
    const [ours, reference]: [number[], number[]] = [[], []]
    await byTurns([decide, publish], warmUp)
    for (let repetition = 0; repetition < repetitions; repetition += 1) {
      const [decided = [], published = []] = await byTurns([decide, publish], messages)
      ours.push(percentile(decided, 0.99))
      reference.push(percentile(published, 0.99))
    }
    return [{ name: 'decision to first byte, p99', unit: 'ms', ours, reference, bar: { atMost: 3 } }]
  },
}

/** Sets something on its way under a name; resolves with the milliseconds until it was there. */
type Measure = (name: string) => Promise<number>

let last = 0
/**
 * What each takes, so many times, one after the other: what is measured is the way and no queue before it, and what else the
 * machine does meets all of them alike.
 */
const byTurns = async (measures: readonly Measure[], count: number): Promise<number[][]> => {
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
const timing = (
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

/** The queue alone, with the same stream, message and id as ours: what no delivery through it can be faster than. */
const openPublishing = async (opened: AsyncDisposableStack, url: string): Promise<Measure> => {
  const caller = 'alert-dispatcher'
  const queue = opened.use(await openNatsQueue({ url, replicas: 1 }, { caller, instance: 'bench-publishes' }))
  const consumed = opened.use(await openNatsQueue({ url, replicas: 1 }, { caller, instance: 'bench-consumes' }))
  const { measure, arrived } = timing((name, begins) => {
    const body: Queued = { notice: noticeFor(name), channel: 'bench', target: 'default', queuedAtMs: Date.now() }
    begins()
    return queue.publish(subjectOf(body), { id: messageIdOf(body), body })
  })
  const consumer = { stream: 'DELIVER', name: 'bench', subjects: 'deliver.bench.>', body: Queued } as const
  opened.use(
    await consumed.consume(consumer, async ({ body: { notice } }) => {
      arrived(notice.episode)
      return 'done'
    }),
  )
  return measure
}

const openDecisions = async (opened: AsyncDisposableStack, nats: string, redis: string): Promise<Measure> => {
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
      openQueue: () => openNatsQueue({ url: nats, replicas: 1 }, { caller: 'alert-dispatcher', instance: 'bench' }),
      net: opened.use(openNet({ env })),
      clock: systemClock,
      telemetry: telemetry.of('alert-dispatcher'),
      readiness: openReadiness(),
      // Delivery asks for the host list and for nothing else.
      query: unasked as Client<typeof query>,
      database: undefined,
      policy: async () => plainPolicy,
      channels: [{ ...webhook, limits }],
    }),
  )
  return measure
}

/** As a sweep writes it: with state, in the step that decides. */
const decide = (store: Store, name: string, begins: () => void) => {
  const outbox = [asMessage(noticeFor(name))]
  return store.update(`bench:${name}`, z.number(), () => {
    begins()
    return { value: 1, outbox }
  })
}

const noticeFor = (name: string): Notice => noticeOf({ episode: name, title: `${name}:`, hostKey: null })

/** Hears of a message with the first of its bytes that name it. */
const startReceiver = async (opened: AsyncDisposableStack, arrived: (name: string) => void): Promise<string> => {
  const server = createServer((request, response) => {
    request.once('data', (chunk: Buffer) => arrived(/m\d+(?=:)/.exec(chunk.toString())?.[0] ?? ''))
    request.on('end', () => response.end('ok'))
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
