import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { connect } from 'nats'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { describeWith, startNats } from '../../../testing/describe-with.ts'
import { waitUntil } from '../conformance/implementations.suite.ts'
import { buildNatsAccounts, formatServerAccounts, formatStreamUserName } from '../accounts.ts'
import { keepStreamsInstalled } from './installer.ts'
import { openNatsQueue } from './nats-queue.ts'
import type { Queue } from './queue.ts'

const limits = { ackWaitMs: 600, failedAgainMs: 20, retryMs: 50 }
const endpoint = { caller: 'alert-dispatcher', instance: 'a1' } as const
const open = (url: string) => openNatsQueue({ url, replicas: 1, limits }, endpoint)
const channel = { stream: 'EVENTS', name: 'webhook', subjects: 'inbound.webhook.>', body: z.unknown() } as const
const publish = (queue: Queue, id: string) => queue.publish('inbound.webhook.default', { id, body: id })
const consume = async (queue: Queue): Promise<string[]> => {
  const seen: string[] = []
  await queue.consume(channel, async ({ id }) => {
    seen.push(id)
    return 'done'
  })
  return seen
}

describeWith(
  ['nats'],
  'a queue on JetStream',
  () => {
    it('redelivers the messages of a killed process to another', async () => {
      await using server = await startNats({ private: true })
      await using queue = await open(server.url)
      const file = join(import.meta.dirname, 'unacknowledging-consumer.suite.ts')
      const child = spawn(process.execPath, [file, server.url], { stdio: ['ignore', 'pipe', 'inherit'] })
      await using _killed = { [Symbol.asyncDispose]: async () => void child.kill('SIGKILL') }
      await publish(queue, 'one')
      await once(child.stdout, 'data')
      const seen = await consume(queue)
      await publish(queue, 'two')
      await waitUntil(() => seen.length === 1)
      expect(seen).toEqual(['two'])
      child.kill('SIGKILL')
      await waitUntil(() => seen.length === 2)
      expect(seen).toEqual(['two', 'one'])
    })

    it('keeps its messages when the server is killed, logs the outage, and resumes', async () => {
      await using server = await startNats({ private: true })
      await using queue = await open(server.url)
      await publish(queue, 'before')
      await server.kill()
      await waitUntil(() => !queue.connected)
      await expect(publish(queue, 'meanwhile')).rejects.toMatchObject({ code: 'unavailable' })
      await server.restart()
      await waitUntil(() => queue.connected)
      const seen = await consume(queue)
      await waitUntil(() => seen.length === 1)
      await server.kill()
      await waitUntil(() => !queue.connected)
      await server.restart()
      await waitUntil(() =>
        publish(queue, 'after').then(
          () => true,
          () => false,
        ),
      )
      await waitUntil(() => seen.length === 2)
      expect(seen).toEqual(['before', 'after'])
    })

    it('stores a message that arrives while no server leads its stream', async () => {
      await using server = await startNats({ private: true })
      await using queue = await open(server.url)
      const admin = await connect({ servers: server.url })
      const { streams } = await admin.jetstreamManager()
      const { config } = await streams.info('EVENTS')
      // Like a stream without a leader, a missing stream sends no acknowledgement.
      await streams.delete('EVENTS')
      const publishing = publish(queue, 'early')
      await setTimeout(500)
      await streams.add(config)
      await expect(publishing).resolves.toBeDefined()
      expect((await streams.info('EVENTS')).state.messages).toBe(1)
      await admin.close()
    })

    it('logs a lost connection once, not for each of its consumers', async () => {
      await using server = await startNats({ private: true })
      const lines: string[] = []
      const log = pino({ base: null }, { write: (line) => lines.push(line) })
      await using queue = await openNatsQueue({ url: server.url, replicas: 1, limits, log }, endpoint)
      const seen = await consume(queue)
      await queue.consume({ ...channel, name: 'email', subjects: 'inbound.email.>' }, async () => 'done')
      await server.kill()
      await waitUntil(() => !queue.connected)
      await setTimeout(10 * limits.retryMs)
      await server.restart()
      await waitUntil(() => queue.connected)
      expect(lines.map((line) => JSON.parse(line)).map(({ msg, connection }) => [msg, connection])).toEqual([
        ['connection to NATS lost', 'alert-dispatcher, queue'],
        ['connection to NATS restored', 'alert-dispatcher, queue'],
      ])
      await publish(queue, 'after')
      await waitUntil(() => seen.length === 1)
    })

    it('recreates its streams and consumers after a server lost its data', async () => {
      await using server = await startNats({ private: true })
      await using queue = await open(server.url)
      const seen = await consume(queue)
      await server.kill()
      await using _empty = await startNats({ private: true, port: Number(new URL(server.url).port) })
      await waitUntil(() =>
        publish(queue, 'again').then(
          () => true,
          () => false,
        ),
      )
      await waitUntil(() => seen.length === 1)
      expect(seen).toEqual(['again'])
    })

    it('delivers new messages while thousands wait for redelivery', { timeout: 120_000 }, async () => {
      await using server = await startNats({ private: true })
      await using queue = await open(server.url)
      let waiting = 0
      const { promise, resolve } = Promise.withResolvers<string>()
      await queue.consume(channel, async ({ id }) => {
        if (id === 'well') {
          resolve(id)
          return 'done'
        }
        waiting += 1
        return { againInMs: 600_000 }
      })
      for (let from = 0; from < 2_000; from += 200) {
        await Promise.all(Array.from({ length: 200 }, (_, index) => publish(queue, `dead-${from + index}`)))
      }
      await expect.poll(() => waiting, { timeout: 100_000 }).toBe(2_000)
      await publish(queue, 'well')
      expect(await promise).toBe('well')
    })

    it('reports server, cause and remedy if JetStream has too little storage for the streams', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'watchhouse-jetstream-'))
      onTestFinished(() => rm(directory, { recursive: true, force: true }))
      const config = `jetstream { store_dir: "${directory}", max_file_store: 10MB }`
      await using server = await startNats({ private: true, config })
      const opening = openNatsQueue({ url: server.url, replicas: 1, limits }, endpoint)
      const { host } = new URL(server.url)
      await expect(opening).rejects.toThrow(
        `NATS server "${host}" refuses the stream EVENTS (1024 MiB): too little storage is left for the streams; free space`,
      )
    })

    it('reports while it runs that a server without data has too little storage for the streams', async () => {
      await using server = await startNats({ private: true })
      await using queue = await open(server.url)
      await consume(queue)
      await server.kill()
      const directory = await mkdtemp(join(tmpdir(), 'watchhouse-jetstream-'))
      onTestFinished(() => rm(directory, { recursive: true, force: true }))
      const config = `jetstream { store_dir: "${directory}", max_file_store: 10MB }`
      await using _small = await startNats({ private: true, port: Number(new URL(server.url).port), config })
      await waitUntil(() => queue.connected && queue.problem !== undefined)
      expect(queue.problem).toMatch(/^NATS server ".*" refuses the stream EVENTS \(1024 MiB\): too little storage/)
    })

    it('reports which queue is full, and accepts messages again once there is space', async () => {
      await using server = await startNats({ private: true })
      const maxBytes = { EVENTS: 5_000, EVENTS_DLQ: 1_000_000 }
      await using queue = await openNatsQueue(
        { url: server.url, replicas: 1, limits: { ...limits, maxBytes } },
        endpoint,
      )
      const fill = async () => {
        for (let index = 0; index < 200; index += 1) await publish(queue, `m${index}`)
      }
      await expect(fill()).rejects.toMatchObject({
        code: 'busy',
        message: expect.stringMatching(
          /^the queue "EVENTS" is full \(1024 MiB\); check that its consumers are running/,
        ),
      })
      expect(queue.problem).toContain('the queue "EVENTS" is full')
      const connection = await connect({ servers: server.url })
      onTestFinished(() => connection.close())
      await (await connection.jetstreamManager()).streams.purge('EVENTS')
      await waitUntil(() =>
        publish(queue, 'after').then(
          () => true,
          () => false,
        ),
      )
      expect(queue.problem).toBeUndefined()
    })

    it('reports what a server rejects', async () => {
      await using server = await startNats({ private: true })
      const opening = openNatsQueue({ url: server.url, replicas: 3, limits }, endpoint)
      await expect(opening).rejects.toThrow(/refuses the stream EVENTS \(1024 MiB\): .*replicas/)
    })

    it('rejects a server that cannot store messages', async () => {
      await using server = await startNats({ config: 'accounts { without { users: [ { user: x, password: x } ] } }' })
      const url = server.url.replace('//', '//x:x@')
      await expect(open(url)).rejects.toThrow('offers no JetStream')
    })
  },
  ['long'],
)

