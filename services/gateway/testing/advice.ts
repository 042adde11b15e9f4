import type { adviceMethods } from '#proto/advice.ts'
import type { advisingMethods } from '#proto/advising.ts'
import type { Handlers, Service } from '#proto/contract.ts'

/** A `report` with nothing to advise. */
export const fakeAdvice: Handlers<Service<typeof adviceMethods>> = {
  advise: async () => ({ recommendations: [], notes: ['nothing is to be gained'] }),
}

/** A `query` whose host knows no hypothetical indexes and has empty tables. */
export const fakeAdvising: Handlers<Service<typeof advisingMethods>> = {
  statementReads: async () => ({ reads: [], others: [], formatted: null }),
  tryIndex: async () => ({ outcome: 'not-possible', marks: null, isEmpirical: false }),
  countMatches: async () => ({ rows: 0, matchingRows: 0, matchingGranules: 0 }),
  countGroups: async () => ({ groups: 0, matchingGroups: 0, matchingRows: 0 }),
}
