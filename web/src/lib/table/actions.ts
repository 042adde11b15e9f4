import type { TableInfo } from '#proto/catalogue.ts'
import type { ActionRequest } from '#proto/http/actions.ts'
import type { Row } from '#proto/query.ts'
import { call } from '#lib/api/call.ts'

export type ActionName = TableInfo['actions'][number]

/** An action on the object that a row shows: a query, a mutation or a table. */
export interface RowAction {
  /** The label of the button. */
  verb: string
  question: string
  /** The consequences, shown before confirmation. */
  meaning: string
  body: ActionRequest
}

/** Returns an action with its texts and request body; null if it does not apply to the row. */
export const createRowAction = (name: ActionName, row: Row): RowAction | null => {
  const text = (column: string): string => String(row[column] ?? '')
  const [database, table] = [text('database'), text('table')]
  if (name === 'kill-query') {
    if (!text('query_id')) return null
    return {
      verb: 'Kill',
      question: `Kill query ${text('query_id')}?`,
      meaning: `It belongs to ${text('user') || 'an unnamed user'}. Its progress is lost, and its client gets an error.`,
      body: { action: 'killQuery', params: { queryId: text('query_id') } },
    }
  }
  if (!database || !table) return null
  if (name === 'kill-mutation') {
    if (row.is_done === 1 || row.is_done === true || row.is_done === '1') return null
    return {
      verb: 'Kill',
      question: `Kill mutation ${text('mutation_id')} on ${database}.${table}?`,
      meaning:
        'Parts that are already mutated stay mutated; the others stay unchanged. A killed mutation does not resume.',
      body: { action: 'killMutation', params: { database, table, mutationId: text('mutation_id') } },
    }
  }
  return {
    verb: 'Optimize',
    question: `Optimize table ${database}.${table}?`,
    meaning: 'The host rewrites the merged parts. This can take long and needs as much free disk space as their size.',
    body: { action: 'optimizeTable', params: { database, table, final: false, deduplicate: false } },
  }
}

export const runAction = (host: number, body: ActionRequest) =>
  call('POST /api/v1/actions', { query: { hostId: host }, body })
