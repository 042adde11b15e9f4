// @module-tag long
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { DeliveryRecord, getDeliveryRecordKey } from '../alert-dispatcher/delivery/delivery-record.ts'
import { createNotification } from '../alert-dispatcher/delivery/testing/notification.ts'
import { toOutboxMessage } from '../alert-dispatcher/notification.ts'
import { retryUntil } from '../testing/fetch-json.ts'
import { describeWith, startNats, startPostgres, startRedis } from '../testing/describe-with.ts'

/** Number of alerts. `TEST_DELIVERY_ALERTS` sets more for a longer run. Each fires and recovers on ten channels. */
const alerts = Number(process.env.TEST_DELIVERY_ALERTS ?? 15)
/** Timeout for all alert notifications, and again for all recoveries, in milliseconds. */
const notifiedWithinMs = 240_000 + alerts * 1_000
const kills = Number(process.env.TEST_DELIVERY_KILLS ?? 8)
const seed = Number(process.env.TEST_SEED ?? 7)
const answerMs = 5
const channels = 10

vi.setConfig({ testTimeout: 2 * notifiedWithinMs + 120_000 })

/** Returns a generator of pseudorandom numbers from 0 to 1. `state` is the seed. */
const createRandom = (state: number) => () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

interface Collector extends AsyncDisposable {
  url: string
  /** How often each notification was received, by its text. */
  counts: Map<string, number>
  /** Number of open connections. Requests of a killed process arrive before its last connection closes. */
  connections(): Promise<number>
}

/** Starts a slow webhook that counts notifications. */
const startCollector = async (): Promise<Collector> => {
  const counts = new Map<string, number>()
  const Body = z.object({ text: z.string() })
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const [alert = ''] = /alert-\d+ \w+/.exec(Body.parse(JSON.parse(text)).text) ?? []
      const received = `${request.url} ${alert}`
      counts.set(received, (counts.get(received) ?? 0) + 1)
      setTimeout(() => response.end('ok'), answerMs)
    })
  })
  const { origin, stop } = await listenOnLoopback(server)
  return {
    url: origin,
    counts,
    connections: promisify(server.getConnections.bind(server)),
    [Symbol.asyncDispose]: stop,
  }
}

const fire = (store: Store, number: number) => {
  const notification = createNotification({
    episode: `episode-${number}`,
    title: `alert-${number} fires`,
    hostKey: null,
  })
  return store.update(`state:${number}`, z.number(), () => ({ value: number, outbox: [toOutboxMessage(notification)] }))
}

const recover = (store: Store, number: number) => {
  const of = { episode: `episode-${number}`, title: `alert-${number} ends`, hostKey: null }
  const notification = createNotification({ ...of, kind: 'recover', sequence: 1 })
  return store.update(`state:${number}`, z.number(), () => ({
    value: -number,
    outbox: [toOutboxMessage(notification)],
  }))
}

interface Servers {
  /** How long a process holds a message while sending it. Afterwards another process may send it. */
  holdMs: number
  redis: string
  postgres?: string
  collector: string
}

const startDelivering = async ({ holdMs, redis, postgres, collector }: Servers, instance: string) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../testing/delivery-process.ts'), instance], {
    env: {
      ...process.env,
      REDIS_URL: redis,
      HEALTH_ALERT_WEBHOOK_URL: collector,
      SVC_STATE_DB_URL: postgres,
      TEST_CHANNELS: String(channels),
      TEST_HOLD_MS: String(holdMs),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

/** Returns the alerts whose notification at least one channel has not received. */
const missingIn = ({ counts }: Collector, numbers: readonly number[], word: 'fires' | 'ends'): number[] =>
  numbers.filter((number) =>
    Array.from({ length: channels }, (_, channel) => `/${channel} alert-${number} ${word}`).some(
      (received) => !counts.has(received),
    ),
  )

const words = ['fires', 'ends'] as const

/** A notification of one alert to one channel. */
interface Notification {
  episode: string
  sequence: number
  target: string
  /** The text that the channel receives. */
  text: string
  recorded: string
}

const everyNotification = (numbers: readonly number[]): Notification[] =>
  numbers.flatMap((number) =>
    Array.from({ length: channels }, (_, channel) =>
      words.map((word, sequence) => {
        const [episode, target] = [`episode-${number}`, `webhook-${channel}:default`]
        const recorded = `${episode}:${sequence}:${target}`
        return { episode, sequence, target, text: `/${channel} alert-${number} ${word}`, recorded }
      }),
    ).flat(),
  )

/** Counts notifications that were received but not recorded, because their process was killed while sending. */
const countUnrecorded = async (
  store: Store,
  { counts }: Collector,
  notifications: readonly Notification[],
): Promise<number> => {
  const received = notifications.filter((notification) => counts.has(notification.text))
  const outcomes = await Promise.all(
    received.map(async ({ episode, sequence, target }) => {
      const record = await store.get(getDeliveryRecordKey(episode), DeliveryRecord)
      return record?.recipients[target]?.taken.includes(sequence) ?? false
    }),
  )
  return outcomes.filter((isRecorded) => !isRecorded).length
}

const recordedIn = async (url: string): Promise<string[]> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query("SELECT id FROM watchhouse_deliveries WHERE result = 'sent'")
    return rows.map(({ id }) => String(id))
  } finally {
    await client.end()
  }
}

