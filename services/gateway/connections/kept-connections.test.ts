import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Database, openDatabase } from '#shared/store/sql/connection.ts'
import { describeWith, startPostgres } from '../../testing/servers.ts'
import { type KeptConnections, maxPerOwner, openKeptConnections } from './user-connections.ts'

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

const written = (id: string) => ({
  id,
  name: `connection ${id}`,
  host: 'db.example.com:8443',
  sealed: 'kept.sealed',
  createdAtMs: 1_700_000_000_000,
  updatedAtMs: 1_700_000_000_000,
})

for (const { name, needs, start } of kinds) {
  describeWith(needs, `kept connections in ${name}`, () => {
    let server: Awaited<ReturnType<typeof start>>
    let database: Database
    let kept: KeptConnections
    beforeAll(async () => {
      server = await start()
      database = await openDatabase({ ...server.where, token: undefined, tablePrefix: 'test_' })
      kept = await openKeptConnections(database)
    })
    afterAll(async () => {
      await database?.[Symbol.asyncDispose]()
      await server?.stop()
    })

    it('come back as they were kept, by id and by number, and survive being opened again', async () => {
      const added = await kept.add('ada', written('a1'))
      expect(added).toEqual({ ...written('a1'), number: expect.any(Number) })
      const again = await openKeptConnections(database)
      expect(await again.list('ada')).toEqual([added])
      expect(await again.byId('ada', 'a1')).toEqual(added)
      expect(await again.byNumber('ada', added.number)).toEqual(added)
    })

    it('are nothing to anybody but their owner', async () => {
      const theirs = await kept.add('eve', written('e1'))
      expect(await kept.list('bob')).toEqual([])
      expect(await kept.byId('bob', 'e1')).toBeUndefined()
      expect(await kept.byNumber('bob', theirs.number)).toBeUndefined()
      expect(await kept.change('bob', 'e1', { name: 'mine now', updatedAtMs: 1 })).toBeUndefined()
      expect(await kept.remove('bob', 'e1')).toBeUndefined()
      expect(await kept.byId('eve', 'e1')).toEqual(theirs)
    })

    it('change in part, and their numbers are never used again', async () => {
      const first = await kept.add('dan', written('d1'))
      const renamed = await kept.change('dan', 'd1', { name: 'renamed', updatedAtMs: 1_800_000_000_000 })
      expect(renamed).toEqual({ ...first, name: 'renamed', updatedAtMs: 1_800_000_000_000 })
      expect(await kept.remove('dan', 'd1')).toEqual(renamed)
      expect((await kept.add('dan', written('d2'))).number).toBeGreaterThan(first.number)
    })

    it('all go at once, and nobody else’s with them', async () => {
      await kept.add('gus', written('g1'))
      await kept.add('gus', written('g2'))
      await kept.add('hal', written('h1'))
      expect([await kept.removeAll('gus'), await kept.removeAll('gus')]).toEqual([2, 0])
      expect([await kept.list('gus'), (await kept.list('hal')).length]).toEqual([[], 1])
    })

    it(`are ${maxPerOwner} at most, also when several are added at once`, async () => {
      for (let index = 0; index < maxPerOwner - 1; index++) await kept.add('max', written(`m${index}`))
      const both = await Promise.allSettled([kept.add('max', written('one')), kept.add('max', written('other'))])
      expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'conflict' } })
      expect(await kept.list('max')).toHaveLength(maxPerOwner)
    })
  })
}
