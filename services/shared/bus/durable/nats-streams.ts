import type { ConsumerConfig, ConsumerInfo, JetStreamManager, NatsConnection, StreamConfig } from 'nats'
import { ServiceError } from '#proto/errors.ts'
import type { QueueLimits } from './limits.ts'
import { describeJetStreamError, formatServerName } from './nats-failure.ts'
import type { ConsumerPlan } from './stream-access.ts'
import { type AnyStreamName, streamConfigs } from './streams.ts'

const nanosecondsPerMs = 1_000_000

/** Converts milliseconds to nanoseconds, the unit of JetStream. */
export const toNanoseconds = (ms: number): number => Math.round(ms * nanosecondsPerMs)

/** Minimum server version, which supports named pull consumers and delayed negative acknowledgements. */
const minServerVersion = [2, 9, 4] as const

/** Opens JetStream and checks the server; throws `unavailable` with the missing requirement. */
export const openJetStream = async (connection: NatsConnection): Promise<JetStreamManager> => {
  const version = connection.info?.version ?? ''
  if (!isAtLeast(version, minServerVersion))
    throw new ServiceError(
      'unavailable',
      `NATS server ${version} is too old; use ${minServerVersion.join('.')} or later`,
    )
  return connection.jetstreamManager().catch((cause: unknown) => {
    throw new ServiceError(
      'unavailable',
      'the NATS server offers no JetStream to this user; enable JetStream for its account',
      { cause },
    )
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

/** Creates the streams, or updates the configuration of existing ones; their messages are kept. */
export const ensureStreams = async (
  manager: JetStreamManager,
  names: readonly AnyStreamName[],
  { address, limits, replicas }: { address: string; limits: QueueLimits; replicas: number },
): Promise<void> => {
  for (const name of names) {
    await ensureStream(manager, createStreamConfig(name, limits, replicas)).catch((cause: unknown) => {
      const code = readApiError(cause)?.err_code ?? 0
      const said = cause instanceof Error ? cause.message : String(cause)
      const size = `${Math.round(limits.maxBytes[name] / 1024 / 1024)} MiB`
      const sentence = `${formatServerName(address)} refuses the stream ${name} (${size}): ${describeJetStreamError(code, said)}`
      throw new ServiceError('unavailable', sentence, { cause })
    })
  }
}

/** Creates a consumer unless it exists. */
export const ensureConsumer = (
  manager: JetStreamManager,
  { stream, name, subjects }: Pick<ConsumerPlan, 'stream' | 'name' | 'subjects'>,
  { ackWaitMs, maxPending }: QueueLimits,
): Promise<ConsumerInfo> => {
  // The cast is safe: the enumerations of the client have these values.
  const words = { ack_policy: 'explicit', deliver_policy: 'all' } as Pick<
    ConsumerConfig,
    'ack_policy' | 'deliver_policy'
  >
  return manager.consumers.add(stream, {
    ...words,
    durable_name: name,
    filter_subject: subjects,
    ack_wait: toNanoseconds(ackWaitMs),
    max_ack_pending: maxPending,
    // The queue itself dead-letters messages. With a limit on the server, their delivery would silently stop.
    max_deliver: -1,
  })
}

/** Creates or updates a stream. JetStream accepts that a concurrent process creates the same stream. */
const ensureStream = async (
  manager: JetStreamManager,
  config: ReturnType<typeof createStreamConfig>,
): Promise<void> => {
  const known = await manager.streams.info(config.name).catch((error: unknown) => {
    if (isJetStreamNotFoundError(error)) return undefined
    throw error
  })
  if (known === undefined) await manager.streams.add(config)
  else await manager.streams.update(config.name, { ...known.config, ...config })
}

const createStreamConfig = (
  name: AnyStreamName,
  limits: QueueLimits,
  replicas: number,
): Partial<StreamConfig> & { name: string } => {
  const config = streamConfigs[name]
  // The enumerations of the client have these values; importing them would load the client in processes without NATS.
  const words = {
    retention: 'limits',
    storage: 'file',
    discard: config.whenFull === 'refuse' ? 'new' : 'old',
  } as Pick<StreamConfig, 'retention' | 'storage' | 'discard'>
  return {
    name,
    subjects: [...config.subjects],
    ...words,
    max_age: toNanoseconds(config.maxAgeMs),
    max_bytes: limits.maxBytes[name],
    duplicate_window: toNanoseconds(limits.duplicateWindowMs[name]),
    num_replicas: replicas,
  }
}

const notFoundStatus = 404
/** The error code of JetStream for deleting a message that does not exist. */
const messageNotFoundCode = 10_043

/** Returns whether JetStream reports that the requested object does not exist. */
export const isJetStreamNotFoundError = (error: unknown): boolean => {
  const { code, err_code: detail } = readApiError(error) ?? {}
  return code === notFoundStatus || detail === messageNotFoundCode
}

/** Returns the error in a response of JetStream; undefined for any other error. */
const readApiError = (error: unknown): { code: number; err_code?: number } | undefined => {
  if (!(error instanceof Error) || !('api_error' in error)) return undefined
  const { api_error: given } = error
  if (typeof given !== 'object' || given === null || !('code' in given) || typeof given.code !== 'number')
    return undefined
  return 'err_code' in given && typeof given.err_code === 'number'
    ? { code: given.code, err_code: given.err_code }
    : { code: given.code }
}
