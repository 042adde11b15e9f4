import { expect, it } from 'vitest'
import { createSchemaStatements, historyTables } from './schema.ts'
import { readHistoryConfig } from './settings.ts'

const schemaOf = (env: Record<string, string>): string[] => {
  const config = readHistoryConfig({ SVC_HISTORY_URL: 'http://history:8123', ...env })
  return config ? [...createSchemaStatements(config).values()] : []
}

it('replicates and distributes all tables over a cluster', () => {
  const statements = schemaOf({ SVC_HISTORY_CLUSTER: 'main' })
  expect(statements).toHaveLength(2 * (historyTables.length + 1))
  for (const sql of statements) expect(sql).toContain(' ON CLUSTER `main`')
  const [stored, read] = [
    statements.find((sql) => sql.includes('`samples_local`') && sql.includes('ReplicatedMergeTree')),
    statements.find((sql) => sql.includes('EXISTS `watchhouse`.`samples` ')),
  ]
  expect(stored).toContain("'/clickhouse/tables/{shard}/{database}/{table}'")
  expect(stored).toContain('replicated_deduplication_window = ')
  expect(stored).not.toContain('non_replicated')
  expect(read).toContain("ENGINE = Distributed('main', 'watchhouse', 'samples_local', cityHash64(host))")
})

it('keeps rows as long as the retention', () => {
  const samples = schemaOf({ SVC_HISTORY_RETENTION: '2d, 10d, 30d', SVC_HISTORY_DATABASE: 'past' }).find((sql) =>
    sql.includes('`past`.`samples`'),
  )
  expect(samples).toContain('TTL time + toIntervalDay(30) DELETE, time + toIntervalDay(2) GROUP BY host, metric, label')
  expect(samples).toContain('time + toIntervalDay(10) GROUP BY host, metric, label, toStartOfHour(time) SET time')
})
