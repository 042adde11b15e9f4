import { z } from 'zod'
import { VerificationLevel } from './advice.ts'
import { rpc } from './contract.ts'
import { HostKey, hostInput } from './host.ts'

/** Kinds of advice on a table and on a host. */
export const structureAdviceKinds = [
  'codec',
  'low-cardinality',
  'nullable',
  'right-size',
  'key-order',
  'ttl',
  'setting',
  'upgrade',
] as const

/** A recommended change of a table or of host settings. */
export const StructureAdvice = z.object({
  kind: z.enum(structureAdviceKinds),
  /** `database.table` with an optional column, or the name of a setting. */
  subject: z.string(),
  title: z.string(),
  rationale: z.string(),
  /** The statement to run; null if there is none. */
  ddl: z.string().nullable(),
  /**
   * `verified` was measured on data of the host, `estimated` is computed from counts of the host, `unverified` is based
   * on experience with such changes.
   */
  proof: VerificationLevel,
  /** Size of the column or table before and after the change, as stored or before compression. */
  savings: z
    .object({ bytesBefore: z.number(), bytesAfter: z.number(), of: z.enum(['stored', 'uncompressed']) })
    .nullable(),
  risk: z.string(),
})
export type StructureAdvice = z.infer<typeof StructureAdvice>

const output = z.object({ recommendations: z.array(StructureAdvice), notes: z.array(z.string()) })
const Name = z.string().min(1).max(256)
const common = { callers: ['gateway', 'agent'], safe: true, prefer: 'hostKey' } as const

/** Methods of `report` that advise on tables and host settings. They do not change hosts. */
export const structureAdviceMethods = {
  adviseTable: rpc({
    ...common,
    doc: 'Returns advice on the columns, codecs, key and TTL of one table. Codecs are measured in a temporary table only if the operator allows it.',
    feature: 'TABLES',
    input: z.object({
      ...hostInput,
      database: Name,
      table: Name,
      /** Whether to measure codecs, if the operator allows it and `gateway` is the caller. */
      measure: z.boolean().default(false),
    }),
    output,
  }),
  adviseHost: rpc({
    ...common,
    doc: 'Returns advice on the settings of one host based on its hardware, and on its release.',
    feature: 'SETTINGS',
    input: z.object(hostInput),
    output,
  }),
}

/** Codecs that the advice considers. */
export const advisedCodecs = ['ZSTD(1)', 'Delta, ZSTD(1)', 'DoubleDelta, ZSTD(1)', 'Gorilla, ZSTD(1)'] as const
/** A codec that the advice can recommend. */
export const AdvisedCodec = z.enum(advisedCodecs)
export type AdvisedCodec = z.infer<typeof AdvisedCodec>

/** Settings whose recommended value depends on the hardware. */
export const hardwareDependentSettings = [
  'max_threads',
  'max_memory_usage',
  'max_bytes_before_external_group_by',
  'max_bytes_ratio_before_external_group_by',
  'background_pool_size',
  'mark_cache_size',
  'max_server_memory_usage_to_ram_ratio',
] as const

const tableInput = { hostKey: HostKey, database: Name, table: Name }
/** Maximum sampled rows of a table. */
export const maxSampledRows = 1_000_000
const reportMethodTraits = { callers: ['report'], safe: true, prefer: 'hostKey' } as const

/** Methods of `query` that provide the data for structure advice, with fixed statements and quoted names. */
export const structureAdviceDataMethods = {
  columnFacts: rpc({
    ...reportMethodTraits,
    doc: 'Returns distinct values, nulls and bounds of columns by reading the first million rows of a table.',
    feature: 'TABLES',
    input: z.object({
      ...tableInput,
      columns: z
        .array(z.object({ name: Name, hasBounds: z.boolean() }))
        .min(1)
        .max(60),
    }),
    output: z.object({
      /** Number of sampled rows. */
      rows: z.number(),
      columns: z.array(
        z.object({
          name: z.string(),
          distinct: z.number(),
          nulls: z.number(),
          minimum: z.number().nullable(),
          maximum: z.number().nullable(),
        }),
      ),
    }),
  }),
  codecRatios: rpc({
    ...reportMethodTraits,
    doc: 'Returns compression ratios of codecs for one column, estimated by the host from the first million rows; none if the host does not support it.',
    feature: 'TABLES',
    input: z.object({ ...tableInput, column: Name, codecs: z.array(AdvisedCodec).min(1).max(4) }),
    output: z.array(z.object({ codec: AdvisedCodec, ratio: z.number() })),
  }),
  measureCodec: rpc({
    ...reportMethodTraits,
    doc: 'Measures a codec on the first million rows of one column in a temporary table, which ends with its session.',
    feature: 'TABLES',
    safe: false,
    input: z.object({ ...tableInput, column: Name, codec: AdvisedCodec }),
    output: z.object({ rows: z.number(), bytesBefore: z.number(), bytesAfter: z.number() }),
  }),
  oldParts: rpc({
    ...reportMethodTraits,
    doc: 'Returns the size of the parts of a table, and of those whose rows are all older than a year.',
    feature: 'TABLES',
    input: z.object(tableInput),
    output: z.object({ bytes: z.number(), oldBytes: z.number() }),
  }),
  tunedSettings: rpc({
    ...reportMethodTraits,
    doc: 'Returns the settings of a host for advice based on hardware.',
    feature: 'SETTINGS',
    input: z.object(hostInput),
    output: z.record(z.string(), z.string()),
  }),
  settingsChanges: rpc({
    ...reportMethodTraits,
    doc: 'Lists defaults that changed after a release, from a host of a later release.',
    feature: 'SETTINGS',
    input: z.object({ ...hostInput, since: z.string().regex(/^\d{1,4}\.\d{1,4}$/, 'must be a release such as 25.8') }),
    output: z.array(
      z.object({ release: z.string(), name: z.string(), before: z.string(), after: z.string(), reason: z.string() }),
    ),
  }),
}
