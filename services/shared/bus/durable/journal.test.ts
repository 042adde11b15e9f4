import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { type Database, openDatabase } from '../../store/sql/connection.ts'
import type { StateDatabase } from '../../store/sql/state-database.ts'
import { waitUntil } from '../conformance/implementations.suite.ts'
import type { Journal } from './journal.ts'
import { openJournaledQueues } from './memory-queue.ts'
import type { MessageOutcome, Queue } from './queue.ts'
import { openSqlJournal } from './sql-journal.ts'

const Body = z.object({ text: z.string() })
const channel = { stream: 'EVENTS', name: 'webhook', subjects: 'inbound.webhook.>', body: Body } as const
const publish = (queue: Queue, text: string, subject = 'inbound.webhook.default') =>
  queue.publish(subject, { id: text, body: { text } })

/** Starts a consumer that records its messages. */
const consume = async (
  queue: Queue,
  outcome: MessageOutcome = 'done',
  consumer: Parameters<Queue['consume']>[0] = channel,
) => {
  const seen: string[] = []
  await queue.consume({ ...consumer, body: Body }, async ({ body }) => {
    seen.push(body.text)
    return outcome
  })
  return seen
}

describe('a queue with a journal', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'watchhouse-journal-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  const where = (): StateDatabase => {
    const url = `file:${join(directory, 'state.db')}`
    return { kind: 'sqlite', url, token: undefined, tablePrefix: '' }
  }
  const openJournal = async (opened: AsyncDisposableStack): Promise<Journal> =>
    opened.use(await openSqlJournal(opened.use(await openDatabase(where())), undefined))
  /** Runs `work` with a newly opened queue and journal, as after a restart of the process. */
  const inProcess = async (work: (queue: Queue) => Promise<void>, change = (journal: Journal) => journal) => {
    await using opened = new AsyncDisposableStack()
    const open = await openJournaledQueues({
      journal: change(await openJournal(opened)),
      limits: { failedAgainMs: 20 },
    })
    await work(opened.use(await open()))
  }

  it('delivers unhandled messages after a restart, in order, and no others', async () => {
    await inProcess(async (queue) => {
      for (const text of ['one', 'two', 'three']) await publish(queue, text)
      await queue.publish('inbound.paging.default', { id: 'page', body: { text: 'page' } })
      const paged = await consume(queue, 'done', { ...channel, name: 'paging', subjects: 'inbound.paging.>' })
      await waitUntil(() => paged.length === 1)
      // The redelivery is due long after the end of this process.
      const seen = await consume(queue, { againInMs: 60_000 })
      await waitUntil(() => seen.length === 3)
    })
    await inProcess(async (queue) => {
      const paged = await consume(queue, 'done', { ...channel, name: 'paging', subjects: 'inbound.paging.>' })
      const seen = await consume(queue)
      await waitUntil(() => seen.length === 3)
      expect([seen, paged]).toEqual([['one', 'two', 'three'], []])
    })
    await inProcess(async (queue) => {
      const seen = await consume(queue)
      await publish(queue, 'four')
      await waitUntil(() => seen.length === 1)
      expect(seen).toEqual(['four'])
    })
  })

  it('detects duplicates of waiting messages after a restart', async () => {
    await inProcess(async (queue) => void (await publish(queue, 'one')))
    await inProcess(async (queue) => {
      expect(await publish(queue, 'one')).toEqual({ duplicate: true })
    })
  })

  it('stores an event until each consumer that existed at its arrival has received it', async () => {
    const events = { stream: 'EVENTS', subjects: 'inbound.>', body: Body } as const
    await inProcess(async (queue) => {
      for (const name of ['alerts', 'keeper']) await consume(queue, { againInMs: 60_000 }, { ...events, name })
      await publish(queue, 'disk', 'inbound.grafana')
    })
    await inProcess(async (queue) => {
      const first = await consume(queue, 'done', { ...events, name: 'alerts' })
      await waitUntil(() => first.length === 1)
      const second = await consume(queue, 'done', { ...events, name: 'keeper' })
      await waitUntil(() => second.length === 1)
      expect([first, second]).toEqual([['disk'], ['disk']])
    })
  })

  it('keeps the ids of dead letters over a restart, and does not restore removed ones', async () => {
    const ids: string[] = []
    await inProcess(async (queue) => {
      await consume(queue, { dead: 'invalid' })
      for (const text of ['one', 'two']) await publish(queue, text)
      await waitUntil(async () => (await queue.dead.EVENTS.list({ limit: 10 })).letters.length === 2)
      const { letters } = await queue.dead.EVENTS.list({ limit: 10 })
      ids.push(...letters.map(({ id }) => id))
      expect(await queue.dead.EVENTS.remove(ids[0] ?? '')).toBe(true)
    })
    await inProcess(async (queue) => {
      const { letters } = await queue.dead.EVENTS.list({ limit: 10 })
      expect(letters).toMatchObject([{ id: ids[1], reason: 'invalid', body: { text: 'one' } }])
    })
  })

  it('rejects events while the database is unavailable', async () => {
    const away = (journal: Journal): Journal => ({
      ...journal,
      keep: async () => {
        throw new ServiceError('unavailable', 'the state database does not answer')
      },
    })
    await inProcess(async (queue) => {
      const refused = { code: 'unavailable' }
      await expect(publish(queue, 'disk', 'inbound.grafana')).rejects.toMatchObject(refused)
      await expect(publish(queue, 'disk', 'inbound.grafana')).rejects.toMatchObject(refused)
    }, away)
  })

  it('rejects a repeated event whose first copy could not be stored, and accepts it afterwards', async () => {
    const { promise, reject } = Promise.withResolvers<void>()
    let isFirst = true
    const slow = (journal: Journal): Journal => ({
      ...journal,
      keep: async (message) => {
        if (!isFirst) return journal.keep(message)
        isFirst = false
        return promise
      },
    })
    await inProcess(async (queue) => {
      const both = [publish(queue, 'disk', 'inbound.grafana'), publish(queue, 'disk', 'inbound.grafana')]
      reject(new ServiceError('unavailable', 'the state database does not answer'))
      const ended = await Promise.allSettled(both)
      expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      expect(await publish(queue, 'disk', 'inbound.grafana')).toEqual({ duplicate: false })
    }, slow)
  })

  it('retries a failed removal with the next one', async () => {
    await using opened = new AsyncDisposableStack()
    const database = opened.use(await openDatabase(where()))
    let isAway = false
    const passing: Database = {
      ...database,
      run: (work) => (isAway ? Promise.reject(new ServiceError('unavailable', 'away')) : database.run(work)),
    }
    const journal = await openSqlJournal(passing, undefined)
    const message = { stream: 'EVENTS', subject: 'inbound.a', body: Buffer.from('{}'), cameAtMs: Date.now() } as const
    for (const key of ['a', 'b', 'c']) await journal.keep({ ...message, key, id: key, sequence: 1, waiting: [] })
    isAway = true
    await journal.forget('a')
    isAway = false
    expect((await journal.load()).map(({ key }) => key)).toEqual(['a', 'b', 'c'])
    await journal.forget('c')
    expect((await journal.load()).map(({ key }) => key)).toEqual(['b'])
  })

  it('drops messages that are older than the maximum age of their stream', async () => {
    await using opened = new AsyncDisposableStack()
    const journal = await openJournal(opened)
    const old = Date.now() - 3 * 86_400_000
    const message = { subject: 'inbound.a', body: Buffer.from('{}'), cameAtMs: old, waiting: [], sequence: 1 }
    await journal.keep({ ...message, stream: 'EVENTS', key: 'a', id: 'a' })
    await journal.keep({ ...message, stream: 'EVENTS_DLQ', key: 'b', id: 'a' })
    expect((await journal.load()).map(({ key }) => key)).toEqual(['b'])
  })
})
