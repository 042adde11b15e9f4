import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { startNats, startPostgres, type TestServer } from '../../../testing/describe-with.ts'
import { openDatabase } from '../../store/sql/connection.ts'
import type { StateDatabase } from '../../store/sql/state-database.ts'
import type { QueueLimits } from './limits.ts'
import { openJournaledQueues, openMemoryQueues } from './memory-queue.ts'
import { openNatsQueue } from './nats-queue.ts'
import type { Queue } from './queue.ts'
import { openSqlJournal } from './sql-journal.ts'

/** One kind of queue under test. */
export interface QueueImplementation {
  name: string
  needs: readonly ('nats' | 'postgres')[]
  start(): Promise<QueueTestServer>
}

/** The server or memory that the queues of a test share. */
export interface QueueTestServer extends AsyncDisposable {
  server: TestServer | undefined
  /** Starts the next test: removes messages of earlier tests and sets the limits of queues opened afterwards. */
  next(limits?: Partial<QueueLimits>): Promise<void>
  open(log?: Logger): Promise<Queue>
}

/** Limits with short times, so that tests do not wait long for redeliveries. */
const shortLimits: Partial<QueueLimits> = { ackWaitMs: 600, failedAgainMs: 20, retryMs: 50 }

const memory: QueueImplementation = {
  name: 'memory',
  needs: [],
  async start() {
    let open = openMemoryQueues(shortLimits)
    return {
      server: undefined,
      next: async (limits) => {
        open = openMemoryQueues({ ...shortLimits, ...limits })
      },
      open: (log) => open(log),
      [Symbol.asyncDispose]: async () => {},
    }
  },
}

/** Returns queues in memory with a journal; each test has its own tables. */
const createJournaledImplementation = (
  name: string,
  needs: QueueImplementation['needs'],
  serve: () => Promise<AsyncDisposable & Pick<StateDatabase, 'kind' | 'url'>>,
): QueueImplementation => ({
  name,
  needs,
  async start() {
    const server = await serve()
    let opened = new AsyncDisposableStack()
    let tests = 0
    const begin = async (limits?: Partial<QueueLimits>) => {
      tests += 1
      const where = { kind: server.kind, url: server.url, token: undefined, tablePrefix: `q${tests}_` }
      const journal = await openSqlJournal(opened.use(await openDatabase(where)), undefined)
      return openJournaledQueues({ journal: opened.use(journal), limits: { ...shortLimits, ...limits } })
    }
    let open = await begin()
    return {
      server: undefined,
      async next(limits) {
        await opened.disposeAsync()
        opened = new AsyncDisposableStack()
        open = await begin(limits)
      },
      open: (log) => open(log),
      async [Symbol.asyncDispose]() {
        await opened.disposeAsync()
        await server[Symbol.asyncDispose]()
      },
    }
  },
})

const libsql = createJournaledImplementation('memory beside libSQL', [], async () => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-queue-'))
  const url = `file:${join(directory, 'state.db')}`
  return { kind: 'sqlite', url, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) }
})

const postgres = createJournaledImplementation('memory beside PostgreSQL', ['postgres'], async () => {
  const server = await startPostgres()
  return { kind: 'postgres', url: server.url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
})

const nats: QueueImplementation = {
  name: 'JetStream',
  needs: ['nats'],
  async start() {
    let server = await startNats({ private: true })
    let limits = shortLimits
    let opened = 0
    return {
      get server() {
        return server
      },
      async next(chosen) {
        await server.stop()
        server = await startNats({ private: true })
        limits = { ...shortLimits, ...chosen }
      },
      open(log) {
        opened += 1
        const endpoint = { caller: 'alert-dispatcher', instance: `a${opened}` } as const
        return openNatsQueue({ url: server.url, replicas: 1, limits, log }, endpoint)
      },
      [Symbol.asyncDispose]: () => server.stop(),
    }
  },
}

/** All kinds of queues. */
export const queueImplementations: readonly QueueImplementation[] = [memory, libsql, postgres, nats]
