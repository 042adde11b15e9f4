import type { adviceMethods } from '#proto/advice.ts'
import type { adviceDataMethods } from '#proto/advice-data.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import type { StructureAdvice, structureAdviceMethods, structureAdviceDataMethods } from '#proto/structure-advice.ts'
import type { ValidRequest } from './valid-requests.ts'

/** A `report` service without recommendations. */
export const fakeAdvice = {
  advise: async () => ({ recommendations: [], notes: ['no optimization found'] }),
} satisfies Partial<ServiceHandlers<Service<typeof adviceMethods>>>

/** A `query` service whose host has empty tables and does not support hypothetical indexes. */
export const fakeAdviceData = {
  statementReads: async () => ({ reads: [], others: [], formatted: null }),
  tryIndex: async () => ({ outcome: 'not-possible', marks: null, isEmpirical: false }),
  countMatches: async () => ({ rows: 0, matchingRows: 0, matchingGranules: 0 }),
  countGroups: async () => ({ groups: 0, matchingGroups: 0, matchingRows: 0 }),
} satisfies Partial<ServiceHandlers<Service<typeof adviceDataMethods>>>

const codec: StructureAdvice = {
  kind: 'codec',
  subject: 'shop.orders.at',
  title: 'at with CODEC(Delta, ZSTD(1))',
  rationale: 'It has the default codec and compresses 2 times.',
  ddl: 'ALTER TABLE `shop`.`orders` MODIFY COLUMN `at` DateTime CODEC(Delta, ZSTD(1))',
  proof: 'estimated',
  savings: { bytesBefore: 100, bytesAfter: 20, of: 'stored' },
  risk: 'Parts that are there change with their next merge.',
}

/** A table with one column that needs a codec, measured on request, on a host without recommendations. */
export const fakeStructureAdvice = {
  adviseTable: async ({ measure }) => ({
    recommendations: [{ ...codec, proof: measure ? 'verified' : 'estimated' }],
    notes: [],
  }),
  adviseHost: async () => ({ recommendations: [], notes: ['No recommendations for this host.'] }),
} satisfies Partial<ServiceHandlers<Service<typeof structureAdviceMethods>>>

/** A `query` service with empty tables. */
export const fakeStructureFacts = {
  columnFacts: async () => ({ rows: 0, columns: [] }),
  codecRatios: async () => [],
  measureCodec: async () => ({ rows: 0, bytesBefore: 0, bytesAfter: 0 }),
  oldParts: async () => ({ bytes: 0, oldBytes: 0 }),
  tunedSettings: async () => ({}),
  settingsChanges: async () => [],
} satisfies Partial<ServiceHandlers<Service<typeof structureAdviceDataMethods>>>

const base = '/api/v1/advice'

/** A valid request for every route of structure and settings advice. */
export const structureAdviceRequests: Readonly<Record<string, ValidRequest>> = {
  [`POST ${base}/table`]: { url: `${base}/table`, body: { hostId: 1, database: 'shop', table: 'orders' } },
  [`GET ${base}/host`]: { url: `${base}/host?hostId=1` },
}
