import type { Logger } from 'pino'
import { startNats, type TestServer } from '../../../acceptance/servers.ts'
import type { QueueLimits } from './limits.ts'
import { openMemoryQueues } from './memory-queue.ts'
import { openNatsQueue } from './nats-queue.ts'
import type { Queue } from './queue.ts'

/** One kind of queue under test. */
export interface Implementation {
  name: string
  needs: readonly 'nats'[]
  start(): Promise<Place>
}

/** Where the queues of a test meet. */
export interface Place extends AsyncDisposable {
  server: TestServer | undefined
  /** Forgets what earlier tests left; handles opened afterwards share these limits. */
  next(limits?: Partial<QueueLimits>): Promise<void>
  open(log?: Logger): Promise<Queue>
}

/** Short, so that no test waits long for what a server does by itself. */
const brief: Partial<QueueLimits> = { ackWaitMs: 600, failedAgainMs: 20, retryMs: 50, publishWithinMs: 1_000 }

const memory: Implementation = {
  name: 'memory',
  needs: [],
  async start() {
    let open = openMemoryQueues(brief)
    return {
      server: undefined,
      next: async (limits) => {
        open = openMemoryQueues({ ...brief, ...limits })
      },
      open: (log) => open(log),
      [Symbol.asyncDispose]: async () => {},
    }
  },
}

const nats: Implementation = {
  name: 'JetStream',
  needs: ['nats'],
  async start() {
    let server = await startNats({ private: true })
    let limits = brief
    let opened = 0
    return {
      get server() {
        return server
      },
      async next(chosen) {
        await server.stop()
        server = await startNats({ private: true })
        limits = { ...brief, ...chosen }
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

/** Every kind of queue there is. */
export const implementations: readonly Implementation[] = [memory, nats]
