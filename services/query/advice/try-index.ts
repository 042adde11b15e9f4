import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { SkipIndexType } from '#proto/advising.ts'
import { quoteName } from '#shared/sql/quote.ts'
import { readRecords } from '../analysis/records.ts'
import { clickhouseCode } from '../clickhouse/failure.ts'
import { compareVersions } from '../clickhouse/capabilities.ts'
import type { Asking } from '../explorer/read-view.ts'
import { callersStatement } from '../read-only/callers-statement.ts'
import { columnSql, limits, maxSeconds } from './expression-sql.ts'

const Line = z.object({ explain: z.string() })

interface Asked {
  database: string
  table: string
  column: string
  condition: string
  type: SkipIndexType
}

const ofNoUse: WhatIf = { outcome: 'of-no-use', marks: null, isEmpirical: false }
const notPossible: WhatIf = { outcome: 'not-possible', marks: null, isEmpirical: false }

/** A type or arguments that do not suit the column, or a column that cannot have an index. */
const unsuited = new Set<number | undefined>([36, 43, 44, 80])
/** A host that cannot do it for this table, or not for this user. */
const unable = new Set<number | undefined>([1, 48, 62, 344, 497])
/** The first version that knows the statements. */
const since = '26.6'

/**
 * Describes an index in a session of its own and asks what it would do. `CREATE HYPOTHETICAL INDEX` writes nothing, and
 * `readonly = 1` lets it through; names and the type from a closed list are all that varies in it.
 */
export const tryIndex = async ({ parts, host, call }: Asking, asked: Asked): Promise<WhatIf> => {
  const { database, table, column, condition, type } = asked
  const on = `${quoteName(database)}.${quoteName(table)}`
  const explained = callersStatement(`SELECT count() FROM ${on} WHERE ${condition}`)
  const { version } = await parts.client.capabilities(host, call)
  if (compareVersions(version, since) < 0) return notPossible
  const session = randomUUID()
  const inSession = (sql: string) => ({ what: 'advice/what-if', sql, session, limits, maxSeconds })
  const describe = inSession(
    `CREATE HYPOTHETICAL INDEX IF NOT EXISTS candidate ON ${on} (${columnSql(column)}) TYPE ${type}`,
  )
  try {
    // Its answer is empty, which a whole answer never is.
    const { body } = await parts.client.stream(host, describe, call)
    while (await body.take());
    const lines = readRecords(host, Line, await parts.client.run(host, inSession(`EXPLAIN WHATIF ${explained}`), call))
    return readWhatIf(lines.map(({ explain }) => explain).join('\n')) ?? notPossible
  } catch (error) {
    if (unsuited.has(clickhouseCode(error))) return ofNoUse
    if (unable.has(clickhouseCode(error))) return notPossible
    throw error
  }
}

/** What became of a hypothetical index. */
interface WhatIf {
  outcome: 'tried' | 'of-no-use' | 'not-possible'
  /** Marks that it would leave; null unless it was tried. */
  marks: number | null
  /** Tried out on all that is read now. */
  isEmpirical: boolean
}

/** Reads what `EXPLAIN WHATIF` says of the only index of a session; undefined when it says nothing of one. */
export const readWhatIf = (text: string): WhatIf | undefined => {
  const [baseline = '', block] = text.split(/^With \w+ \(.*\):$/m)
  if (block === undefined) return undefined
  const marks = Number(said(block, 'marks'))
  if (said(block, 'status') !== 'applicable' || !Number.isInteger(marks)) {
    return { outcome: 'of-no-use', marks: null, isEmpirical: false }
  }
  // Of all marks of the table: `978 / 980`.
  const [sampled] = said(block, 'sampled_marks')?.split(' / ') ?? []
  const isEmpirical = said(block, 'source') === 'empirical' && sampled === said(baseline, 'marks')
  return { outcome: 'tried', marks, isEmpirical }
}

const said = (block: string, name: string): string | undefined =>
  new RegExp(String.raw`^ +${name}: +(.*)$`, 'm').exec(block)?.[1]
