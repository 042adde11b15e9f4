import type { AdvisedCodec, StructureAdvice } from '#proto/structure-advice.ts'
import { formatNumber } from '../../format.ts'
import { type TableAdviceContext, type TableFacts, isHostError } from './table-facts.ts'

type Column = TableFacts['columns'][number]

/** Minimum compressed size of a column to advise on. `minShare` is its minimum share of the compressed table. */
const minBytes = 1_024 ** 2
const minShare = 0.05
const maxColumns = 5
/** Minimum share of the column size that a codec must save. Merges alone can cause smaller changes. */
const minSavedShare = 0.2

/** Returns the candidate codecs for a column type. */
const listCandidateCodecs = (type: string): AdvisedCodec[] => {
  const inner = type.replace(/^Nullable\((.+)\)$/, '$1')
  if (inner.startsWith('Float')) return ['ZSTD(1)', 'Gorilla, ZSTD(1)']
  if (/^(U?Int|Date)/.test(inner)) return ['ZSTD(1)', 'Delta, ZSTD(1)', 'DoubleDelta, ZSTD(1)']
  return ['ZSTD(1)']
}

interface CodecContext extends TableAdviceContext {
  /** Whether codecs can be measured in a temporary table. */
  mayWrite: boolean
}

/** Returns advice on the codecs of the largest columns that have the default codec. */
export const adviseOnCodecs = async (context: CodecContext, facts: TableFacts): Promise<StructureAdvice[]> => {
  const total = facts.overview.compressedBytes ?? 0
  const large = facts.columns
    .filter(({ codec, compressedBytes: size }) => codec === '' && (size ?? 0) >= Math.max(minBytes, minShare * total))
    .slice(0, maxColumns)
  const advice = []
  // Columns are tested sequentially, so that advice occupies only one slot of the host queue.
  for (const column of large) advice.push(await adviseColumn(context, facts, column))
  return advice.flatMap((each) => each ?? [])
}

const adviseColumn = async (
  context: CodecContext,
  { name, sql }: TableFacts,
  column: Column,
): Promise<StructureAdvice | undefined> => {
  const codecs = listCandidateCodecs(column.type)
  const { proof, codec, savings } = await chooseCodec(context, column, codecs)
  if (codec === undefined) return undefined
  return {
    kind: 'codec',
    subject: `${name}.${column.name}`,
    title: `${column.name} with CODEC(${codec})`,
    rationale: `It has the default codec and compresses ${formatNumber(column.ratio ?? 1)} times.`,
    ddl: `ALTER TABLE ${sql} MODIFY COLUMN ${column.sql} ${column.type} CODEC(${codec})`,
    proof,
    savings,
    risk: 'Stronger codecs are slower to write, and ZSTD is slower to read. Existing parts change with their next merge.',
  }
}

type CodecChoice = Pick<StructureAdvice, 'proof' | 'savings'> & { codec: AdvisedCodec | undefined }

/** Returns the best codec and its savings: measured in a temporary table if allowed, else estimated by the host. */
const chooseCodec = async (context: CodecContext, column: Column, codecs: AdvisedCodec[]): Promise<CodecChoice> => {
  const unknown: CodecChoice = { proof: 'unverified', codec: codecs.at(-1), savings: null }
  if (!context.readsData) return unknown
  const { query, call, hostKey, database, table, mayWrite } = context
  const target = { hostKey, database, table, column: column.name }
  const ratios = await tryRequest(() => query.codecRatios({ ...target, codecs }, call))
  const [best] = ratios?.toSorted((one, other) => other.ratio - one.ratio) ?? []
  if (!best) return unknown
  const before = column.compressedBytes ?? 0
  const estimated = computeSavings(before, (column.uncompressedBytes ?? 0) / best.ratio)
  const measured = mayWrite && (await tryRequest(() => query.measureCodec({ ...target, codec: best.codec }, call)))
  if (!measured || measured.bytesBefore === 0) return { proof: 'estimated', ...dropSmallSavings(best.codec, estimated) }
  const after = (before * measured.bytesAfter) / measured.bytesBefore
  return { proof: 'verified', ...dropSmallSavings(best.codec, computeSavings(before, after)) }
}

const computeSavings = (before: number, after: number) => ({
  bytesBefore: before,
  bytesAfter: Math.round(after),
  of: 'stored' as const,
})

const dropSmallSavings = (
  codec: AdvisedCodec,
  savings: ReturnType<typeof computeSavings>,
): Omit<CodecChoice, 'proof'> =>
  savings.bytesAfter <= (1 - minSavedShare) * savings.bytesBefore
    ? { codec, savings }
    : { codec: undefined, savings: null }

/** Runs a query. Returns undefined if the host rejects or aborts it. Throws if the host is unreachable. */
const tryRequest = async <T>(run: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await run()
  } catch (error) {
    if (!isHostError(error)) throw error
    return undefined
  }
}
