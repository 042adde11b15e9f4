import { z } from 'zod'
import type { advisingMethods } from '#proto/advising.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import type { Explanation, ExplainMode, ExplainSettings } from '#proto/explain.ts'
import { readRecords } from '../analysis/records.ts'
import { clickhouseCode } from '../clickhouse/failure.ts'
import { callersFailure } from '../explain/explain.ts'
import { explainStatement } from '../explain/explain-statement.ts'
import { explanation } from '../explain/plan-json.ts'
import { allowedBy } from '../config.ts'
import type { Asking } from '../explorer/read-view.ts'
import { callersStatement } from '../read-only/callers-statement.ts'
import type { Token } from '../read-only/lexer.ts'
import { Rejection } from '../read-only/rejection.ts'
import { tableReads } from './table-reads.ts'

type Told = Awaited<ReturnType<Handlers<Service<typeof advisingMethods>>['statementReads']>>

/** Has the host analyse a statement from all sides. */
export const statementReads = async (
  { parts, host, call }: Asking,
  { query, database }: { query: string; database?: string | undefined },
): Promise<Told> => {
  const statement = callersStatement(query, refuseOthers, allowedBy(parts.env))
  const explain = async (mode: ExplainMode, settings: ExplainSettings = {}): Promise<Explanation> => {
    const explaining = explainStatement(statement, mode, settings, database)
    try {
      return explanation(host, statement, mode, settings, await parts.client.run(host, explaining, call))
    } catch (error) {
      throw callersFailure(error, explaining.sql, statement)
    }
  }
  // First alone, so that a statement that is wrong fails once.
  const tree = await explain('query-tree')
  const [plan, estimate, formatted] = await Promise.all([
    explain('plan', { actions: 1 }),
    explain('estimate'),
    laidOut({ parts, host, call }, statement),
  ])
  return { ...tableReads({ tree, plan, estimate }), formatted }
}

const refuseOthers = ([first]: readonly Token[]): void => {
  if (!first || first.word === 'SELECT' || first.word === 'WITH') return
  throw new Rejection('first-word', first.position, 'there is advice for SELECT alone')
}

/** Longer statements do not fit into the address of a request, and no person would rewrite them. */
const longestLaidOut = 16_000
/** Hosts older than 23.8 have no such function. */
const unknownFunction = 46

const Row = z.object({ formatted: z.string() })

const laidOut = async ({ parts, host, call }: Asking, statement: string): Promise<string | null> => {
  if (statement.length > longestLaidOut) return null
  const sql = 'SELECT formatQuery({query:String}) AS formatted'
  try {
    const answer = await parts.client.run(host, { what: 'advice/format', sql, parameters: { query: statement } }, call)
    return readRecords(host, Row, answer)[0]?.formatted ?? null
  } catch (error) {
    if (clickhouseCode(error) === unknownFunction) return null
    throw error
  }
}
