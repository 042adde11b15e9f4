import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { describeWith } from '../../../testing/describe-with.ts'
import { type StoreTestServer, implementations, pollUntil } from '../implementations.suite.ts'
import { type Database, openDatabase } from './connection.ts'
import { removeExpiredValues } from './driver.ts'
import { readStateDatabase } from './state-database.ts'
import { type StoreTables, createNowExpression, storeTableNames } from './tables.ts'

const openPlace = async (running: StoreTestServer): Promise<Database> => {
  const where = readStateDatabase(running.env())
  if (!where) throw new Error('this place has no state database')
  return openDatabase(where)
}

for (const implementation of implementations.filter(({ name }) => /SQL/.test(name))) {
  describeWith(implementation.needs, `pruning in ${implementation.name}`, () => {
    let running: StoreTestServer
    beforeAll(async () => {
      running = await implementation.start()
    })
    afterAll(() => running[Symbol.asyncDispose]())

    it('removes expired values and nothing else', async () => {
      const store = await running.open()
      await store.update('lasting', z.number(), () => ({ value: 1 }))
      await store.update('later', z.number(), () => ({ value: 1, expiresInMs: 60_000 }))
      await store.update('expired', z.number(), () => ({ value: 1, expiresInMs: 20 }))
      await pollUntil(
        () => store.get('expired', z.number()),
        (value) => value === undefined,
      )
      await using database = await openPlace(running)
      const tables = database.tables<StoreTables>(storeTableNames)
      const keys = async () =>
        (await tables.selectFrom('watchhouse_state').select('key').orderBy('key').execute()).map(({ key }) => key)
      expect(await keys()).toEqual(['expired', 'lasting', 'later'])
      await removeExpiredValues({
        database,
        tables,
        now: createNowExpression(database.kind),
        channel: '',
        wakes: new Set(),
      })
      expect(await keys()).toEqual(['lasting', 'later'])
    })
  })
}
