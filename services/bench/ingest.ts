import { startProcess } from '../testing/product/product-process.ts'
import { startNats, startRedis } from '../testing/describe-with.ts'
import { reserveFreePort } from '../testing/servers/port.ts'
import { openNatsQueue } from '#shared/bus/durable/nats-queue.ts'
import { connectToNats } from '#shared/bus/nats-connection.ts'
import { Pool } from 'undici'
import type { Benchmark, Comparison } from './benchmark.ts'

const repetitions = 5
/** Duration of the warm-up. After it, V8 has optimized the code, as in a long-running process. */
const warmUpMs = 6_000
const measuredMs = 3_000
/** Number of concurrent events, the same on both sides. */
const inFlight = 400
/** Number of connections of a sender. Further requests wait in the sender and count as in flight. */
const connections = 64
const token = 'token of the benchmark'

/** Compares ingesting events over HTTP with publishing them directly. Both wait until the queue has stored them. */
export const ingestCost: Benchmark = {
  name: 'ingest',
  async run() {
    await using nats = await startNats({ private: true })
    await using redis = await startRedis({ private: true })
    // A second server without consumers: consumers of the product must not slow down the direct side.
    await using apart = await startNats({ private: true })
    await using raw = await openNatsPublisher(apart.url)
    const port = await reserveFreePort()
    const variables = {
      NATS_URL: nats.url,
      REDIS_URL: redis.url,
      SVC_EVENTS_INGEST_TOKEN: token,
      RATE_LIMIT_INGEST_PER_MIN: '100000000',
      HOST: '127.0.0.1',
      PORT: String(port),
      LOG_LEVEL: 'error',
    }
    const options = { services: ['ingest', 'gateway'], variables, operationsPort: await reserveFreePort() }
    await using _product = await startProcess(options)
    await using pool = opened(`http://127.0.0.1:${port}`)
    return [
      await compare({ name: 'single events', count: 1, atLeast: 0.1 }, pool.pool, raw),
      await compare({ name: 'batches of 50', count: 50, atLeast: 0.25 }, pool.pool, raw),
    ]
  },
}

interface Compared {
  name: string
  /** Number of events per request, or of events that are published concurrently. */
  count: number
  atLeast: number
}

const compare = async ({ name, count, atLeast }: Compared, pool: Pool, raw: NatsPublisher): Promise<Comparison> => {
  const sendSome = () => send(pool, freshEvents(count))
  const publishSome = () => publish(raw, freshEvents(count))
  await perSecond(sendSome, warmUpMs, inFlight / count)
  const [ours, reference]: [number[], number[]] = [[], []]
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    reference.push(await perSecond(publishSome, measuredMs, inFlight / count))
    ours.push(await perSecond(sendSome, measuredMs, inFlight / count))
  }
  return { name: `${name}, relative to publishing directly`, unit: 'events/s', ours, reference, bar: { atLeast } }
}

/** A publisher that uses only the NATS client. */
interface NatsPublisher extends AsyncDisposable {
  publish(id: string, body: Uint8Array): Promise<unknown>
}

const openNatsPublisher = async (url: string): Promise<NatsPublisher> => {
  const endpoint = { caller: 'ingest', instance: 'bench' } as const
  // Opening the queue creates the streams of the product.
  await using _queue = await openNatsQueue({ url, replicas: 1 }, endpoint)
  const { connection } = await connectToNats({ url }, endpoint)
  const jetStream = connection.jetstream()
  return {
    publish: (msgID, body) => jetStream.publish('inbound.bench', body, { msgID }),
    [Symbol.asyncDispose]: () => connection.close(),
  }
}

const publish = async (raw: NatsPublisher, events: readonly { id: string }[]): Promise<number> => {
  await Promise.all(events.map((event) => raw.publish(event.id, Buffer.from(JSON.stringify(event)))))
  return events.length
}

let last = 0
/** Returns events with new ids. */
const freshEvents = (count: number) => Array.from({ length: count }, () => eventOf(`e${(last += 1)}`))

/** Returns an event of about half a kilobyte, like those of Alertmanager. */
const eventOf = (id: string) => ({
  id,
  source: 'bench',
  title: 'Disk almost full',
  status: 'firing',
  severity: 'info',
  host: 'db-1',
  description: 'x'.repeat(350),
})

const send = async (pool: Pool, events: readonly unknown[]): Promise<number> => {
  const { statusCode, body } = await pool.request({
    path: '/api/events/ingest',
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(events.length === 1 ? events[0] : events),
  })
  const text = await body.text()
  if (statusCode !== 202) throw new Error(`ingest request failed: status ${statusCode}: ${text}`)
  return events.length
}

/** Returns the events per second with a constant number of concurrent operations. */
const perSecond = async (work: () => Promise<number>, lengthMs: number, workers: number): Promise<number> => {
  const began = performance.now()
  const end = began + lengthMs
  let done = 0
  const worker = async () => {
    while (performance.now() < end) {
      const count = await work()
      done += count
    }
  }
  await Promise.all(Array.from({ length: workers }, worker))
  return (done * 1000) / (performance.now() - began)
}

const opened = (origin: string): { pool: Pool } & AsyncDisposable => {
  const pool = new Pool(origin, { connections })
  return { pool, [Symbol.asyncDispose]: () => pool.close() }
}
