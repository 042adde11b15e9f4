import { describe, expect, it } from 'vitest'
import { ActionRequest } from '#proto/http/actions.ts'
import { rowAction } from './actions.ts'

describe('what can be done to a row', () => {
  it.each([
    ['kill-query', { query_id: 'q-1', user: 'ada' }, 'Kill', 'Kill the query q-1?'],
    [
      'kill-mutation',
      { database: 'd', table: 't', mutation_id: 'm', is_done: 0 },
      'Kill',
      'Stop the mutation m of d.t?',
    ],
    ['optimize-table', { database: 'd', table: 't' }, 'Optimize', 'Merge the parts of d.t now?'],
  ] as const)('%s asks first, and asks the service in its own words', (name, row, verb, question) => {
    const action = rowAction(name, row)
    expect(action).toMatchObject({ verb, question })
    expect(ActionRequest.parse(action?.body)).toEqual(action?.body)
  })

  it.each([
    ['kill-query', {}],
    ['kill-mutation', { database: 'd', table: 't', mutation_id: 'm', is_done: 1 }],
    ['optimize-table', { database: 'd', table: null }],
  ] as const)('%s is nothing that can be done to %j', (name, row) => expect(rowAction(name, row)).toBeNull())
})