const kill = async (child: ChildProcess) => {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Repeats a store call until the store is available. */
const retryWhileDown = async <T>(request: () => Promise<T>): Promise<T> => {
  const outcomes = await retryUntil(
    () => Promise.allSettled([request()]),
    ([{ status }]) => status === 'fulfilled',
  )
  if (outcomes[0].status === 'rejected') throw outcomes[0].reason
  return outcomes[0].value
}

const sum = (counts: Iterable<number>): number => [...counts].reduce((total, count) => total + count, 0)

describeWith(
  ['nats', 'redis', 'postgres'],
  'delivery while its process, NATS, Redis and PostgreSQL are killed in turn',
  () => {
    it(`loses no alert, and repeats none but those that were being sent (seed ${seed})`, async () => {
      const chance = createRandom(seed)
      await using nats = await startNats({ private: true })
      await using redis = await startRedis({ private: true })
      await using postgres = await startPostgres({ private: true })
      await using collector = await startCollector()
      await using store = await openStore({ env: { REDIS_URL: redis.url }, busIsShared: true })
      const servers = {
        holdMs: 5_000,
        redis: redis.url,
        postgres: postgres.url,
        collector: collector.url,
      }
      const start = (number: number) => startDelivering(servers, `d${number}`)
      let child = await start(0)
      await using _last = { [Symbol.asyncDispose]: () => kill(child) }
      const numbers = Array.from({ length: alerts }, (_, index) => index)
      const notifications = everyNotification(numbers)
      let mayBeTwice = 0

      const victims = [
        async (number: number) => {
          await kill(child)
          await retryUntil(collector.connections, (open) => open === 0)
          mayBeTwice += await retryWhileDown(() => countUnrecorded(store, collector, notifications))
          child = await start(number)
        },
        async () => {
          await nats.kill()
          await nats.restart()
        },
        async () => {
          await redis.kill()
          await redis.restart()
        },
        async () => {
          await postgres.kill()
          await postgres.restart()
        },
      ]
      const killing = async () => {
        for (let number = 1; number <= kills; number += 1) {
          await wait(100 + chance() * 400)
          await victims[number % victims.length]?.(number)
        }
      }
      const firing = async () => {
        for (const number of numbers) {
          await retryWhileDown(() => fire(store, number))
          await wait(chance() * 20)
        }
      }
      await Promise.all([killing(), firing()])
      await retryUntil(
        async () => missingIn(collector, numbers, 'fires'),
        (left) => left.length === 0,
        notifiedWithinMs,
      )
      for (const number of numbers) await retryWhileDown(() => recover(store, number))
      await retryUntil(
        async () => missingIn(collector, numbers, 'ends'),
        (left) => left.length === 0,
        notifiedWithinMs,
      )
      await retryUntil(
        () => store.outbox.claim(1, 1),
        (left) => left.length === 0,
        180_000,
      )

      const recorded = await retryUntil(
        () => recordedIn(postgres.url),
        (ids) => ids.length >= notifications.length,
        60_000,
      )
      const extra = sum(collector.counts.values()) - notifications.length
      process.stdout.write(
        `delivery under kills (seed ${seed}): ${alerts} alerts over ${channels} channels, ${kills} kills, 0 lost, ${extra} sent twice of ${mayBeTwice} that were being sent, ${recorded.length} of ${notifications.length} on record\n`,
      )
      expect([...collector.counts.keys()].toSorted()).toEqual(notifications.map(({ text }) => text).toSorted())
      expect(extra).toBeLessThanOrEqual(mayBeTwice)
      expect(recorded.toSorted()).toEqual(notifications.map((notification) => notification.recorded).toSorted())
    })

    it('sends each alert once when three dispatchers share the work', async () => {
      await using redis = await startRedis({ private: true })
      await using collector = await startCollector()
      await using store = await openStore({ env: { REDIS_URL: redis.url }, busIsShared: true })
      const dispatchers = await Promise.all(
        ['one', 'two', 'three'].map((instance) =>
          startDelivering({ holdMs: 30_000, redis: redis.url, collector: collector.url }, instance),
        ),
      )
      await using _last = { [Symbol.asyncDispose]: async () => void (await Promise.all(dispatchers.map(kill))) }
      const numbers = Array.from({ length: 10 }, (_, index) => index)
      await Promise.all(numbers.map((number) => fire(store, number)))
      await retryUntil(
        async () => collector.counts.size,
        (received) => received === 10 * channels,
        180_000,
      )
      for (const number of numbers) await recover(store, number)
      await retryUntil(
        async () => collector.counts.size,
        (received) => received === 20 * channels,
        180_000,
      )
      expect(sum(collector.counts.values())).toBe(20 * channels)
    })
  },
)
