import assert from 'node:assert/strict'
import type { SchemaStatement } from '#proto/schema-diff.ts'
import { createCall, openTestService } from '../../query/testing/test-service.ts'
import { queryClickHouse } from '../../testing/fetch-json.ts'
import { startRealServer } from './real-server.ts'
import type { Report } from './report.ts'
import { type SchemaDifferenceCase, schemaDifferenceCases } from './schema-differences.ts'

const database = 'shop'

/** The cluster of the Distributed tables. */
const clusterConfig = {
  'config.d/cluster.xml':
    '<clickhouse><remote_servers><x><shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard></x></remote_servers></clickhouse>',
}

const createSide = async (
  url: string,
  side: 'base' | 'target',
  cases: readonly SchemaDifferenceCase[],
): Promise<void> => {
  await queryClickHouse(url, `CREATE DATABASE ${database}`)
  for (const [index, definition] of cases.entries()) {
    const name = `t${index}`
    for (const sql of definition[side]) {
      const statement = sql.replaceAll('{t}', `${database}.${name}`).replaceAll('{n}', name).replaceAll('{d}', database)
      await queryClickHouse(url, statement)
    }
    const isTable = definition[side][0]?.startsWith('CREATE TABLE {t} (id UInt64')
    const isStored = isTable && !definition[side][0]?.includes('Distributed')
    if (side === 'base' && isStored)
      await queryClickHouse(url, `INSERT INTO ${database}.${name} (id) VALUES (1), (2), (3)`)
  }
}

/** Runs a statement as it is shown. Returns the failure. */
const execute = async (url: string, { sql }: SchemaStatement): Promise<string | undefined> => {
  try {
    await queryClickHouse(url, sql)
    return undefined
  } catch (error) {
    return `${sql}: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Returns the cases of which no object is among the found ones. */
const findMissedCases = (found: ReadonlySet<string>): string[] =>
  schemaDifferenceCases.flatMap(({ name }, index) => {
    const pattern = new RegExp(`\\bt${index}\\b|_t${index}\\b|\\bt${index}_`)
    return [...found].some((object) => pattern.test(object)) ? [] : name
  })

/** Proves that the statements of a schema diff turn the first schema into the second. */
export const checkSchemaDiff = async (versions: readonly [string, string], report: Report): Promise<void> => {
  await using base = await startRealServer(versions[0], 'base', () => clusterConfig)
  await using target = await startRealServer(versions[1], 'target', () => clusterConfig)
  await createSide(base.url, 'base', schemaDifferenceCases)
  await createSide(target.url, 'target', schemaDifferenceCases)
  await using parts = await openTestService({
    COLUMNDB_HOST: `${base.url},${target.url}`,
    COLUMNDB_NAME: 'base,target',
  })
  const compare = () =>
    parts.handlers.schemaDiff({ base: { hostKeys: ['base'] }, target: { hostKeys: ['target'] } }, createCall())
  const title = `schema diff from ${versions[0]} to ${versions[1]}`
  const first = await compare()
  const found = new Set(first.differences.map(({ name }) => name))
  await report(`${title}: every difference is found, and no other`, async () => {
    assert.deepEqual(findMissedCases(found), [])
    // The tables that views and dictionaries read are equal on both servers.
    assert.deepEqual(
      [...found].filter((name) => name.endsWith('_source')),
      [],
    )
    return `${schemaDifferenceCases.length} cases, ${found.size} objects`
  })
  await report(`${title}: no statement was executed by the comparison`, async () => {
    assert.deepEqual((await compare()).differences, first.differences)
  })
  await report(`${title}: every statement runs, and the second diff is empty`, async () => {
    const failures: string[] = []
    for (const statement of first.statements) {
      const failure = await execute(base.url, statement)
      if (failure !== undefined) failures.push(failure)
    }
    assert.deepEqual(failures, [])
    const second = await compare()
    assert.deepEqual(
      second.differences.map(({ diff }) => diff),
      [],
    )
    return `${first.statements.length} statements`
  })
  await report(`${title}: tables that were created again keep their rows`, async () => {
    const index = schemaDifferenceCases.findIndex(({ name }) => name === 'PARTITION BY is different')
    assert.deepEqual(await queryClickHouse(base.url, `SELECT count() AS rows FROM ${database}.t${index}`), [
      { rows: 3 },
    ])
  })
}
