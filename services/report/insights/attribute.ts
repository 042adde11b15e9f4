import type { InsightRow } from '#proto/insight-rows.ts'
import { median } from './baseline.ts'
import { figure, percent } from './words.ts'

type Day = InsightRow<'fingerprint-days'>
type SchemaChange = InsightRow<'schema-changes'>

/** Growth that could explain longer executions. */
const grown = 1.5
/** DDL of the last two days lies near enough to the change. */
const nearDays = 1

/**
 * What changed together with a pattern of statements, in words: the server's version, the settings, the schema, the parts and
 * the rows that are read, the share of the data that is read although the statement is the same.
 */
export const attribute = (now: Day, before: readonly Day[], changes: readonly SchemaChange[]): string[] => {
  const [latest] = before.toSorted((one, other) => one.daysAgo - other.daysAgo)
  const changed = changes.filter(
    ({ table, daysAgo }) => daysAgo >= 0 && daysAgo <= nearDays && now.tables.includes(table),
  )
  const tables = [...new Set(changed.map(({ table }) => table))]
  const causes: (string | false | undefined)[] = [
    latest && latest.revision !== now.revision && 'the server changed its version',
    latest && latest.settingsHash !== now.settingsHash && 'its settings changed',
    tables.length > 0 && `the schema of ${tables.join(' and ')} changed`,
  ]
  return [...causes.filter((cause) => typeof cause === 'string'), ...grownBeside(now, before)]
}

/** What one execution reads. */
type Reading = Pick<Day, 'readRows' | 'selectedParts' | 'marksShare'>

/** What of the reading is well beyond that of others, in words: parts, the share of the data although the statement is the same, rows. */
export const grownBeside = (now: Reading, others: readonly Reading[]): string[] => {
  const usual = (figureOf: (other: Reading) => number | null) =>
    median(others.flatMap((other) => figureOf(other) ?? []))
  const rows = usual(({ readRows }) => readRows)
  const parts = usual(({ selectedParts }) => selectedParts)
  const share = usual(({ marksShare }) => marksShare)
  const causes = [
    hasGrown(now.selectedParts, parts) &&
      `it reads ${figure(now.selectedParts)} parts instead of ${figure(parts ?? 0)}`,
    hasGrown(now.marksShare, share) &&
      `its plan reads ${percent(now.marksShare)} of the data instead of ${percent(share ?? 0)}`,
    hasGrown(now.readRows, rows) &&
      !hasGrown(now.marksShare, share) &&
      `the data that it reads is ${figure(now.readRows / (rows ?? 1))} times as much`,
  ]
  return causes.filter((cause) => typeof cause === 'string')
}

const hasGrown = (now: number | null, usual: number | undefined): now is number =>
  now !== null && usual !== undefined && usual > 0 && now >= grown * usual
