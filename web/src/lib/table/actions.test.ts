import { describe, expect, it } from 'vitest'
import { ActionRequest } from '#proto/http/actions.ts'
import { createRowAction } from './actions.ts'

describe('row actions', () => {
  it.each([
    ['kill-query', { query_id: 'q-1', user: 'ada' }, 'Kill', 'Kill query q-1?'],
    ['kill-mutation', { database: 'd', table: 't', mutation_id: 'm', is_done: 0 }, 'Kill', 'Kill mutation m on d.t?'],
    ['optimize-table', { database: 'd', table: 't' }, 'Optimize', 'Optimize table d.t?'],
  ] as const)('%s has a confirmation and a request body', (name, row, verb, question) => {
    const action = createRowAction(name, row)
    expect(action).toMatchObject({ verb, question })
    expect(ActionRequest.parse(action?.body)).toEqual(action?.body)
  })

  it.each([
    ['kill-query', {}],
    ['kill-mutation', { database: 'd', table: 't', mutation_id: 'm', is_done: 1 }],
    ['optimize-table', { database: 'd', table: null }],
  ] as const)('%s is not available for %j', (name, row) => expect(createRowAction(name, row)).toBeNull())
})
