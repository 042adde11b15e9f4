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
import { onLoopback } from '#shared/net/testing/on-loopback.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { DeliveryRecord, recordKey } from '../alert-dispatcher/delivery/record.ts'
import { notificationOf } from '../alert-dispatcher/delivery/testing/notification.ts'
import { asMessage } from '../alert-dispatcher/notification.ts'
import { eventually } from '../testing/fetch-json.ts'
import { describeWith, startNats, startPostgres, startRedis } from '../testing/servers.ts'

/** More by variable, for a longer run: each alert is told and ended over ten channels. */
const alerts = Number(process.env.TEST_DELIVERY_ALERTS ?? 15)
/** By when all of them have been told, and then once more that they ended. */
const toldWithinMs = 240_000 + alerts * 1_000
const kills = Number(process.env.TEST_DELIVERY_KILLS ?? 8)
const seed = Number(process.env.TEST_SEED ?? 7)
const answerMs = 5
const channels = 10

vi.setConfig({ testTimeout: 2 * toldWithinMs + 120_000 })

/** The same chances in the same order for the same seed. */
const chances = (state: number) => () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

interface Collector extends AsyncDisposable {
  url: string
  /** How often each alert was told, by channel. */
  counts: Map<string, number>
  /** How many are open: what a killed process sent is heard before its last one ends. */
  connections(): Promise<number>
}

/** A webhook that takes its time. */
const startCollector = async (): Promise<Collector> => {
  const counts = new Map<string, number>()
  const Body = z.object({ text: z.string() })
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const [alert = ''] = /alert-\d+ \w+/.exec(Body.parse(JSON.parse(text)).text) ?? []
      const told = `${request.url} ${alert}`
      counts.set(told, (counts.get(told) ?? 0) + 1)
      setTimeout(() => response.end('ok'), answerMs)
    })
  })
  const { origin, stop } = await onLoopback(server)
  return {
    url: origin,
    counts,
    connections: promisify(server.getConnections.bind(server)),
    [Symbol.asyncDispose]: stop,
  }
}

const fire = (store: Store, number: number) => {
  const notification = notificationOf({ episode: `episode-${number}`, title: `alert-${number} fires`, hostKey: null })
  return store.update(`state:${number}`, z.number(), () => ({ value: number, outbox: [asMessage(notification)] }))
}

const recover = (store: Store, number: number) => {
  const of = { episode: `episode-${number}`, title: `alert-${number} ends`, hostKey: null }
  const notification = notificationOf({ ...of, kind: 'recover', sequence: 1 })
  return store.update(`state:${number}`, z.number(), () => ({ value: -number, outbox: [asMessage(notification)] }))
}

interface Servers {
  /** A send that takes longer is taken for cut off: short where processes are killed. */
  holdMs: number
  redis: string
  postgres?: string
  collector: string
}

const startDelivering = async ({ holdMs, redis, postgres, collector }: Servers, instance: string) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../testing/delivering.ts'), instance], {
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

/** Those of whom some channel has not heard so. */
const missingIn = ({ counts }: Collector, numbers: readonly number[], word: 'fires' | 'ends'): number[] =>
  numbers.filter((number) =>
    Array.from({ length: channels }, (_, channel) => `/${channel} alert-${number} ${word}`).some(
      (told) => !counts.has(told),
    ),
  )

const words = ['fires', 'ends'] as const

/** One thing that one channel is to hear of one alert. */
interface Telling {
  episode: string
  sequence: number
  target: string
  /** How the channel hears it, and the id under which that is recorded. */
  heard: string
  recorded: string
}

const everyTelling = (numbers: readonly number[]): Telling[] =>
  numbers.flatMap((number) =>
    Array.from({ length: channels }, (_, channel) =>
      words.map((word, sequence) => {
        const [episode, target] = [`episode-${number}`, `webhook-${channel}:default`]
        const recorded = `${episode}:${sequence}:${target}`
        return { episode, sequence, target, heard: `/${channel} alert-${number} ${word}`, recorded }
      }),
    ).flat(),
  )

/** What channels have heard and nobody has written down: what was being sent when its process died. */
const underWay = async (store: Store, { counts }: Collector, tellings: readonly Telling[]): Promise<number> => {
  const heard = tellings.filter((telling) => counts.has(telling.heard))
  const settled = await Promise.all(
    heard.map(async ({ episode, sequence, target }) => {
      const record = await store.get(recordKey(episode), DeliveryRecord)
      return record?.recipients[target]?.taken.includes(sequence) ?? false
    }),
  )
  return settled.filter((isSettled) => !isSettled).length
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

/** What the store is asked is asked again when it is back. */
const patiently = async <T>(ask: () => Promise<T>): Promise<T> => {
  const settled = await eventually(
    () => Promise.allSettled([ask()]),
    ([{ status }]) => status === 'fulfilled',
  )
  if (settled[0].status === 'rejected') throw settled[0].reason
  return settled[0].value
}

const sum = (counts: Iterable<number>): number => [...counts].reduce((total, count) => total + count, 0)

describeWith(
  ['nats', 'redis', 'postgres'],
  'delivery while its process, NATS, Redis and PostgreSQL are killed in turn',
  () => {
    it(`loses no alert, and tells none twice but those that were being sent (seed ${seed})`, async () => {
      const chance = chances(seed)
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
      const tellings = everyTelling(numbers)
      let mayBeTwice = 0

      const victims = [
        async (number: number) => {
          await kill(child)
          await eventually(collector.connections, (open) => open === 0)
          mayBeTwice += await patiently(() => underWay(store, collector, tellings))
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
          await patiently(() => fire(store, number))
          await wait(chance() * 20)
        }
      }
      await Promise.all([killing(), firing()])
      await eventually(
        async () => missingIn(collector, numbers, 'fires'),
        (left) => left.length === 0,
        toldWithinMs,
      )
      for (const number of numbers) await patiently(() => recover(store, number))
      await eventually(
        async () => missingIn(collector, numbers, 'ends'),
        (left) => left.length === 0,
        toldWithinMs,
      )
      await eventually(
        () => store.outbox.claim(1, 1),
        (left) => left.length === 0,
        180_000,
      )

      const recorded = await eventually(
        () => recordedIn(postgres.url),
        (ids) => ids.length >= tellings.length,
        60_000,
      )
      const extra = sum(collector.counts.values()) - tellings.length
      process.stdout.write(
        `delivery under kills (seed ${seed}): ${alerts} alerts over ${channels} channels, ${kills} kills, 0 lost, ${extra} told twice of ${mayBeTwice} that were being sent, ${recorded.length} of ${tellings.length} on record\n`,
      )
      expect([...collector.counts.keys()].toSorted()).toEqual(tellings.map(({ heard }) => heard).toSorted())
      expect(extra).toBeLessThanOrEqual(mayBeTwice)
      expect(recorded.toSorted()).toEqual(tellings.map((telling) => telling.recorded).toSorted())
    })

    it('tells each alert once when three dispatchers share the work', async () => {
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
      await eventually(
        async () => collector.counts.size,
        (told) => told === 10 * channels,
        180_000,
      )
      for (const number of numbers) await recover(store, number)
      await eventually(
        async () => collector.counts.size,
        (told) => told === 20 * channels,
        180_000,
      )
      expect(sum(collector.counts.values())).toBe(20 * channels)
    })
  },
)
