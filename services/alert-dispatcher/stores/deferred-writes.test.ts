import { pino } from 'pino'
import { expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { waitUntil } from '#shared/bus/conformance/implementations.suite.ts'
import { openDeferredWrites } from './open-stores.ts'

const log = pino({ level: 'silent' })

const openTable = () => {
  const table = {
    isAway: true,
    rows: [] as string[],
    failure: new ServiceError('unavailable', 'the database is unavailable'),
  }
  const write = async (row: string) => {
    if (table.isAway) throw table.failure
    table.rows.push(row)
  }
  return { table, write }
}

it('rejects a failed write and retries it in order until it succeeds', async () => {
  using later = openDeferredWrites(log, 5)
  const { table, write } = openTable()
  const retried = later.retried(write)
  await expect(retried('one')).rejects.toThrow('the database is unavailable')
  await expect(retried('two')).rejects.toThrow('the database is unavailable')
  table.isAway = false
  await waitUntil(() => table.rows.length === 2)
  expect(table.rows).toEqual(['one', 'two'])
  await retried('three')
  expect(table.rows).toEqual(['one', 'two', 'three'])
})

it('does not retry a write that cannot succeed', async () => {
  using later = openDeferredWrites(log, 5)
  const { table, write } = openTable()
  await expect(later.retried(() => Promise.reject(new TypeError('a defect')))()).rejects.toThrow('a defect')
  const retried = later.retried(write)
  await expect(retried('one')).rejects.toThrow('the database is unavailable')
  table.isAway = false
  await waitUntil(() => table.rows.length === 1)
  expect(table.rows).toEqual(['one'])
})
