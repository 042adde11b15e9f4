import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { openSkills, type SkillStatement } from '../../agent/skills/skills.ts'
import { fetchText } from '../../sandbox/curl.ts'
import { readExampleStatements } from '../../sandbox/seed/seed.ts'

vi.setConfig({ testTimeout: 300_000 })

/** The two replicas that `run.ts` has started. They form one shard. */
const [a, b] = z.tuple([z.url(), z.url()]).parse(process.env.TEST_CLICKHOUSE_REPLICAS?.split(','))
const { list, load } = await openSkills(fileURLToPath(new URL('../../../skills', import.meta.url)))

/** A partition of the example statements. The example data may have no rows in it. */
const partition = '202610'
const partitionFingerprint = `SELECT count(), sum(cityHash64(id, customer_id, ordered_at, status, amount, note))
  FROM shop.orders WHERE toYYYYMM(ordered_at) = ${partition}`
const createOrderRows = (firstId: number): string =>
  `INSERT INTO shop.orders (id, customer_id, ordered_at, status, amount, note) SELECT ${firstId} + number, number % 100, toDateTime('2026-10-05 00:00:00') + number, 'paid', 1, 'x' FROM numbers(1000)`

const zkPath = '/clickhouse/tables/skills/orders'
const replicatedAs = (name: string): string =>
  `ENGINE = ReplicatedMergeTree('${zkPath}', '${name}') PARTITION BY toYYYYMM(ordered_at) ORDER BY (customer_id, ordered_at)`
const ordersColumns = `(id UInt64, customer_id UInt32, ordered_at DateTime, status LowCardinality(String), amount Decimal(12, 2), note String)`

/** Statements that create what a block of a skill needs, by the beginning of the block. */
const preparations: readonly { skill: string; before: string; run(): Promise<void> }[] = [
  {
    skill: 'cluster-operations',
    before: 'SYSTEM FLUSH DISTRIBUTED',
    run: () =>
      execute(a, [
        "CREATE TABLE shop.orders_distributed AS shop.orders ENGINE = Distributed('default', 'shop', 'orders')",
      ]),
  },
  {
    skill: 'migration-patterns',
    before: 'CREATE TABLE shop.orders_new',
    run: () => execute(a, [createOrderRows(50_000_000)]),
  },
  // A row that arrives while the snapshot is copied.
  {
    skill: 'migration-patterns',
    before: 'CREATE TABLE shop.orders_step',
    run: () => execute(a, [createOrderRows(60_000_000)]),
  },
  {
    skill: 'migration-patterns',
    before: 'EXCHANGE TABLES',
    run: () => execute(a, ['DROP VIEW shop.orders_to_new SYNC']),
  },
  {
    skill: 'migration-patterns',
    before: 'ALTER TABLE shop.orders_replicated',
    run: () =>
      execute(a, [
        `CREATE TABLE shop.orders_replicated AS shop.orders
         ENGINE = ReplicatedMergeTree('/clickhouse/tables/skills/orders_replicated', '{replica}')
         PARTITION BY toYYYYMM(ordered_at) ORDER BY (status, ordered_at, customer_id)`,
      ]),
  },
  {
    skill: 'replication-guide',
    before: '',
    run: async () => {
      const create = (name: string) => `CREATE TABLE shop.orders ${ordersColumns} ${replicatedAs(name)}`
      await execute(a, ['DROP TABLE shop.orders SYNC', create('a'), createOrderRows(1)])
      await execute(b, ['DROP DATABASE IF EXISTS shop SYNC', 'CREATE DATABASE shop', create('b')])
    },
  },
  {
    // The replica loses its metadata in Keeper, so it is read-only.
    skill: 'replication-guide',
    before: 'SYSTEM RESTORE REPLICA',
    run: async () => {
      await execute(a, ['DETACH TABLE shop.orders SYNC'])
      await execute(b, ["SYSTEM DROP REPLICA 'a' FROM TABLE shop.orders"])
      await execute(a, ['ATTACH TABLE shop.orders'])
      await expect.poll(() => fetchText(a, readOnlyReplicas), { timeout: 60_000 }).toBe('1')
    },
  },
  {
    skill: 'replication-guide',
    before: "SYSTEM DROP REPLICA 'old_replica'",
    run: () =>
      execute(b, [
        `CREATE TABLE shop.orders_old ${ordersColumns} ${replicatedAs('old_replica')}`,
        'DETACH TABLE shop.orders_old SYNC',
      ]),
  },
  { skill: 'security-hardening', before: 'CREATE USER reader', run: () => execute(a, ['DROP USER IF EXISTS reader']) },
]
const readOnlyReplicas =
  "SELECT count() FROM system.replicas WHERE database = 'shop' AND table = 'orders' AND is_readonly"

