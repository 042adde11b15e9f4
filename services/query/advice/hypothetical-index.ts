import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { SkipIndexType } from '#proto/advice-data.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { readRecords } from '../analysis/read-records.ts'
import { findClickhouseErrorCode } from '../clickhouse/failure.ts'
import { compareVersions } from '../clickhouse/capabilities.ts'
import type { HostContext } from '../explorer/read-view.ts'
import { checkCallerStatement } from '../read-only/caller-statement.ts'
import { toColumnSql, adviceLimits, maxAdviceSeconds } from './expression-sql.ts'

const Line = z.object({ explain: z.string() })

interface IndexRequest {
  database: string
  table: string
  column: string
  condition: string
  type: SkipIndexType
}

const uselessIndex: WhatIf = { outcome: 'of-no-use', marks: null, isEmpirical: false }
const notPossible: WhatIf = { outcome: 'not-possible', marks: null, isEmpirical: false }

/** Error codes for an unsuitable type, unsuitable arguments, or a column that cannot be indexed. */
const unsuitableCodes = new Set<number | undefined>([36, 43, 44, 80])
/** Error codes for tables and users that do not support hypothetical indexes. */
const unsupportedCodes = new Set<number | undefined>([1, 48, 62, 344, 497])
/** The first ClickHouse version with hypothetical indexes. */
const since = '26.6'

/**
 * Creates a hypothetical index in its own session and explains its effect. `CREATE HYPOTHETICAL INDEX` writes nothing
 * and is allowed under `readonly = 1`. Only quoted names and a type from a fixed list vary in the statement.
 */
export const tryIndex = async ({ parts, host, call }: HostContext, request: IndexRequest): Promise<WhatIf> => {
  const { database, table, column, condition, type } = request
  const on = `${quoteName(database)}.${quoteName(table)}`
  const explained = checkCallerStatement(`SELECT count() FROM ${on} WHERE ${condition}`)
  const { version } = await parts.client.capabilities(host, call)
  if (compareVersions(version, since) < 0) return notPossible
  const session = randomUUID()
  const inSession = (sql: string) => ({
    what: 'advice/what-if',
    sql,
    session,
    limits: adviceLimits,
    maxSeconds: maxAdviceSeconds,
  })
  const describe = inSession(
    `CREATE HYPOTHETICAL INDEX IF NOT EXISTS candidate ON ${on} (${toColumnSql(column)}) TYPE ${type}`,
  )
  try {
    // Reads a stream, because a buffered read rejects the empty result of this statement.
    const { body } = await parts.client.stream(host, describe, call)
    while (await body.take());
    const lines = readRecords(host, Line, await parts.client.run(host, inSession(`EXPLAIN WHATIF ${explained}`), call))
    return parseWhatIf(lines.map(({ explain }) => explain).join('\n')) ?? notPossible
  } catch (error) {
    if (unsuitableCodes.has(findClickhouseErrorCode(error))) return uselessIndex
    if (unsupportedCodes.has(findClickhouseErrorCode(error))) return notPossible
    throw error
  }
}

/** The effect of a hypothetical index. */
interface WhatIf {
  outcome: 'tried' | 'of-no-use' | 'not-possible'
  /** Number of marks that the statement would still read with the index; null unless the index was evaluated. */
  marks: number | null
  /** Whether the index was evaluated on all marks that the statement currently reads. */
  isEmpirical: boolean
}

/** Parses the output of `EXPLAIN WHATIF` for the only index of a session, or returns undefined. */
export const parseWhatIf = (text: string): WhatIf | undefined => {
  const [baseline = '', block] = text.split(/^With \w+ \(.*\):$/m)
  if (block === undefined) return undefined
  const marks = Number(readField(block, 'marks'))
  if (readField(block, 'status') !== 'applicable' || !Number.isInteger(marks)) {
    return { outcome: 'of-no-use', marks: null, isEmpirical: false }
  }
  // The format is `sampled / all marks`, such as `978 / 980`.
  const [sampled] = readField(block, 'sampled_marks')?.split(' / ') ?? []
  const isEmpirical = readField(block, 'source') === 'empirical' && sampled === readField(baseline, 'marks')
  return { outcome: 'tried', marks, isEmpirical }
}

const readField = (block: string, name: string): string | undefined =>
  new RegExp(String.raw`^ +${name}: +(.*)$`, 'm').exec(block)?.[1]