describeWith(['nats'], 'a NATS server with the accounts of the product', () => {
  const start = async (port?: number) => {
    const config = `accounts ${JSON.stringify(formatServerAccounts(buildNatsAccounts([], []), () => 'secret'))}`
    const server = await startNats({ config, ...(port !== undefined && { port }) })
    const { url } = server
    const queueOf = (caller: 'alert-dispatcher' | 'ingest', user = formatStreamUserName(caller)) =>
      openNatsQueue({ url, user, password: 'secret', replicas: 1, creates: false, limits }, { caller, instance: 'x' })
    const install = () =>
      keepStreamsInstalled(
        { url, user: formatStreamUserName('gateway'), password: 'secret', replicas: 1, limits },
        { caller: 'gateway', instance: 'x' },
      )
    return { server, queueOf, install, [Symbol.asyncDispose]: () => server.stop() }
  }
  const published = (queue: Queue, id: string) =>
    waitUntil(() =>
      publish(queue, id).then(
        () => true,
        () => false,
      ),
    )

  it('lets ingest publish events, which the dispatcher receives and dead-letters, and ingest lists', async () => {
    await using server = await start()
    await using dispatcher = await server.queueOf('alert-dispatcher')
    const received: string[] = []
    await dispatcher.consume(
      { stream: 'EVENTS', name: 'events-alerted', subjects: 'inbound.>', body: z.unknown() },
      async ({ id }) => {
        received.push(id)
        return { dead: 'enough' }
      },
    )
    await using ingest = await server.queueOf('ingest')
    await using _installed = await server.install()
    const event = () => ingest.publish('inbound.grafana', { id: 'e', body: {} })
    await waitUntil(() =>
      event().then(
        () => true,
        () => false,
      ),
    )
    await waitUntil(() => received.length === 1)
    await waitUntil(async () => (await ingest.dead.EVENTS.list({ limit: 1 })).letters.length === 1)
    await expect(publish(dispatcher, 'forged')).rejects.toMatchObject({ code: 'unavailable' })
    const [letter] = (await ingest.dead.EVENTS.list({ limit: 1 })).letters
    expect(await ingest.dead.EVENTS.remove(letter?.id ?? '')).toBe(true)
    await expect(dispatcher.dead.EVENTS.list({ limit: 1 })).rejects.toThrow()
  })

  it('recreates streams and consumers after the server lost its data', { tags: ['long'] }, async () => {
    await using first = await start()
    await using _installed = await first.install()
    await using queue = await first.queueOf('ingest')
    const seen: string[] = []
    const kept = { ...channel, name: 'events-kept', subjects: 'inbound.>' }
    await queue.consume(kept, async ({ id }) => {
      seen.push(id)
      return 'done'
    })
    await published(queue, 'before')
    await waitUntil(() => seen.length === 1)
    await first.server.kill()
    await using _empty = await start(Number(new URL(first.server.url).port))
    await published(queue, 'again')
    await waitUntil(() => seen.length === 2)
    expect(seen).toEqual(['before', 'again'])
  })

  it('denies other users access to the queue', async () => {
    await using server = await start()
    await expect(server.queueOf('ingest', 'query')).rejects.toMatchObject({ code: 'unavailable' })
  })
})