const execute = async (url: string, statements: readonly string[]): Promise<void> => {
  for (const sql of statements) await fetchText(url, sql, { param_variant: '0' })
}

/** Creates the example tables with their data on the first replica. */
const createExampleData = async (): Promise<void> => {
  for (const database of ['shop', 'telemetry', 'archive'])
    await execute(a, [`DROP DATABASE IF EXISTS ${database} SYNC`])
  const statements = ['tables.sql', 'data.sql', 'changes.sql'].flatMap(readExampleStatements)
  // The backup of the example is written to a folder that this server does not allow.
  await execute(a, [...statements.filter((sql) => !sql.startsWith('BACKUP')), 'SYSTEM FLUSH LOGS'])
}

const runBlock = async (
  skill: string,
  { line, sql }: SkillStatement,
  examples: Readonly<Record<string, string>>,
): Promise<void> => {
  const parameters = Object.fromEntries(Object.entries(examples).map(([name, value]) => [`param_${name}`, value]))
  try {
    await fetchText(a, sql.replaceAll("'production'", "'default'"), parameters)
  } catch (error) {
    throw new Error(`${skill}, line ${line}: ${String(error)}`, { cause: error })
  }
}

describe.each(list())('the skill $name', ({ name }) => {
  it('has statements that run on a server in their order, including those that write', async () => {
    const { statements, examples } = load(name)
    await createExampleData()
    const used = new Set<string>()
    for (const block of statements) {
      for (const { skill, before, run } of preparations) {
        if (skill !== name || used.has(before) || !block.sql.replace(/^--.*\n/, '').startsWith(before)) continue
        used.add(before)
        await run()
      }
      await runBlock(name, block, examples)
    }
    // A preparation without its block would mean that the skill has changed.
    expect([...used]).toEqual(preparations.filter(({ skill }) => skill === name).map(({ before }) => before))
    await outcomes[name]?.()
  })
})

/** What must be true after all statements of a skill have run. */
const outcomes: Readonly<Record<string, () => Promise<void>>> = {
  async 'migration-patterns'() {
    const swapped = await fetchText(a, partitionFingerprint)
    const original = await fetchText(a, partitionFingerprint.replace('shop.orders', 'shop.orders_new'))
    expect(swapped).toBe(original)
    const sortingKey = "SELECT sorting_key FROM system.tables WHERE database = 'shop' AND name = 'orders'"
    expect(await fetchText(a, sortingKey)).toBe('status, ordered_at, customer_id')
    const attached = await fetchText(a, partitionFingerprint.replace('shop.orders', 'shop.orders_replicated'))
    expect(attached).toBe(original)
    const backups = "SELECT count() FROM system.backups WHERE status = 'BACKUP_CREATED'"
    await expect.poll(() => fetchText(a, backups), { timeout: 60_000 }).not.toBe('0')
  },
  async 'query-tuning-advisor'() {
    const indexed = `SELECT count() FROM system.data_skipping_indices WHERE name = 'status_values'`
    expect(await fetchText(a, indexed)).toBe('1')
  },
  async 'replication-guide'() {
    expect(await fetchText(a, readOnlyReplicas)).toBe('0')
    expect(await fetchText(a, 'SELECT count() FROM shop.orders')).toBe('1000')
    const replicas = `SELECT groupArray(name) FROM (SELECT name FROM system.zookeeper WHERE path = '${zkPath}/replicas' ORDER BY name)`
    expect(await fetchText(a, replicas)).toBe("['a','b']")
  },
  async 'security-hardening'() {
    expect(await fetchText(a, 'SHOW GRANTS FOR reader')).toBe('GRANT SELECT ON shop.* TO reader')
  },
}
