import { pino } from 'pino'
import { expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { until } from '#shared/bus/conformance/implementations.suite.ts'
import { openWriteLater } from './open.ts'

const log = pino({ level: 'silent' })

const openTable = () => {
  const table = { isAway: true, rows: [] as string[], failure: new ServiceError('unavailable', 'the database is away') }
  const write = async (row: string) => {
    if (table.isAway) throw table.failure
    table.rows.push(row)
  }
  return { table, write }
}

it('says that a write failed, and makes it again in its order until it succeeds', async () => {
  using later = openWriteLater(log, 5)
  const { table, write } = openTable()
  const made = later.made(write)
  await expect(made('one')).rejects.toThrow('the database is away')
  await expect(made('two')).rejects.toThrow('the database is away')
  table.isAway = false
  await until(() => table.rows.length === 2)
  expect(table.rows).toEqual(['one', 'two'])
  await made('three')
  expect(table.rows).toEqual(['one', 'two', 'three'])
})

it('does not make a write again that can never succeed', async () => {
  using later = openWriteLater(log, 5)
  const { table, write } = openTable()
  await expect(later.made(() => Promise.reject(new TypeError('a defect')))()).rejects.toThrow('a defect')
  const made = later.made(write)
  await expect(made('one')).rejects.toThrow('the database is away')
  table.isAway = false
  await until(() => table.rows.length === 1)
  expect(table.rows).toEqual(['one'])
})
