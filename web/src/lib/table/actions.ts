import type { TableInfo } from '#proto/catalogue.ts'
import type { ActionRequest } from '#proto/http/actions.ts'
import type { Row } from '#proto/query.ts'
import { call } from '#lib/api/call.ts'

export type ActionName = TableInfo['actions'][number]

/** What can be done to the thing that a row tells of. */
export interface RowAction {
  /** On the button. */
  verb: string
  question: string
  /** What it means, before somebody decides. */
  meaning: string
  body: ActionRequest
}

/** The action of a row, or null where the row lacks what it is done to. */
export const rowAction = (name: ActionName, row: Row): RowAction | null => {
  const text = (column: string): string => String(row[column] ?? '')
  const [database, table] = [text('database'), text('table')]
  if (name === 'kill-query') {
    if (!text('query_id')) return null
    return {
      verb: 'Kill',
      question: `Kill the query ${text('query_id')}?`,
      meaning: `It belongs to ${text('user') || 'an unnamed user'}. What it has done until now is lost; whoever asked gets an error.`,
      body: { action: 'killQuery', params: { queryId: text('query_id') } },
    }
  }
  if (!database || !table) return null
  if (name === 'kill-mutation') {
    if (row.is_done === 1 || row.is_done === true || row.is_done === '1') return null
    return {
      verb: 'Kill',
      question: `Stop the mutation ${text('mutation_id')} of ${database}.${table}?`,
      meaning: 'Parts that it has changed stay changed, the others stay as they are. It does not come back by itself.',
      body: { action: 'killMutation', params: { database, table, mutationId: text('mutation_id') } },
    }
  }
  return {
    verb: 'Optimize',
    question: `Merge the parts of ${database}.${table} now?`,
    meaning:
      'The host reads and writes the parts that it joins, which may take long and needs as much free disk as they have.',
    body: { action: 'optimizeTable', params: { database, table, final: false, deduplicate: false } },
  }
}

export const act = (host: number, body: ActionRequest) =>
  call('POST /api/v1/actions', { query: { hostId: host }, body })
