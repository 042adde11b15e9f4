import type { ConsumerConfig, ConsumerInfo, JetStreamManager, NatsConnection, StreamConfig } from 'nats'
import { ServiceError } from '#proto/errors.ts'
import type { QueueLimits } from './limits.ts'
import { causeOf, serverName } from './nats-failure.ts'
import type { ConsumerPlan } from './roles.ts'
import { type AnyStream, streams } from './streams.ts'

const nanosecondsPerMs = 1_000_000

/** Milliseconds as JetStream counts time. */
export const nanoseconds = (ms: number): number => Math.round(ms * nanosecondsPerMs)

/** The first server version with all that the queue needs: pull consumers by name, a delay when a message is put back. */
const leastVersion = [2, 9, 4] as const

/** JetStream of this connection, checked; throws `unavailable` with what is missing. */
export const openJetStream = async (connection: NatsConnection): Promise<JetStreamManager> => {
  const version = connection.info?.version ?? ''
  if (!isAtLeast(version, leastVersion))
    throw new ServiceError('unavailable', `the NATS server is ${version}; the queue needs ${leastVersion.join('.')}`)
  return connection.jetstreamManager().catch((cause: unknown) => {
    throw new ServiceError('unavailable', 'the NATS server offers no JetStream to this user', { cause })
  })
}

const isAtLeast = (version: string, least: readonly number[]): boolean => {
  const given = version.split('.').map((part) => Number.parseInt(part, 10))
  for (const [index, wanted] of least.entries()) {
    const part = given[index] ?? 0
    if (part !== wanted) return part > wanted
  }
  return true
}

/** Makes the streams as they should be, or brings those that exist up to date; what they hold stays. */
export const ensureStreams = async (
  manager: JetStreamManager,
  names: readonly AnyStream[],
  { address, limits, replicas }: { address: string; limits: QueueLimits; replicas: number },
): Promise<void> => {
  for (const name of names) {
    await ensureStream(manager, configOf(name, limits, replicas)).catch((cause: unknown) => {
      const code = apiErrorOf(cause)?.err_code ?? 0
      const said = cause instanceof Error ? cause.message : String(cause)
      const size = `${Math.round(limits.maxBytes[name] / 1024 / 1024)} MiB`
      const sentence = `${serverName(address)} refuses the stream ${name} (${size}): ${causeOf(code, said)}`
      throw new ServiceError('unavailable', sentence, { cause })
    })
  }
}

/** Creates a consumer, or does nothing when it is there. */
export const ensureConsumer = (
  manager: JetStreamManager,
  { stream, name, subjects }: Pick<ConsumerPlan, 'stream' | 'name' | 'subjects'>,
  { ackWaitMs, maxPending }: QueueLimits,
): Promise<ConsumerInfo> => {
  // The client's enumerations are these words.
  const words = { ack_policy: 'explicit', deliver_policy: 'all' } as Pick<
    ConsumerConfig,
    'ack_policy' | 'deliver_policy'
  >
  return manager.consumers.add(stream, {
    ...words,
    durable_name: name,
    filter_subject: subjects,
    ack_wait: nanoseconds(ackWaitMs),
    max_ack_pending: maxPending,
    // The queue decides when a message ends: the server would leave messages undelivered beyond its own limit.
    max_deliver: -1,
  })
}

/** A concurrent process requests the same stream, which JetStream accepts as done. */
const ensureStream = async (manager: JetStreamManager, config: ReturnType<typeof configOf>): Promise<void> => {
  const known = await manager.streams.info(config.name).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (known === undefined) await manager.streams.add(config)
  else await manager.streams.update(config.name, { ...known.config, ...config })
}

const configOf = (name: AnyStream, limits: QueueLimits, replicas: number): Partial<StreamConfig> & { name: string } => {
  const plan = streams[name]
  // The client's enumerations are these words; importing them would load the client where there is no server.
  const words = {
    retention: 'limits',
    storage: 'file',
    discard: plan.whenFull === 'refuse' ? 'new' : 'old',
  } as Pick<StreamConfig, 'retention' | 'storage' | 'discard'>
  return {
    name,
    subjects: [...plan.subjects],
    ...words,
    max_age: nanoseconds(plan.maxAgeMs),
    max_bytes: limits.maxBytes[name],
    duplicate_window: nanoseconds(limits.duplicateWindowMs[name]),
    num_replicas: replicas,
  }
}

const notFound = 404
/** The error code of JetStream for deleting a message that does not exist. */
const noSuchSequence = 10_043

/** Returns whether JetStream reports that the requested object does not exist. */
export const isMissing = (error: unknown): boolean => {
  const { code, err_code: detail } = apiErrorOf(error) ?? {}
  return code === notFound || detail === noSuchSequence
}

/** Returns the reason why JetStream rejected a request. */
const apiErrorOf = (error: unknown): { code: number; err_code?: number } | undefined => {
  if (!(error instanceof Error) || !('api_error' in error)) return undefined
  const { api_error: given } = error
  if (typeof given !== 'object' || given === null || !('code' in given) || typeof given.code !== 'number')
    return undefined
  return 'err_code' in given && typeof given.err_code === 'number'
    ? { code: given.code, err_code: given.err_code }
    : { code: given.code }
}
