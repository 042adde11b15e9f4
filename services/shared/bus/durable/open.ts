import type { Logger } from 'pino'
import type { Environment } from '../../config/environment.ts'
import { openStateDatabase } from '../../store/sql/state-database.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { ServiceInstance } from '../wire.ts'
import { type OpenMemoryQueue, openJournaledQueues, openMemoryQueues } from './memory-queue.ts'
import type { Queue } from './queue.ts'

interface QueuesOptions {
  /** URL of the NATS server; undefined keeps messages in memory, and in the state database if there is one. */
  url: string | undefined
  /** URL of the same server with the user for streams; if set, `gateway` creates the streams. */
  streamsUrl: string | undefined
  replicas: number
  env: Environment
  log: Logger
}

/** Opens one queue per service of this process. It must be disposed after all of its queues. */
export interface QueueFactory extends AsyncDisposable {
  /** Opens the queue of a service, with its name and log. */
  open(endpoint: ServiceInstance, telemetry: Pick<Telemetry, 'log' | 'metrics'>): Promise<Queue>
}

/** Returns a factory of queues: on JetStream if `url` is set, otherwise in memory. */
export const openQueueFactory = ({ url, streamsUrl, replicas, env, log }: QueuesOptions): QueueFactory => {
  if (url === undefined) return openMemoryQueuesOfProcess(env, log)
  return {
    async open(endpoint, { log, metrics }) {
      const { openNatsQueue } = await import('./nats-queue.ts')
      const creates = streamsUrl === undefined
      return openNatsQueue({ url: streamsUrl ?? url, replicas, creates, log, metrics }, endpoint)
    },
    [Symbol.asyncDispose]: async () => {},
  }
}

const openMemoryQueuesOfProcess = (env: Environment, log: Logger): QueueFactory => {
  const opened = new AsyncDisposableStack()
  let opening: Promise<OpenMemoryQueue> | undefined
  return {
    async open(_endpoint, { log: own, metrics }) {
      // Opened on first use, because a process without a queue needs no database.
      opening ??= openMemoryQueueOpener(env, log, opened)
      return (await opening)(own, metrics)
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const openMemoryQueueOpener = async (
  env: Environment,
  log: Logger,
  opened: AsyncDisposableStack,
): Promise<OpenMemoryQueue> => {
  const database = await openStateDatabase(env, log)
  if (!database) return openMemoryQueues()
  opened.use(database)
  const { openSqlJournal } = await import('./sql-journal.ts')
  return openJournaledQueues({ journal: opened.use(await openSqlJournal(database, log)), log })
}
