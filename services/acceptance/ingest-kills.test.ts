// @module-tag long
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { EventsResponse, IngestResponse } from '#proto/http/events.ts'
import { InboundEvent, inboundSubjectPattern } from '#proto/inbound-event.ts'
import { openNatsQueue } from '#shared/bus/durable/nats-queue.ts'
import { retryUntil } from '../testing/fetch-json.ts'
import { type ProductProcess, startProcess } from '../testing/product/product-process.ts'
import { describeWith, startNats, startPostgres, startRedis } from '../testing/describe-with.ts'
import { reserveFreePort } from '../testing/servers/port.ts'

/** Number of times that the test kills a process. `TEST_INGEST_KILLS` sets more for a longer run. */
const kills = Number(process.env.TEST_INGEST_KILLS ?? 4)
const sendersAtOnce = 6
const everyMs = 5
const againMs = 100
const token = 'token of the senders'

/** Ids of accepted events, by event key. */
type AcceptedEvents = Map<string, string>

/** Sends events one after another until `end` aborts. Retries each event until it is accepted. */
const sendEvents = async (url: string, sender: number, promised: AcceptedEvents, end: AbortSignal): Promise<void> => {
  for (let number = 0; !end.aborted; number += 1) {
    const key = `s${sender}-${number}`
    const body = JSON.stringify({
      id: key,
      source: 'load',
      dedupKey: key,
      title: key,
      status: 'firing',
      severity: 'info',
    })
    promised.set(key, await sendUntilKept(url, body))
    await wait(everyMs)
  }
}

const sendUntilKept = async (url: string, body: string): Promise<string> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  for (;;) {
    const answer = await fetch(`${url}/api/events/ingest`, { method: 'POST', headers, body }).catch(() => undefined)
    if (answer?.status === 202) return IngestResponse.parse(await answer.json()).data.ids[0] ?? ''
    // A sender retries only after a connection failure or a 5xx status.
    if (answer !== undefined && answer.status < 500)
      throw new Error(`ingest request failed: status ${answer.status}: ${await answer.text()}`)
    await wait(againMs)
  }
}

/** Returns the ids of all events that the API lists, by event key. */
const listed = async (url: string): Promise<Map<string, string[]>> => {
  const found = new Map<string, string[]>()
  let before: string | null = ''
  while (before !== null) {
    const page = before === '' ? '' : `&before=${before}`
    const { data, metadata } = EventsResponse.parse(await (await fetch(`${url}/api/v1/events?limit=500${page}`)).json())
    for (const { dedupKey, id } of data) found.set(dedupKey, [...(found.get(dedupKey) ?? []), id])
    before = metadata.next
  }
  return found
}

const betweenKills = 50

/** Waits until more events are accepted, so that events are in flight at every kill. */
const untilMore = async (promised: AcceptedEvents): Promise<void> => {
  const wanted = promised.size + betweenKills
  await retryUntil(
    async () => promised.size,
    (size) => size >= wanted,
    60_000,
  )
}

describeWith(['nats', 'redis', 'postgres'], 'accepted events while processes are killed', () => {
  it('are each stored exactly once', { timeout: 300_000 }, async () => {
    await using scope = new AsyncDisposableStack()
    const nats = scope.use(await startNats({ private: true }))
    const redis = scope.use(await startRedis({ private: true }))
    const postgres = scope.use(await startPostgres())
    const port = await reserveFreePort()
    const variables = {
      NATS_URL: nats.url,
      REDIS_URL: redis.url,
      SVC_STATE_DB_URL: postgres.url,
      SVC_STATE_DB_TABLE_PREFIX: `k${port}_`,
      SVC_EVENTS_INGEST_TOKEN: token,
      RATE_LIMIT_INGEST_PER_MIN: '1000000',
      RATE_LIMIT_API_PER_MIN: '1000000',
      HOST: '127.0.0.1',
      PORT: String(port),
      LOG_LEVEL: 'error',
    }
    const start = async (service: string): Promise<ProductProcess> =>
      scope.use(await startProcess({ services: [service], variables, operationsPort: await reserveFreePort() }))
    const [ingest] = [await start('ingest'), await start('gateway')]
    const url = `http://127.0.0.1:${port}`

    const promised: AcceptedEvents = new Map()
    const end = new AbortController()
    const sending = Promise.all(
      Array.from({ length: sendersAtOnce }, (_, sender) => sendEvents(url, sender, promised, end.signal)),
    )
    for (let number = 0; number < kills; number += 1) {
      await untilMore(promised)
      const victim = number % 2 === 0 ? ingest : nats
      await victim.kill()
      await wait(100)
      await victim.restart()
    }
    await untilMore(promised)
    end.abort()
    await sending

    const kept = await retryUntil(
      () => listed(url),
      (found) => [...promised.keys()].every((key) => found.has(key)),
      60_000,
    )
    const often = new Map<string, number>()
    const queue = scope.use(await openNatsQueue({ url: nats.url, replicas: 1 }, { caller: 'ingest', instance: 'test' }))
    const consumer = { stream: 'EVENTS', name: 'test', subjects: inboundSubjectPattern, body: InboundEvent } as const
    scope.use(
      await queue.consume(consumer, async ({ body: { dedupKey } }) => {
        often.set(dedupKey, (often.get(dedupKey) ?? 0) + 1)
        return 'done'
      }),
    )
    await retryUntil(
      async () => often.size,
      (size) => size >= promised.size,
      30_000,
    )
    process.stdout.write(`ingest under kills: ${promised.size} events accepted, ${kills} kills, 0 lost\n`)
    expect([...promised].filter(([key, id]) => kept.get(key)?.join() !== id)).toEqual([])
    expect([...often].filter(([, count]) => count !== 1)).toEqual([])
  })
})
