import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Database, openDatabase } from '#shared/store/sql/connection.ts'
import { describeWith, startPostgres } from '../../testing/describe-with.ts'
import { type SavedConnections, maxConnectionsPerOwner, openSavedConnections } from './user-connections.ts'

const kinds = [
  {
    name: 'PostgreSQL',
    needs: ['postgres'],
    start: async () => {
      const server = await startPostgres({ private: true })
      return { where: { kind: 'postgres', url: server.url } as const, stop: () => server.stop() }
    },
  },
  {
    name: 'a SQLite file',
    needs: [],
    start: async () => {
      const directory = await mkdtemp(join(tmpdir(), 'watchhouse-connections-'))
      const stop = () => rm(directory, { recursive: true })
      return { where: { kind: 'sqlite', url: `file:${directory}/state.db` } as const, stop }
    },
  },
] as const

const newConnection = (id: string) => ({
  id,
  name: `connection ${id}`,
  host: 'db.example.com:8443',
  sealed: 'kept.sealed',
  createdAtMs: 1_700_000_000_000,
  updatedAtMs: 1_700_000_000_000,
})

for (const { name, needs, start } of kinds) {
  describeWith(needs, `saved connections in ${name}`, () => {
    let server: Awaited<ReturnType<typeof start>>
    let database: Database
    let saved: SavedConnections
    beforeAll(async () => {
      server = await start()
      database = await openDatabase({ ...server.where, token: undefined, tablePrefix: 'test_' })
      saved = await openSavedConnections(database)
    })
    afterAll(async () => {
      await database?.[Symbol.asyncDispose]()
      await server?.stop()
    })

    it('are returned as saved, by id and by number, after reopening', async () => {
      const added = await saved.add('ada', newConnection('a1'))
      expect(added).toEqual({ ...newConnection('a1'), number: expect.any(Number) })
      const again = await openSavedConnections(database)
      expect(await again.list('ada')).toEqual([added])
      expect(await again.byId('ada', 'a1')).toEqual(added)
      expect(await again.byNumber('ada', added.number)).toEqual(added)
    })

    it('are only accessible to their owner', async () => {
      const theirs = await saved.add('eve', newConnection('e1'))
      expect(await saved.list('bob')).toEqual([])
      expect(await saved.byId('bob', 'e1')).toBeUndefined()
      expect(await saved.byNumber('bob', theirs.number)).toBeUndefined()
      expect(await saved.change('bob', 'e1', { name: 'mine now', updatedAtMs: 1 })).toBeUndefined()
      expect(await saved.remove('bob', 'e1')).toBeUndefined()
      expect(await saved.byId('eve', 'e1')).toEqual(theirs)
    })

    it('can be changed in part, and their numbers are never reused', async () => {
      const first = await saved.add('dan', newConnection('d1'))
      const renamed = await saved.change('dan', 'd1', { name: 'renamed', updatedAtMs: 1_800_000_000_000 })
      expect(renamed).toEqual({ ...first, name: 'renamed', updatedAtMs: 1_800_000_000_000 })
      expect(await saved.remove('dan', 'd1')).toEqual(renamed)
      expect((await saved.add('dan', newConnection('d2'))).number).toBeGreaterThan(first.number)
    })

    it('can be removed all at once, for one owner only', async () => {
      await saved.add('gus', newConnection('g1'))
      await saved.add('gus', newConnection('g2'))
      await saved.add('hal', newConnection('h1'))
      expect([await saved.removeAll('gus'), await saved.removeAll('gus')]).toEqual([2, 0])
      expect([await saved.list('gus'), (await saved.list('hal')).length]).toEqual([[], 1])
    })

    it(`are limited to ${maxConnectionsPerOwner} per owner, even when added concurrently`, async () => {
      for (let index = 0; index < maxConnectionsPerOwner - 1; index++)
        await saved.add('max', newConnection(`m${index}`))
      const both = await Promise.allSettled([
        saved.add('max', newConnection('one')),
        saved.add('max', newConnection('other')),
      ])
      expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'conflict' } })
      expect(await saved.list('max')).toHaveLength(maxConnectionsPerOwner)
    })
  })
}
