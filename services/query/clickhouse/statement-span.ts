import type { W3cTraceContext } from '#proto/call.ts'
import type { Span, Tracer } from '#shared/telemetry/telemetry.ts'
import { startChildSpan } from '#shared/telemetry/tracing.ts'
import { type MonitoredHost, toTelemetryName } from '../hosts/host-list.ts'
import { lex, type Token } from '../read-only/lexer.ts'
import { Rejection } from '../read-only/rejection.ts'
import { findClickhouseErrorCode } from './failure.ts'
import type { Statement } from './statement.ts'

interface TracedStatement {
  host: MonitoredHost
  statement: Statement
  trace: W3cTraceContext | undefined
}

/**
 * Starts the span of a statement according to the OpenTelemetry conventions for databases. Its attributes contain the
 * operation and the names of tables, and never values.
 */
export const startStatementSpan = (tracer: Tracer, { host, statement, trace }: TracedStatement): Span => {
  if (!tracer.isExporting) return startChildSpan(tracer, 'statement', 'client', trace)
  const { operation, summary } = summarizeStatement(statement.sql)
  return startChildSpan(tracer, summary, 'client', trace, {
    'db.system.name': 'clickhouse',
    'db.operation.name': operation,
    'db.query.summary': summary,
    ...(statement.database !== undefined && { 'db.namespace': statement.database }),
    ...serverAttributes(host),
    'watchhouse.host': toTelemetryName(host),
    'watchhouse.statement': statement.what,
  })
}

/** Ends the span of a statement, with the error code of ClickHouse if there is one. */
export const endStatementSpan = (span: Span, error: unknown): void => {
  const code = findClickhouseErrorCode(error)
  if (code !== undefined) span.set({ 'db.response.status_code': String(code) })
  span.end(error)
}

/** Returns the address of a configured host. Addresses of user connections are private to their users. */
const serverAttributes = ({ url, connect }: MonitoredHost): Record<string, string | number> => {
  if (connect) return {}
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  return { 'server.address': url.hostname, 'server.port': port }
}

const maxTables = 8
const maxSummaryLength = 255
/** Words after which the name of a table follows. */
const beforeTables: ReadonlySet<string> = new Set(['FROM', 'JOIN', 'INTO', 'TABLE', 'DESCRIBE', 'DESC'])
const operations: Readonly<Record<string, string>> = { WITH: 'SELECT', DESC: 'DESCRIBE' }

/** Returns the operation of a statement, and a summary with the operation and the tables, such as `SELECT system.parts`. */
export const summarizeStatement = (sql: string): { operation: string; summary: string } => {
  const tokens = lexLeniently(sql)
  const first = tokens.find(({ kind }) => kind === 'name')?.text.toUpperCase() ?? ''
  const operation = /^[A-Z]{1,16}$/.test(first) ? (operations[first] ?? first) : 'UNKNOWN'
  const tables = new Set(tokens.flatMap((token, index) => (isBeforeTable(token) ? nameAt(tokens, index + 1) : [])))
  return { operation, summary: [operation, ...[...tables].slice(0, maxTables)].join(' ').slice(0, maxSummaryLength) }
}

/** Returns the tokens of a statement; none if it cannot be split. */
const lexLeniently = (sql: string): Token[] => {
  try {
    return lex(sql)
  } catch (error) {
    if (error instanceof Rejection) return []
    throw error
  }
}

const isBeforeTable = ({ kind, text }: Token): boolean => kind === 'name' && beforeTables.has(text.toUpperCase())

/** Returns the name at a position, with its database; nothing for a subquery. */
const nameAt = (tokens: readonly Token[], index: number): string[] => {
  const [name, dot, table] = tokens.slice(index, index + 3)
  if (!isName(name)) return []
  return [dot?.kind === 'sign' && dot.text === '.' && isName(table) ? `${name.text}.${table.text}` : name.text]
}

const isName = (token: Token | undefined): token is Token => token?.kind === 'name' || token?.kind === 'quoted'
