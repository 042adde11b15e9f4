import { ServiceError } from '#proto/errors.ts'
import type { QueryHandlers } from './query.ts'

type Writing = Pick<QueryHandlers, 'killQuery' | 'optimizeTable' | 'killMutation' | 'management' | 'manage'>

/** A host on which one query runs, with one table; its users may be changed. */
export const fakeActions: Writing = {
  killQuery: async ({ queryId }) => {
    if (queryId !== 'runaway') throw new ServiceError('not-found', `no query ${queryId} runs on host analytics`)
    return { state: 'done', target: { user: 'ada', elapsedSeconds: 900 }, queryId: 'own-1' }
  },
  optimizeTable: async () => ({ state: 'running', target: { engine: 'MergeTree', parts: 12 }, queryId: null }),
  killMutation: async ({ mutationId }) => {
    throw new ServiceError('conflict', `mutation ${mutationId} is done already`)
  },
  management: async () => ({ enabled: true }),
  manage: async ({ management }) => ({ ddl: `-- ${management.operation}` }),
}
