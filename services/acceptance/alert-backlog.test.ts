// @module-tag long
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { createNotification } from '../alert-dispatcher/delivery/testing/notification.ts'
import { type Notification, toOutboxMessage } from '../alert-dispatcher/notification.ts'
import { retryUntil } from '../testing/fetch-json.ts'
import { describeWith, startPostgres, startRedis } from '../testing/describe-with.ts'

vi.setConfig({ testTimeout: 480_000 })

const RawMessage = z.object({
  event: z.string(),
  dedup_key: z.string(),
  title: z.string(),
  conditions: z.array(z.object({ event: z.string(), dedup_key: z.string() })).optional(),
})
const ChatMessage = z.object({ text: z.string() })

interface Received {
  atMs: number
  title: string
  /** The conditions in the message, each as `<event> <episode>`. */
  conditions: string[]
}

interface Receiver extends AsyncDisposable {
  url: string
  received: Received[]
  /** If `when` is set, requests for which it returns true get no response. */
  hang: { when?: ((received: Received) => boolean) | undefined }
}

/** Starts a webhook that records its requests with their times. */
const startReceiver = async (): Promise<Receiver> => {
  const received: Received[] = []
  const hang: Receiver['hang'] = {}
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const message = receivedFrom(JSON.parse(text))
      received.push(message)
      if (!hang.when?.(message)) response.end('ok')
    })
  })
  const { origin, stop } = await listenOnLoopback(server)
  return { url: origin, received, hang, [Symbol.asyncDispose]: stop }
}

const receivedFrom = (body: unknown): Received => {
  const raw = RawMessage.safeParse(body).data
  if (!raw) return { atMs: performance.now(), title: ChatMessage.parse(body).text, conditions: [] }
  const conditions = (raw.conditions ?? [raw]).map(({ event, dedup_key }) => `${event} ${dedup_key}`)
  return { atMs: performance.now(), title: raw.title, conditions }
}

const publish = (store: Store, notification: Notification) =>
  store.update(`state:${notification.id}`, z.number(), () => ({ value: 1, outbox: [toOutboxMessage(notification)] }))

interface Servers {
  redis: string
  postgres: string
}

const startDispatcher = async (servers: Servers, instance: string, env: Record<string, string>) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../testing/delivery-process.ts'), instance], {
    env: {
      ...process.env,
      REDIS_URL: servers.redis,
      SVC_STATE_DB_URL: servers.postgres,
      TEST_CHANNELS: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

const kill = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/**
 * Starts Redis, PostgreSQL and a webhook, and returns a function that starts dispatchers. `opened` stops all of them.
 */
const openGround = async (opened: AsyncDisposableStack) => {
  const redis = opened.use(await startRedis({ private: true }))
  const postgres = opened.use(await startPostgres({ private: true }))
  const receiver = opened.use(await startReceiver())
  const store = opened.use(await openStore({ env: { REDIS_URL: redis.url }, busIsShared: true }))
  const servers = { redis: redis.url, postgres: postgres.url }
  const start = async (instance: string, env: Record<string, string>) => {
    const child = await startDispatcher(servers, instance, env)
    opened.defer(() => kill(child))
    return child
  }
  const further = {
    HEALTH_ALERT_WEBHOOK_TARGETS: JSON.stringify([{ name: 'ops', urlEnv: 'OPS_URL', format: 'raw' }]),
    OPS_URL: receiver.url,
  }
  return { receiver, store, servers, start, further }
}

const sentRecords = async (url: string): Promise<string[]> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query("SELECT kind, episode FROM watchhouse_deliveries WHERE result = 'sent'")
    return rows.map(({ kind, episode }) => `${kind} ${episode}`)
  } finally {
    await client.end()
  }
}

const countsOf = (received: readonly Received[]): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const each of received.flatMap(({ conditions }) => conditions)) counts.set(each, (counts.get(each) ?? 0) + 1)
  return counts
}

const hosts = Array.from({ length: 500 }, (_, index) => `host-${index}`)
const unreachable = (host: string, kind: 'fire' | 'recover'): Notification =>
  createNotification({
    kind,
    sequence: kind === 'fire' ? 0 : 1,
    episode: `down-${host}`,
    hostKey: host,
    ruleId: 'host-unreachable',
    title: 'Host unreachable',
    severity: 'critical',
    unit: 'yes-no',
    value: 1,
  })
const conditionsOf = (kind: 'fire' | 'recover') => hosts.map((host) => `${kind} down-${host}`).toSorted()

