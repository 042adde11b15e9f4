import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { describeWith, startPostgres, type TestServer } from '../../testing/describe-with.ts'
import { createPostgresSourceHandlers } from './handlers.ts'
import { openPostgresSource } from './source.ts'
import { createCall } from '../testing/test-service.ts'

const call = createCall()
const withinMs = 30_000

const urlFor = (server: TestServer, user: string, database = 'postgres'): string => {
  const url = new URL(server.url)
  url.username = user
  url.pathname = `/${database}`
  return url.href
}

/** Returns the handlers for an environment. */
const openWith = (env: Record<string, string | undefined>) => {
  const postgresSource = openPostgresSource({ env })
  return {
    source: postgresSource,
    ...createPostgresSourceHandlers({ postgresSource }),
    [Symbol.asyncDispose]: () => postgresSource[Symbol.asyncDispose](),
  }
}

describeWith(['postgres'], 'the PostgreSQL source', () => {
  let server: TestServer
  let admin: Client
  let methods: ReturnType<typeof openWith>
  const scope = new AsyncDisposableStack()

  const connect = async (url = server.url): Promise<Client> => {
    const client = new Client({ connectionString: url, application_name: 'shop' })
    client.on('error', () => {})
    await client.connect()
    scope.defer(() => client.end())
    return client
  }
  const of = (user: string, database?: string) =>
    scope.use(openWith({ SVC_POSTGRES_SOURCE_URL: urlFor(server, user, database) }))

  beforeAll(async () => {
    server = scope.use(await startPostgres({ preload: ['pg_stat_statements'] }))
    const maker = new Client({ connectionString: server.url })
    await maker.connect()
    for (const statement of [
      'CREATE EXTENSION pg_stat_statements',
      'CREATE ROLE watcher LOGIN IN ROLE pg_monitor',
      'CREATE ROLE "odd one" LOGIN',
      'CREATE DATABASE other',
      'CREATE SCHEMA shop',
      'CREATE TABLE shop.orders (id int PRIMARY KEY, who text) WITH (autovacuum_enabled = off)',
      "INSERT INTO shop.orders SELECT n, 'customer ' || n FROM generate_series(1, 10000) AS n",
      'VACUUM ANALYZE shop.orders',
      "UPDATE shop.orders SET who = 'absent' WHERE id <= 500",
      "SELECT count(*) FROM shop.orders WHERE who = 'absent'",
      'CREATE TABLE shop.empty ()',
    ]) {
      await maker.query(statement)
    }
    // A session reports its counters when it ends.
    await maker.end()
    admin = await connect()
    methods = of('watcher')
  }, withinMs)
  afterAll(() => scope.disposeAsync())

  describe('its status', () => {
    it('returns the server facts', async () => {
      const { status, server: said } = await methods.postgresStatus({}, call)
      expect({ status, said }).toEqual({
        status: 'connected',
        said: {
          version: expect.any(String),
          database: 'postgres',
          startedMs: expect.any(Number),
          isStandby: false,
          limited: null,
        },
      })
      expect(Date.now() - Number(said?.startedMs)).toBeLessThan(600_000)
    })

    it.each([
      ['an unknown user', () => urlFor(server, 'stranger'), 'auth'],
      ['a database that there is not', () => urlFor(server, 'watcher', 'nowhere'), 'auth'],
      ['a closed port', () => 'postgres://watcher:correct-horse@127.0.0.1:1/shop', 'unreachable'],
      ['TLS where there is none', () => `${urlFor(server, 'watcher')}?sslmode=require`, 'unreachable'],
    ])('names the setting to check for %s, without details', async (_case, url, status) => {
      await using wrong = openWith({ SVC_POSTGRES_SOURCE_URL: url() })
      const result = await wrong.postgresStatus({}, call)
      expect(result).toEqual({ status, message: expect.stringContaining('SVC_POSTGRES_SOURCE_URL'), server: null })
      expect(result.message).not.toMatch(/watcher|stranger|nowhere|correct|127\.0/)
      await expect(wrong.postgresLocks({ withValues: true }, call)).rejects.toMatchObject({
        code: 'unavailable',
        details: { reason: status },
      })
    })

    it.each([
      [{}, false],
      [{ SVC_FEATURE_POSTGRES_SOURCE: 'true' }, false],
      [{ SVC_POSTGRES_SOURCE_URL: 'postgres://x' }, true],
      [{ SVC_POSTGRES_SOURCE_URL: 'postgres://x', SVC_FEATURE_POSTGRES_SOURCE: 'perhaps' }, true],
      [{ SVC_POSTGRES_SOURCE_URL: 'postgres://x', SVC_FEATURE_POSTGRES_SOURCE: 'off' }, false],
      [{ SVC_POSTGRES_SOURCE_URL: 'postgres://x', SVC_CLOUD_MODE: 'cloud' }, false],
      [{ SVC_POSTGRES_SOURCE_URL: 'postgres://x', SVC_CLOUD_MODE: 'cloud', SVC_FEATURE_POSTGRES_SOURCE: 'on' }, true],
    ])('with %j: offered is %j', async (env, isOffered) => {
      await using other = openWith(env)
      expect(await other.postgresOffered({}, call)).toEqual({ isOffered })
    })

    it('succeeds without a source, while other requests fail', async () => {
      await using none = openWith({})
      expect(await none.postgresStatus({}, call)).toMatchObject({ status: 'not-configured', server: null })
      await expect(none.postgresReplication({}, call)).rejects.toMatchObject({ code: 'not-implemented' })
    })
  })

  describe('a read', () => {
    const Settings = z.object({ readOnly: z.string(), statement: z.string(), lock: z.string(), idle: z.string() })
    const settingsSql = `SELECT current_setting('transaction_read_only') AS "readOnly", current_setting('statement_timeout') AS statement,
      current_setting('lock_timeout') AS lock, current_setting('idle_in_transaction_session_timeout') AS idle`

    it('runs in a read-only transaction with limits', async () => {
      const [settings] = await methods.source.read((runQuery) => runQuery(Settings, settingsSql))
      expect(settings).toEqual({ readOnly: 'on', statement: '5s', lock: '500ms', idle: '7s' })
    })

    it('cannot write and leaves nothing behind', async () => {
      await using mighty = openWith({ SVC_POSTGRES_SOURCE_URL: server.url })
      const write = mighty.source.read((runQuery) => runQuery(z.object({}), 'CREATE TABLE public.written ()'))
      await expect(write).rejects.toMatchObject({
        code: 'internal',
        message: 'the PostgreSQL source returned an error',
      })
      const { rows } = await admin.query(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'watchhouse source' AND state <> 'idle'",
      )
      expect(rows).toEqual([])
    })

    it('reconnects after a closed connection', async () => {
      await methods.postgresStatus({}, call)
      await admin.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'watchhouse source'",
      )
      await expect.poll(async () => (await methods.postgresStatus({}, call)).status).toBe('connected')
    })

    it('follows a changed setting', async () => {
      const env = { SVC_POSTGRES_SOURCE_URL: urlFor(server, 'watcher') }
      await using moving = openWith(env)
      const databaseNow = async () => (await moving.postgresStatus({}, call)).server?.database
      expect(await databaseNow()).toBe('postgres')
      env.SVC_POSTGRES_SOURCE_URL = urlFor(server, 'watcher', 'other')
      expect(await databaseNow()).toBe('other')
    })

    it('limits connections under many requests', async () => {
      await using busy = openWith({ SVC_POSTGRES_SOURCE_URL: urlFor(server, 'watcher', 'other') })
      const results = await Promise.allSettled(Array.from({ length: 60 }, () => busy.postgresReplication({}, call)))
      const { rows } = await admin.query(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'watchhouse source' AND datname = 'other'",
      )
      expect(rows.length).toBeLessThanOrEqual(3)
      const failed = results
        .filter((each) => each.status === 'rejected')
        .map(({ reason }) => z.object({ code: z.string() }).parse(reason).code)
      expect(failed.length).toBeLessThan(60)
      expect(failed.every((code) => code === 'busy')).toBe(true)
    })
  })

  describe('its sessions', () => {
    const request = { all: false, limit: 100, withValues: true }

    it('are listed with their statements, with values only on request', async () => {
      const holder = await connect()
      await holder.query('BEGIN')
      await holder.query("SELECT 'ada@example.com' AS mail")
      const find = async (withValues: boolean) => {
        const { sessions, counts } = await methods.postgresActivity({ ...request, withValues }, call)
        return { counts, session: sessions.find(({ query }) => query?.includes('AS mail')) }
      }
      const { counts, session } = await find(true)
      expect(session).toMatchObject({
        user: 'watchhouse',
        database: 'postgres',
        application: 'shop',
        type: 'client backend',
        state: 'idle in transaction',
        statementMs: null,
        query: "SELECT 'ada@example.com' AS mail",
      })
      expect(session?.transactionMs).toBeGreaterThanOrEqual(0)
      expect(counts).toMatchObject({ idleInTransaction: 1, waitingForLock: 0, limit: 100 })
      expect((await find(false)).session?.query).toBe('SELECT ? AS mail')
      await holder.query('ROLLBACK')
      expect((await find(true)).session).toBeUndefined()
    })

    it('are all listed on request, except own sessions', async () => {
      const { sessions } = await methods.postgresActivity({ ...request, all: true }, call)
      expect(sessions.map(({ type }) => type)).toEqual(expect.arrayContaining(['client backend', 'checkpointer']))
      expect(sessions.map(({ application }) => application)).not.toContain('watchhouse source')
      const cut = await methods.postgresActivity({ ...request, all: true, limit: 1 }, call)
      expect([cut.sessions.length, cut.truncated]).toEqual([1, true])
    })

    it('of others are hidden from users without the role, with the grant to add', async () => {
      const holder = await connect()
      await holder.query('BEGIN')
      await holder.query("SELECT 'hidden' AS mail")
      const { sessions, limited } = await of('odd one').postgresActivity({ ...request, all: true }, call)
      await holder.query('ROLLBACK')
      expect(limited).toMatchObject({ grant: 'GRANT pg_monitor TO "odd one"' })
      expect(sessions.map(({ query }) => query)).toEqual(sessions.map(() => null))
    })
  })

  it('lists blocking sessions', async () => {
    const [first, second, third] = [await connect(), await connect(), await connect()]
    await first.query('BEGIN')
    await first.query("UPDATE shop.orders SET who = 'first' WHERE id = 7")
    await second.query('BEGIN')
    await second.query('LOCK TABLE shop.empty IN ACCESS EXCLUSIVE MODE')
    const waits = [
      second.query("UPDATE shop.orders SET who = 'second' WHERE id = 7"),
      third.query('SELECT FROM shop.empty'),
    ]
    const read = async () => (await methods.postgresLocks({ withValues: true }, call)).sessions
    await expect.poll(async () => (await read()).length).toBe(3)
    const sessions = await read()
    await first.query('COMMIT')
    await waits[0]
    await second.query('COMMIT')
    await waits[1]
    const [one, two, three] = sessions
    expect(sessions).toMatchObject([
      { blockedBy: [], blocks: 2, state: 'idle in transaction', waitsFor: null },
      {
        blockedBy: [one?.pid],
        blocks: 1,
        state: 'active',
        waitsFor: { type: 'transactionid', mode: 'ShareLock', relation: null },
        query: "UPDATE shop.orders SET who = 'second' WHERE id = 7",
      },
      {
        blockedBy: [two?.pid],
        blocks: 0,
        waitsFor: { type: 'relation', mode: 'AccessShareLock', relation: 'shop.empty' },
      },
    ])
    expect(three?.waitsFor?.waitedMs).toBeGreaterThanOrEqual(0)
    expect(await read()).toEqual([])
  })

  describe('its statements', () => {
    const request = { order: 'calls', limit: 100 } as const

    it('are listed as patterns with their cost, except own statements', async () => {
      for (const id of [1, 2, 3]) await admin.query(`SELECT who AS peculiar FROM shop.orders WHERE id = ${id}`)
      const { statements, sinceMs, unavailable } = await methods.postgresStatements(
        { ...request, search: 'PECULIAR' },
        call,
      )
      expect(unavailable).toBeNull()
      expect(Date.now() - Number(sinceMs)).toBeLessThan(600_000)
      expect(statements).toMatchObject([
        {
          query: 'SELECT who AS peculiar FROM shop.orders WHERE id = $1',
          database: 'postgres',
          user: 'watchhouse',
          calls: 3,
          rows: 3,
          cacheHitShare: expect.any(Number),
        },
      ])
      expect(statements[0]?.totalMs).toBeGreaterThan(0)
      const { statements: all } = await methods.postgresStatements(request, call)
      expect(all.filter(({ user }) => user === 'watcher')).toEqual([])
      expect(all.map(({ calls }) => calls)).toEqual(all.map(({ calls }) => calls).toSorted((a, b) => b - a))
    })

    it.each(['total_time', 'mean', 'longest', 'rows', 'read', 'temp', 'wal'] as const)(
      'can be ordered by %s',
      async (order) => {
        const { statements, truncated } = await methods.postgresStatements({ order, limit: 2 }, call)
        expect([statements.length, truncated]).toEqual([2, true])
      },
    )

    it('hide values that the server leaves in patterns', async () => {
      await admin.query("CREATE ROLE careless PASSWORD 'correct horse'")
      const { statements } = await methods.postgresStatements({ ...request, search: 'careless' }, call)
      expect(statements).toMatchObject([{ query: 'CREATE ROLE careless PASSWORD ?' }])
    })

    it('of others are hidden from users without the role', async () => {
      const { statements, limited } = await of('odd one').postgresStatements(request, call)
      expect(limited?.grant).toBe('GRANT pg_monitor TO "odd one"')
      expect(statements.filter(({ user }) => user === 'watchhouse').map(({ query }) => query)).not.toContainEqual(
        expect.any(String),
      )
    })

    it('return setup steps without the extension', async () => {
      const { statements, unavailable } = await of('watcher', 'other').postgresStatements(request, call)
      expect(statements).toEqual([])
      expect(unavailable).toMatchObject({
        reason: 'missing-table',
        missingTables: ['pg_stat_statements'],
        steps: ['In the database other, as a superuser: CREATE EXTENSION pg_stat_statements'],
      })
    })
  })

  describe('its tables', () => {
    const request = { order: 'size', limit: 10 } as const

    it('are listed with sizes, rows and maintenance', async () => {
      const figures =
        "SELECT pg_total_relation_size('shop.orders')::float8 AS total, pg_indexes_size('shop.orders')::float8 AS indexes"
      const {
        rows: [measured],
      } = await admin.query(figures)
      await expect
        .poll(async () => (await methods.postgresTables({ ...request, search: 'ORDERS' }, call)).tables[0]?.deadRows)
        .toBeGreaterThanOrEqual(500)
      const { tables, ...rest } = await methods.postgresTables(request, call)
      expect(rest).toEqual({ truncated: false, database: 'postgres', sizes: 'measured' })
      expect(tables.map(({ schema, table }) => `${schema}.${table}`)).toEqual(['shop.orders', 'shop.empty'])
      expect(tables[0]).toMatchObject({
        totalBytes: measured.total,
        indexBytes: measured.indexes,
        inserted: 10_000,
        analyzedMs: expect.any(Number),
        indexScans: expect.any(Number),
      })
      expect(tables[0]?.freezeShare).toBeLessThan(0.01)
      expect(tables[1]).toMatchObject({ totalBytes: 0, indexScans: null, vacuumedMs: null, hotUpdateShare: null })
    })

    it.each(['dead_rows', 'sequential_reads', 'writes', 'age'] as const)('can be ordered by %s', async (order) => {
      expect((await methods.postgresTables({ order, limit: 1 }, call)).tables).toMatchObject([{ table: 'orders' }])
    })

    it('have estimated sizes while one of them is locked', async () => {
      const holder = await connect()
      await holder.query('BEGIN')
      await holder.query('LOCK TABLE shop.orders IN ACCESS EXCLUSIVE MODE')
      const { tables, sizes } = await methods.postgresTables(request, call)
      await holder.query('ROLLBACK')
      expect(sizes).toBe('estimated')
      expect(tables[0]?.totalBytes).toBeGreaterThan(100_000)
    })
  })

  it('lists standbys, subscriptions and retained WAL', async () => {
    await admin.query("SELECT pg_create_physical_replication_slot('left_behind', true)")
    await admin.query('INSERT INTO shop.orders SELECT n FROM generate_series(20000, 30000) AS n')
    // `pg` sends unknown parameters to the server.
    const options = { connectionString: server.url, application_name: 'copy', replication: 'true' }
    const copier = new Client(options)
    copier.on('error', () => {})
    await copier.connect()
    void copier.query('START_REPLICATION 0/0').catch(() => {})
    await expect.poll(async () => (await methods.postgresReplication({}, call)).replication.standbys.length).toBe(1)
    const { replication } = await methods.postgresReplication({}, call)
    await copier.end()
    expect(replication).toMatchObject({
      isStandby: false,
      standbys: [{ application: 'copy', user: 'watchhouse', syncState: 'async' }],
      slots: [{ name: 'left_behind', type: 'physical', isActive: false, walStatus: 'reserved' }],
      receiver: null,
      subscriptions: [],
    })
    expect(replication.slots[0]?.retainedBytes).toBeGreaterThan(100_000)
    await admin.query("SELECT pg_drop_replication_slot('left_behind')")
  })
})
