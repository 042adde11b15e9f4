import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { RuleReading } from '#proto/rules.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { maxSweepStatements } from '../clickhouse/host-queues.ts'
import { findSystemTables, toIncompleteReason } from '../clickhouse/show-privileges.ts'
import { readPermissions } from '../config.ts'
import { maxStatementMemoryBytes } from '../console/start-run.ts'
import { toCallerError } from '../explain/explain.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { checkCallerStatement } from '../read-only/caller-statement.ts'
import type { StatementPermissions } from '../read-only/read-only.ts'
import {
  addIncompleteReason,
  createMeasurement,
  createMissingMeasurement,
  maxOffenders,
  type Measurement,
} from './measurement.ts'

/** The statement of an SQL rule, by the id of the rule. */
export interface RuleStatement {
  id: string
  sql: string
}

/** After this time, no further statement of an SQL rule starts in a sweep of a host. */
const maxStartMs = 10_000
const maxSeconds = 10

/** Checks the statement of an SQL rule and returns it without its FORMAT clause. Throws `invalid` with the reason. */
export const checkRuleStatement = (sql: string, allowed: StatementPermissions): string =>
  checkCallerStatement(
    sql,
    ([first]) => {
      if (first?.word === 'SELECT' || first?.word === 'WITH') return
      throw new ServiceError('invalid', 'query: the statement of a rule must begin with SELECT or WITH', {
        details: { parameter: 'query' },
      })
    },
    allowed,
  )

/** Runs the statements of SQL rules on one host. A statement that fails does not affect the others. */
export const measureStatements = async (
  deps: QueryHandlerDeps,
  { hostKey, statements }: { hostKey: string; statements: readonly RuleStatement[] },
  parentCall: CallContext,
): Promise<{ readings: RuleReading[] }> => {
  const call: CallContext = { ...parentCall, priority: 'sweep' }
  const untilMs = deps.clock.elapsedMs() + maxStartMs
  const measured = new Map<string, Measurement>()
  // The order begins at random, so that slow statements do not delay the same ones in each sweep.
  const start = Math.floor(Math.random() * statements.length)
  const queue = [...statements.slice(start), ...statements.slice(0, start)].values()
  const worker = async (): Promise<void> => {
    for (const { id, sql } of queue) {
      const isLate = deps.clock.elapsedMs() >= untilMs
      measured.set(id, isLate ? createMissingMeasurement(lateReason) : await measureStatement(deps, hostKey, sql, call))
    }
  }
  await Promise.all(Array.from({ length: maxSweepStatements }, worker))
  return {
    readings: statements.map(({ id }) => ({ id, ...(measured.get(id) ?? createMissingMeasurement(lateReason)) })),
  }
}

const lateReason = 'the statements of other SQL rules took too long; the next sweep retries it'

const measureStatement = async (
  { env, hosts, client }: QueryHandlerDeps,
  hostKey: string,
  sql: string,
  call: CallContext,
): Promise<Measurement> => {
  const host = hosts.get(hostKey)
  try {
    const checked = checkRuleStatement(sql, readPermissions(env))
    const statement: Statement = {
      what: 'sql-rule',
      sql: checked,
      maxSeconds,
      limits: { limit: maxOffenders, max_memory_usage: maxStatementMemoryBytes },
    }
    const { missingShow } = await client.capabilities(host, call)
    const { rows } = await client.run(host, statement, call)
    const measurement = toMeasurement(rows)
    const incomplete = toIncompleteReason(host, missingShow, findSystemTables(checked))
    return incomplete ? addIncompleteReason(measurement, incomplete) : measurement
  } catch (error) {
    const failure = toCallerError(error, sql, sql)
    if (!(failure instanceof ServiceError)) throw failure
    return createMissingMeasurement(failure.message)
  }
}

/** The value is the first column of the first row. The names of what is affected are in the second column. */
const toMeasurement = (rows: readonly (readonly unknown[])[]): Measurement => {
  const [first] = rows
  if (first === undefined)
    return createMissingMeasurement('the statement returned no rows; return one row with a number')
  const value = toNumber(first[0])
  if (value === null)
    return createMissingMeasurement('the first column of the first row is not a finite number; convert it to one')
  const [, names] = first
  const offenders = Array.isArray(names) ? names : rows.flatMap((row) => (row.length > 1 ? [row[1]] : []))
  return createMeasurement(value, offenders.map(String))
}

/** Large integers and decimals are texts in JSON. */
const toNumber = (cell: unknown): number | null => {
  const isNumeric = typeof cell === 'number' || typeof cell === 'boolean' || (typeof cell === 'string' && cell !== '')
  const number = isNumeric ? Number(cell) : Number.NaN
  return Number.isFinite(number) ? number : null
}
