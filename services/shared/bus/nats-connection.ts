import type { Logger } from 'pino'
import type { ConnectionOptions, MsgHdrs, MsgHdrsImpl, NatsConnection } from 'nats'
import { ServiceError } from '#proto/errors.ts'
import { formatInboxPrefix, instanceNamePattern } from './subject.ts'
import type { ServiceInstance, WireHeaders } from './wire.ts'

/** Converts headers to those of the NATS client. Throws if a value contains a line break. */
export type HeaderEncoder = (headers: WireHeaders) => MsgHdrs

/**
 * Returns an encoder of headers. It does not validate names, which are constants: the client would check each
 * character.
 */
export const createHeaderEncoder =
  ({ fromRecord }: typeof MsgHdrsImpl): HeaderEncoder =>
  (headers) => {
    const lines: Record<string, string[]> = {}
    for (const name in headers) lines[name] = [requireOneLine(headers[name] ?? '')]
    return fromRecord(lines)
  }

const requireOneLine = (value: string): string => {
  if (/[\r\n]/.test(value)) throw new Error('invalid header: its value contains a line break')
  return value
}

/** Address and credentials of a NATS server. User and password may also be part of the URL. */
export interface NatsHubOptions {
  /** One or several comma-separated addresses. */
  url: string
  user?: string | undefined
  password?: string | undefined
  /** Logs lost and restored connections, and errors that the server reports. */
  log?: Logger | undefined
}

const connectWithinMs = 5_000
/** Interval between reconnection attempts, short enough to reach a restarted server before callers give up. */
const reconnectEveryMs = 200
/** Interval of pings. After two missed ones, the connection to an unresponsive server closes within 30 seconds. */
const pingEveryMs = 10_000
const maxUnansweredPings = 2
const minPayloadBytes = 1_000_000

/**
 * Connects to NATS with the name and inbox of the endpoint; loads the client on first use. Throws `unavailable` if the
 * server cannot be reached, rejects the user, or lacks a required feature.
 */
export const connectToNats = async (options: NatsHubOptions, endpoint: ServiceInstance) => {
  const nats = await import('nats')
  const known = splitCredentials(options)
  const inbox = formatInboxPrefix(
    isPartOf(endpoint.caller, known.user) ? known.user : endpoint.caller,
    endpoint.instance,
  )
  const settings: ConnectionOptions = {
    ...known,
    name: `${endpoint.caller}.${endpoint.instance}`,
    inboxPrefix: inbox,
    timeout: connectWithinMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectEveryMs,
    reconnectJitter: reconnectEveryMs / 2,
    pingInterval: pingEveryMs,
    maxPingOut: maxUnansweredPings,
    // Capturing a stack trace per request costs 10 % of the time of a message, and errors name the request anyway.
    noAsyncTraces: true,
  }
  const connection = await nats.connect(settings).catch((cause: unknown) => {
    const sentence = `cannot connect to NATS at ${String(settings.servers)}: ${describeConnectionFailure(cause)}`
    throw new ServiceError('unavailable', sentence, { cause })
  })
  const missing = findMissingFeature(connection)
  if (missing === undefined) return { connection, inbox, nats }
  await connection.close()
  throw new ServiceError('unavailable', `the NATS server ${missing}`)
}

/** Returns why a connection failed, with a remedy, by the error code of the client. */
const describeConnectionFailure = (cause: unknown): string => {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return connectionFailureCauses[code] ?? String(cause)
}

const wrongUserCause = 'the server rejects the user or the password; check both'

const connectionFailureCauses: Readonly<Record<string, string>> = {
  CONNECTION_REFUSED: 'connection refused; check that the server is running and that its address is correct',
  TIMEOUT: 'no response in time; check that the server is running and reachable over the network',
  ENOTFOUND: 'unknown host name; check the address and the DNS server',
  EAI_AGAIN: 'unknown host name; check the address and the DNS server',
  AUTHORIZATION_VIOLATION: wrongUserCause,
  AUTHENTICATION_EXPIRED: wrongUserCause,
}

/** Logs that a connection was lost or restored. */
export const logConnection = (log: Logger | undefined, connected: boolean): void => {
  if (connected) log?.info('connection to NATS restored')
  else log?.warn('connection to NATS lost')
}

/** Returns whether a user is a restricted user of a service, such as `query-guest`, which has its own inbox. */
const isPartOf = (service: string, user: string | undefined): user is string =>
  user !== undefined && user.startsWith(`${service}-`) && instanceNamePattern.test(user)

/** Returns addresses and credentials separately, as the client expects them. */
const splitCredentials = ({ url, user, password }: NatsHubOptions): ConnectionOptions => {
  const addresses = url.split(',').map((address) => new URL(address.trim()))
  const [first] = addresses
  const name = user ?? decodeURIComponent(first?.username ?? '')
  return {
    servers: addresses.map(({ host }) => host),
    ...(name !== '' && { user: name, pass: password ?? decodeURIComponent(first?.password ?? '') }),
    ...(first?.protocol === 'tls:' && { tls: {} }),
  }
}

/** Returns the required feature that a server lacks, as the end of an error message; undefined if it has all. */
const findMissingFeature = ({ info }: NatsConnection): string | undefined => {
  if (!info?.headers) return 'is older than 2.2 and does not support headers; upgrade it'
  if (info.max_payload >= minPayloadBytes) return undefined
  return `has max_payload ${info.max_payload}; max_payload must be at least ${minPayloadBytes} bytes`
}
