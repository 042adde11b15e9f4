import { z } from 'zod'
import { Proof } from './advice.ts'
import { rpc } from './contract.ts'
import { HostKey, ofHost } from './host.ts'

/** What can be advised about a table, and about a host. */
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

/** One change of a table, or of how a host is set up. */
export const StructureAdvice = z.object({
  kind: z.enum(structureAdviceKinds),
  /** `database.table`, and the column where it is about one; the name of a setting. */
  subject: z.string(),
  title: z.string(),
  rationale: z.string(),
  /** What an operator would run; null where no statement does it. */
  ddl: z.string().nullable(),
  /**
   * `verified` was measured on the host's own data, `estimated` is computed from what the host counted, `unverified` is what
   * such a change usually does.
   */
  proof: Proof,
  /** Of the column or the table: as it is stored, or before compression. */
  savings: z
    .object({ bytesBefore: z.number(), bytesAfter: z.number(), of: z.enum(['stored', 'uncompressed']) })
    .nullable(),
  risk: z.string(),
})
export type StructureAdvice = z.infer<typeof StructureAdvice>

const output = z.object({ recommendations: z.array(StructureAdvice), notes: z.array(z.string()) })
const Name = z.string().min(1).max(256)
const common = { callers: ['gateway', 'agent'], safe: true, prefer: 'hostKey' } as const

/** Methods of `report` that advise on how data is kept and hosts are set up. Nothing of a host is changed. */
export const structureAdviceMethods = {
  adviseTable: rpc({
    ...common,
    doc: 'Advice on the columns, codecs, key and TTL of one table. Codecs are measured in a temporary table only where the operator allows that.',
    feature: 'TABLES',
    input: z.object({
      ...ofHost,
      database: Name,
      table: Name,
      /** Codecs may be measured, where the operator allows that and `gateway` asks. */
      measure: z.boolean().default(false),
    }),
    output,
  }),
  adviseHost: rpc({
    ...common,
    doc: 'Advice on the settings of one host by its hardware, and on its release.',
    feature: 'SETTINGS',
    input: z.object(ofHost),
    output,
  }),
}

/** Codecs that are advised. */
export const advisedCodecs = ['ZSTD(1)', 'Delta, ZSTD(1)', 'DoubleDelta, ZSTD(1)', 'Gorilla, ZSTD(1)'] as const
/** One of them. */
export const AdvisedCodec = z.enum(advisedCodecs)
export type AdvisedCodec = z.infer<typeof AdvisedCodec>

/** Settings that advice by hardware looks at. */
export const tunedSettings = [
  'max_threads',
  'max_memory_usage',
  'max_bytes_before_external_group_by',
  'max_bytes_ratio_before_external_group_by',
  'background_pool_size',
  'mark_cache_size',
  'max_server_memory_usage_to_ram_ratio',
] as const

const ofTable = { hostKey: HostKey, database: Name, table: Name }
/** Rows that are looked at of one table. */
export const mostSampledRows = 1_000_000
const asked = { callers: ['report'], safe: true, prefer: 'hostKey' } as const

/** What that advice is made of; fixed statements with quoted names. */
export const structureFactMethods = {
  columnFacts: rpc({
    ...asked,
    doc: 'Distinct values, nulls and bounds of columns over the first million rows of a table, which it reads.',
    feature: 'TABLES',
    input: z.object({
      ...ofTable,
      columns: z
        .array(z.object({ name: Name, hasBounds: z.boolean() }))
        .min(1)
        .max(60),
    }),
    output: z.object({
      /** Rows that were looked at. */
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
    ...asked,
    doc: 'How far codecs would compress one column, as the host estimates from the first million rows; none of a host that cannot.',
    feature: 'TABLES',
    input: z.object({ ...ofTable, column: Name, codecs: z.array(AdvisedCodec).min(1).max(4) }),
    output: z.array(z.object({ codec: AdvisedCodec, ratio: z.number() })),
  }),
  measureCodec: rpc({
    ...asked,
    doc: 'What a codec makes of the first million rows of one column, written into a temporary table of a session that ends with it.',
    feature: 'TABLES',
    safe: false,
    input: z.object({ ...ofTable, column: Name, codec: AdvisedCodec }),
    output: z.object({ rows: z.number(), bytesBefore: z.number(), bytesAfter: z.number() }),
  }),
  oldParts: rpc({
    ...asked,
    doc: 'Size of the parts of a table, and of those whose rows are all older than a year.',
    feature: 'TABLES',
    input: z.object(ofTable),
    output: z.object({ bytes: z.number(), oldBytes: z.number() }),
  }),
  tunedSettings: rpc({
    ...asked,
    doc: 'The settings that advice by hardware looks at, as a host has them.',
    feature: 'SETTINGS',
    input: z.object(ofHost),
    output: z.record(z.string(), z.string()),
  }),
  settingsChanges: rpc({
    ...asked,
    doc: 'Defaults that changed in releases after one, as a host of a later release tells them.',
    feature: 'SETTINGS',
    input: z.object({ ...ofHost, since: z.string().regex(/^\d{1,4}\.\d{1,4}$/, 'must be a release such as 25.8') }),
    output: z.array(
      z.object({ release: z.string(), name: z.string(), before: z.string(), after: z.string(), reason: z.string() }),
    ),
  }),
}
