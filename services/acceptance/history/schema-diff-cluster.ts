import assert from 'node:assert/strict'
import { createCall, openTestService } from '../../query/testing/test-service.ts'
import { startFaultCluster } from '../cluster-faults/cluster.ts'
import type { Report } from './report.ts'

const table = '(id UInt64, a UInt32) ENGINE = '

/** Proves on two shards with two replicas that what differs by nature is no difference, and compares groups. */
export const checkSchemaDiffOnCluster = async (version: string, report: Report): Promise<void> => {
  await using cluster = await startFaultCluster(version)
  const { s1r1, s1r2, s2r1, s2r2 } = cluster.servers
  await s1r1.run(
    'CREATE DATABASE shop ON CLUSTER fleet',
    `CREATE TABLE shop.macros ON CLUSTER fleet ${table} ReplicatedMergeTree ORDER BY id`,
    `CREATE TABLE shop.path ON CLUSTER fleet ${table} ReplicatedReplacingMergeTree('/shop/{shard}/path', '{replica}', a) ORDER BY id`,
    'CREATE MATERIALIZED VIEW shop.view ON CLUSTER fleet ENGINE = MergeTree ORDER BY id AS SELECT id FROM shop.macros',
  )
  const servers = [s1r1, s1r2, s2r1, s2r2]
  await using parts = await openTestService({
    COLUMNDB_HOST: servers.map(({ url }) => url).join(','),
    COLUMNDB_NAME: servers.map(({ name }) => name).join(','),
  })
  const compare = (base: string[], target: string[]) =>
    parts.handlers.schemaDiff(
      { base: { hostKeys: base }, target: { hostKeys: target }, database: 'shop' },
      createCall(),
    )
  const named: Report = (name, check) => report(`schema diff on a cluster of ${version}: ${name}`, check)
  await named('replicas, shards, unique identifiers and inner tables are no difference', async () => {
    for (const other of ['s1r2', 's2r1', 's2r2']) {
      const { differences, compared } = await compare(['s1r1'], [other])
      assert.deepEqual(differences, [])
      assert.equal(compared.base, 3)
    }
  })
  await named('a replicated table is altered as the other shard is', async () => {
    await s2r1.run("ALTER TABLE shop.macros ADD COLUMN b String DEFAULT 'x', ADD INDEX ix a TYPE minmax GRANULARITY 1")
    const { statements } = await compare(['s1r1', 's1r2'], ['s2r1', 's2r2'])
    for (const { sql } of statements) await s1r1.run(sql)
    assert.deepEqual((await compare(['s1r1'], ['s2r1'])).differences, [])
    return `${statements.length} statements`
  })
  await named('a new Keeper path is left to a person', async () => {
    await s2r1.run(`DROP TABLE shop.path SYNC`)
    await s2r1.run(
      `CREATE TABLE shop.path ${table} ReplicatedMergeTree('/shop/{shard}/other', '{replica}') ORDER BY id`,
    )
    const { statements } = await compare(['s1r1'], ['s2r1'])
    assert.equal(statements[0]?.risk, 'manual')
    assert.match(statements[0].note, /choose another Keeper path/)
  })
  await named('hosts that differ within a group are noted', async () => {
    await s1r2.run('DROP TABLE shop.view SYNC')
    const { differences, notes } = await compare(['s1r1', 's1r2', 's2r2'], ['s2r2'])
    assert.deepEqual(differences, [])
    assert.deepEqual(notes, ['shop.view differs within the group: compared without s1r2'])
  })
}