describeWith(['redis', 'postgres'], 'a backlog of notifications for one target', () => {
  it('lets a critical condition pass a hundred warnings at one message a second', async () => {
    await using opened = new AsyncDisposableStack()
    const { receiver, store, start } = await openGround(opened)
    const limits = JSON.stringify({ concurrency: 2, perSecond: 1, burst: 1 })
    const env = { TEST_CHANNELS: '1', TEST_LIMITS: limits, HEALTH_ALERT_WEBHOOK_URL: receiver.url }
    await Promise.all([start('one', env), start('two', env)])
    const warning = (index: number) =>
      createNotification({ episode: `w${index}`, title: `warning ${index}`, hostKey: null })
    await Promise.all(Array.from({ length: 100 }, (_, index) => publish(store, warning(index))))
    await retryUntil(
      async () => receiver.received.length,
      (count) => count >= 4,
    )
    const before = receiver.received.length
    await publish(
      store,
      createNotification({ episode: 'c', title: 'the critical one', severity: 'critical', hostKey: null }),
    )
    const place = await retryUntil(
      async () => receiver.received.findIndex(({ title }) => title.includes('the critical one')),
      (index) => index >= 0,
    )
    expect(place - before).toBeLessThanOrEqual(1)
  })

  it('groups five hundred unreachable hosts, and names, ends and records each once', async () => {
    await using opened = new AsyncDisposableStack()
    const { receiver, store, servers, start, further } = await openGround(opened)
    await Promise.all([start('one', further), start('two', further)])
    for (const [kind, word] of [
      ['fire', 'CRITICAL'],
      ['recover', 'RECOVERED'],
    ] as const) {
      const earlier = receiver.received.length
      const beganMs = performance.now()
      for (let index = 0; index < hosts.length; index += 50)
        await Promise.all(hosts.slice(index, index + 50).map((host) => publish(store, unreachable(host, kind))))
      await retryUntil(
        async () => countsOf(receiver.received.slice(earlier)),
        (counts) => counts.size >= hosts.length,
        150_000,
      )
      const messages = receiver.received.slice(earlier)
      const tookMs = Math.round(performance.now() - beganMs)
      process.stdout.write(`${hosts.length} hosts, ${kind}: ${messages.length} messages in ${tookMs} ms\n`)
      // Allows twelve messages plus one per ten seconds, because a slow machine groups fewer conditions.
      expect(messages.length).toBeLessThanOrEqual(12 + tookMs / 10_000)
      expect([...countsOf(messages).keys()].toSorted()).toEqual(conditionsOf(kind))
      expect([...countsOf(messages).values()].every((count) => count === 1)).toBe(true)
      expect(messages.some(({ title }) => new RegExp(`^${word}: Host unreachable on \\d+ hosts$`).test(title))).toBe(
        true,
      )
    }
    const records = await retryUntil(
      () => sentRecords(servers.postgres),
      (found) => found.length >= 2 * hosts.length,
      60_000,
    )
    expect(records.toSorted()).toEqual([...conditionsOf('fire'), ...conditionsOf('recover')].toSorted())
  })

  it('loses nothing when the process is killed in the middle of a group, and repeats at most what was being sent', async () => {
    await using opened = new AsyncDisposableStack()
    const { receiver, store, servers, start, further } = await openGround(opened)
    // The other dispatcher takes over the messages of the killed one after this time, in milliseconds.
    const hold = { TEST_HOLD_MS: '5000' }
    const first = await start('one', { ...further, ...hold })
    receiver.hang.when = ({ conditions }) => conditions.length > 1
    await Promise.all(hosts.map((host) => publish(store, unreachable(host, 'fire'))))
    await retryUntil(
      async () => receiver.received.filter(receiver.hang.when ?? (() => false)).length,
      (groups) => groups >= 1,
      60_000,
    )
    await kill(first)
    const groups = receiver.received.filter(({ conditions }) => conditions.length > 1)
    const cutOff = new Set(groups.flatMap((each) => each.conditions))
    receiver.hang.when = undefined
    const killedAt = receiver.received.length
    await start('two', further)
    await retryUntil(
      async () => countsOf(receiver.received).size,
      (delivered) => delivered === hosts.length,
      90_000,
    )
    await retryUntil(
      () => sentRecords(servers.postgres),
      (records) => records.length >= hosts.length,
      90_000,
    )
    const counts = countsOf(receiver.received)
    expect([...counts.keys()].toSorted()).toEqual(conditionsOf('fire'))
    const repeated = [...counts].filter(([, count]) => count > 1).map(([condition]) => condition)
    expect(repeated.filter((condition) => !cutOff.has(condition)).length).toBeLessThanOrEqual(2)
    await Promise.all(hosts.map((host) => publish(store, unreachable(host, 'recover'))))
    const resolved = await retryUntil(
      async () => countsOf(receiver.received.slice(killedAt)),
      (seen) => conditionsOf('recover').every((condition) => seen.has(condition)),
      90_000,
    )
    expect(conditionsOf('recover').every((condition) => resolved.get(condition) === 1)).toBe(true)
  })
})
