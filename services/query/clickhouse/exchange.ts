import { randomUUID } from 'node:crypto'
import { ServiceError } from '#proto/errors.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { maxAnswerBytes, maxShortAnswerBytes, readFailure } from './answer.ts'
import type { Connections } from './connections.ts'
import { answerFailure, clickhouseCode, connectionFailure, hostFailure, silentKeeper } from './failure.ts'
import type { HostBody } from './host-body.ts'
import type { PoolSettings } from './limits.ts'
import { type Begun, BodyTooLong, type HostRequest, isReset } from './reading.ts'
import type { Sending, Statement } from './statement.ts'
import type { TimeLimit } from './time-limit.ts'

/** What one exchange with a host needs to know besides the statement. */
interface Terms extends Sending {
  pool: PoolSettings
  limit: TimeLimit
  reserved?: boolean
  /** Called with everything that comes. */
  heard?: () => void
}

/** A host that has begun to answer. `body` fails with a `ServiceError`. */
export interface Exchange extends Pick<Begun, 'headers' | 'body'> {
  queryId: string
}

/** A host that has answered in full. */
export interface WholeExchange {
  queryId: string
  text: string
}

type Sent = (queryId: string) => void

const nobodyWaits = (): void => undefined

/** Sends a statement and waits for the head of a good answer. Every failure is a `ServiceError`. */
export const exchange = async (
  connections: Connections,
  host: MonitoredHost,
  statement: Statement,
  terms: Terms,
  sent: Sent,
): Promise<Exchange> => {
  const carrying = { ...carryingOf(terms), heard: terms.heard ?? nobodyWaits }
  const { queryId, answer } = await sendTwice(host, statement, terms, sent, (request) =>
    connections.begin(host, request, carrying),
  )
  const body = translatedBody(host, answer.body, terms.limit)
  if (answer.statusCode !== 200) throw refusal(host, statement, answer.statusCode, await readFailure(body))
  return { queryId, headers: answer.headers, body }
}

/** Sends a statement and waits for the whole of a good answer. Every failure is a `ServiceError`. */
export const wholeExchange = async (
  connections: Connections,
  host: MonitoredHost,
  statement: Statement,
  terms: Terms,
  sent: Sent,
): Promise<WholeExchange> => {
  let begun = false
  const heard = (): void => {
    begun = true
    terms.heard?.()
  }
  const maxBytes = statement.short ? maxShortAnswerBytes : maxAnswerBytes
  const carrying = { ...carryingOf(terms), heard, maxBytes, reserved: terms.reserved ?? false }
  const { queryId, answer } = await sendTwice(
    host,
    statement,
    terms,
    sent,
    (request) => connections.gather(host, request, carrying),
    () => begun,
  )
  const text = answer.body.toString('utf8')
  if (answer.statusCode !== 200) throw refusal(host, statement, answer.statusCode, text)
  return { queryId, text }
}

const carryingOf = ({ limit, pool }: Terms) => ({ signal: limit.signal, pool })

const timeExceeded = 159

/** A host that did not get an answer from Keeper in the time it was given says only that the time is over. */
const refusal = (host: MonitoredHost, { readsKeeper }: Statement, status: number, text: string): ServiceError => {
  const failure = answerFailure(host, status, text)
  return readsKeeper && clickhouseCode(failure) === timeExceeded ? silentKeeper(host) : failure
}

/** Sends a statement that only reads once more when the connection turned out to be closed before any answer had begun. */
const sendTwice = async <T>(
  host: MonitoredHost,
  statement: Statement,
  terms: Terms,
  sent: Sent,
  send: (request: HostRequest) => Promise<T>,
  begun: () => boolean = () => false,
): Promise<{ queryId: string; answer: T }> => {
  const { limit } = terms
  for (let isFirst = true; ; isFirst = false) {
    const queryId = randomUUID()
    sent(queryId)
    try {
      return { queryId, answer: await send({ statement, queryId, sending: terms }) }
    } catch (error) {
      const mayHaveRun = statement.writes || begun() || limit.signal.aborted
      if (statement.short && error instanceof BodyTooLong) throw hostFailure(host, 'garbage', error)
      if (!isFirst || !isReset(error) || mayHaveRun) throw translated(host, error, limit)
    }
  }
}

const translatedBody = (host: MonitoredHost, { take, leave }: HostBody, limit: TimeLimit): HostBody => ({
  leave,
  async take(left) {
    try {
      return await take(left)
    } catch (error) {
      throw translated(host, error, limit)
    }
  },
})

const translated = (host: MonitoredHost, error: unknown, limit: TimeLimit): unknown => {
  if (limit.signal.aborted) return limit.signal.reason
  if (error instanceof ServiceError) return error
  if (error instanceof BodyTooLong)
    return new ServiceError('too-large', `host ${host.name} sent more than ${maxAnswerBytes} bytes`)
  return connectionFailure(host, error)
}
