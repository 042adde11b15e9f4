import type { AdvisedCodec, StructureAdvice } from '#proto/structure-advice.ts'
import { figure } from '../../measures/words.ts'
import { type Asking, type TableFacts, isRefusal } from './facts.ts'

type Column = TableFacts['columns'][number]

/** Smaller columns, and those that are but a small share of their table, are not worth it. */
const leastBytes = 1_024 ** 2
const leastShare = 0.05
const mostColumns = 5
/** Less than a fifth is within what the next merge changes. */
const leastSaved = 0.2

/** Codecs that may suit a column, by its type. */
const codecsFor = (type: string): AdvisedCodec[] => {
  const inner = type.replace(/^Nullable\((.+)\)$/, '$1')
  if (inner.startsWith('Float')) return ['ZSTD(1)', 'Gorilla, ZSTD(1)']
  if (/^(U?Int|Date)/.test(inner)) return ['ZSTD(1)', 'Delta, ZSTD(1)', 'DoubleDelta, ZSTD(1)']
  return ['ZSTD(1)']
}

interface Measuring extends Asking {
  /** Whether the operator lets codecs be measured in a temporary table. */
  mayWrite: boolean
}

/** Codecs for the largest columns that have none, as far as the host says that they save something. */
export const codecAdvice = async (measuring: Measuring, facts: TableFacts): Promise<StructureAdvice[]> => {
  const total = facts.overview.compressedBytes ?? 0
  const large = facts.columns
    .filter(
      ({ codec, compressedBytes: size }) => codec === '' && (size ?? 0) >= Math.max(leastBytes, leastShare * total),
    )
    .slice(0, mostColumns)
  const advice = []
  // One after another, so that advice takes one turn on the host at a time.
  for (const column of large) advice.push(await adviseColumn(measuring, facts, column))
  return advice.flatMap((each) => each ?? [])
}

const adviseColumn = async (
  measuring: Measuring,
  { name, sql }: TableFacts,
  column: Column,
): Promise<StructureAdvice | undefined> => {
  const codecs = codecsFor(column.type)
  const { proof, codec, savings } = await weigh(measuring, column, codecs)
  if (codec === undefined) return undefined
  return {
    kind: 'codec',
    subject: `${name}.${column.name}`,
    title: `${column.name} with CODEC(${codec})`,
    rationale: `It has the default codec and compresses ${figure(column.ratio ?? 1)} times.`,
    ddl: `ALTER TABLE ${sql} MODIFY COLUMN ${column.sql} ${column.type} CODEC(${codec})`,
    proof,
    savings,
    risk: 'Stronger codecs take more time to write, and ZSTD some more to read. Parts that are there change with their next merge.',
  }
}

type Weighed = Pick<StructureAdvice, 'proof' | 'savings'> & { codec: AdvisedCodec | undefined }

/** The best codec, and what is known of its savings: measured where that is allowed, else estimated by the host. */
const weigh = async (measuring: Measuring, column: Column, codecs: AdvisedCodec[]): Promise<Weighed> => {
  const unknown: Weighed = { proof: 'unverified', codec: codecs.at(-1), savings: null }
  if (!measuring.readsData) return unknown
  const { query, call, hostKey, database, table, mayWrite } = measuring
  const asked = { hostKey, database, table, column: column.name }
  const ratios = await attempt(() => query.codecRatios({ ...asked, codecs }, call))
  const [best] = ratios?.toSorted((one, other) => other.ratio - one.ratio) ?? []
  if (!best) return unknown
  const before = column.compressedBytes ?? 0
  const estimated = savingsOf(before, (column.uncompressedBytes ?? 0) / best.ratio)
  const measured = mayWrite && (await attempt(() => query.measureCodec({ ...asked, codec: best.codec }, call)))
  if (!measured || measured.bytesBefore === 0) return { proof: 'estimated', ...worth(best.codec, estimated) }
  const after = (before * measured.bytesAfter) / measured.bytesBefore
  return { proof: 'verified', ...worth(best.codec, savingsOf(before, after)) }
}

const savingsOf = (before: number, after: number) => ({
  bytesBefore: before,
  bytesAfter: Math.round(after),
  of: 'stored' as const,
})

const worth = (codec: AdvisedCodec, savings: ReturnType<typeof savingsOf>): Omit<Weighed, 'proof'> =>
  savings.bytesAfter <= (1 - leastSaved) * savings.bytesBefore
    ? { codec, savings }
    : { codec: undefined, savings: null }

/** What the host refuses or gives up on is not known; one that does not answer at all ends the advice. */
const attempt = async <T>(ask: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await ask()
  } catch (error) {
    if (!isRefusal(error)) throw error
    return undefined
  }
}
