import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openOutageLog } from '../../telemetry/outage.ts'
import { type NatsHubOptions, connectToNats } from '../nats-connection.ts'
import type { ServiceInstance } from '../wire.ts'
import { type QueueLimits, defaultQueueLimits } from './limits.ts'
import { parseServerAddress } from './nats-failure.ts'
import { ensureConsumer, ensureStreams, openJetStream } from './nats-streams.ts'
import { consumerPlans } from './stream-access.ts'
import { streamNames } from './streams.ts'

interface InstallerOptions extends NatsHubOptions {
  /** Number of replicas of each message. */
  replicas: number
  log?: Logger | undefined
  limits?: Partial<QueueLimits>
}

/**
 * A background task that ensures that all streams and consumers exist, and recreates lost ones, until it is disposed.
 */
export interface StreamInstaller extends AsyncDisposable {
  /** Why streams or consumers cannot be created, with the remedy; undefined after they were created. */
  readonly problem: string | undefined
}

/** Interval between checks of the streams, because a server can lose its data without losing the connection. */
const checkEveryMs = 60_000

/**
 * Creates all streams and consumers, and recreates them if the server loses them, until disposed. Throws `unavailable`
 * if the server cannot be reached.
 */
export const keepStreamsInstalled = async (
  options: InstallerOptions,
  endpoint: ServiceInstance,
): Promise<StreamInstaller> => {
  const { replicas, log } = options
  const limits = { ...defaultQueueLimits, ...options.limits }
  const { connection } = await connectToNats(options, endpoint)
  const stop = new AbortController()
  let problem: string | undefined
  const outage = openOutageLog(log, { begins: 'creating streams failed', ends: 'creating streams recovered' })
  const install = async (): Promise<void> => {
    const manager = await openJetStream(connection)
    await ensureStreams(manager, streamNames, { address: parseServerAddress(options.url), limits, replicas })
    for (const consumer of consumerPlans) await ensureConsumer(manager, consumer, limits)
  }
  let reconnect = Promise.withResolvers<void>()
  const run = async () => {
    while (!stop.signal.aborted) {
      let againMs = checkEveryMs
      try {
        await install()
        problem = undefined
        outage.worked()
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error)
        if (!stop.signal.aborted) outage.failed(error)
        againMs = limits.retryMs
      }
      await Promise.race([reconnect.promise, wait(againMs, undefined, { signal: stop.signal }).catch(() => {})])
    }
  }
  void (async () => {
    for await (const { type } of connection.status()) {
      if (type !== 'reconnect') continue
      reconnect.resolve()
      reconnect = Promise.withResolvers<void>()
    }
  })()
  const ran = run()
  return {
    get problem() {
      return problem
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await connection.close()
      await ran
    },
  }
}
