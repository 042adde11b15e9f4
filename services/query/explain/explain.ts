import type { Handlers } from '#proto/contract.ts'
import { type ErrorCode, ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import { clickhouseCode, isKnownCode } from '../clickhouse/failure.ts'
import { allowedBy } from '../config.ts'
import type { Parts } from '../parts.ts'
import { explainable, explainStatement, requireKnown } from './explain-statement.ts'
import { explanation } from './plan-json.ts'

/** What a host would do with a statement. */
export const explain =
  (parts: Parts): Handlers<typeof query>['explain'] =>
  async ({ hostKey, query: asked, mode, planSettings, database }, call) => {
    const host = parts.hosts.get(hostKey)
    const statement = explainable(asked, allowedBy(parts.env))
    requireKnown(mode, host.name, (await parts.client.capabilities(host, call)).version)
    const explaining = explainStatement(statement, mode, planSettings, database)
    try {
      const answer = await parts.client.run(host, explaining, call)
      return explanation(host, statement, mode, planSettings, answer)
    } catch (error) {
      throw callersFailure(error, explaining.sql, statement)
    }
  }

/** `Syntax error: failed at position 36 (end of query) (line 2, col 14): …`; counted from 1, the position in bytes. */
const placePattern =
  /failed at position (?<position>\d+)(?<token>.*?)(?: \(line (?<line>\d+), col (?<column>\d+)\))?: /s

/**
 * A failure of the caller's statement, whatever its code at the host: what the statement may be to blame for is not told
 * as trouble of the host.
 */
export const callersFailure = (error: unknown, sent: string, query: string): unknown => {
  const placed = placedInQuery(error, sent, query)
  if (!(placed instanceof ServiceError)) return placed
  const code = callersCode(placed)
  if (code === placed.code) return placed
  return new ServiceError(code, placed.message, { details: { ...placed.details, parameter: 'query' } })
}

const queryCancelled = 394
const memoryLimitExceeded = 241
/** Older servers say `Memory limit (for query) exceeded`; the limits of the user and of the server are shared with others. */
const ofThisQuery = /query memory limit exceeded|memory limit \(for query\) exceeded/i

const callersCode = (error: ServiceError): ErrorCode => {
  const said = clickhouseCode(error)
  if (said === queryCancelled) return 'gone'
  if (said === memoryLimitExceeded && ofThisQuery.test(error.message)) return 'too-large'
  return said !== undefined && !isKnownCode(said) ? 'invalid' : error.code
}

/** A syntax error whose place is counted within the caller's statement, which ends what was sent and begins a line of it. */
const placedInQuery = (error: unknown, sent: string, query: string): unknown => {
  if (!(error instanceof ServiceError)) return error
  const { position, token = '', line, column } = placePattern.exec(error.message)?.groups ?? {}
  const before = sent.slice(0, sent.length - query.length)
  const bytes = Number(position) - before.length
  if (position === undefined || bytes <= 0) return error
  const where = line === undefined ? '' : ` (line ${Number(line) - before.split('\n').length + 1}, col ${column})`
  const message = error.message.replace(placePattern, () => `failed at position ${bytes}${token}${where}: `)
  const offset = Buffer.from(query)
    .subarray(0, bytes - 1)
    .toString('utf8').length
  return new ServiceError(error.code, message, { details: { ...error.details, parameter: 'query', position: offset } })
}
