import { describe, expect, it, vi } from 'vitest'
import { sendResultRows, startHttpStub } from '../testing/stub-host.ts'
import { createCall, openTestService } from '../testing/test-service.ts'

const basics = ['25.8.1', 77, 'machine', 'Asia/Kathmandu', '0']
const load = [4, 2, 30, 40, 1.5, 0.25, 50, 200, 0, 7]
const counts = [3, 40]
const queriesOfDay = [1_000]
const cores = [8]
/** The values of a statement that reads all metrics at once, in column order. */
const all = [3, 40, ...load.slice(0, 6), ...cores, ...load.slice(6), 1_000]
const tables = ['processes', 'merges', 'asynchronous_metrics', 'metrics', 'disks', 'query_log']

const startHost = async (env: Record<string, string> = {}) => {
  const statements: string[] = []
  const stub = await startHttpStub(
    ({ sql, url }, response) => {
      if (url.searchParams.get('log_comment')?.includes('overview')) statements.push(sql)
      const values = () => {
        if (sql.includes('FROM system.processes') && sql.includes('FROM system.databases')) return all
        if (sql.includes('FROM system.processes')) return load
        if (sql.includes('FROM system.query_log')) return queriesOfDay
        return sql.includes('FROM system.databases') ? counts : cores
      }
      sendResultRows(response, [[...basics, ...(sql.includes('FROM') ? values() : [])]])
    },
    { tables },
  )
  const parts = await openTestService({ COLUMNDB_HOST: stub.url, COLUMNDB_NAME: 'db', ...env })
  await vi.waitFor(() => expect(parts.probe.known('db').load).not.toBeNull())
  return {
    statements,
    overview: () => parts.handlers.overview({ hostKey: 'db' }, createCall()),
    async [Symbol.asyncDispose]() {
      await parts[Symbol.asyncDispose]()
      await stub[Symbol.asyncDispose]()
    },
  }
}

describe('the overview', () => {
  it('takes the load from the last probe, and reads counts once for several refreshes', async () => {
    await using host = await startHost()
    for (let refresh = 0; refresh < 3; refresh++)
      expect(await host.overview()).toMatchObject({
        runningQueries: 4,
        todayQueries: 1_000,
        databaseCount: 3,
        tableCount: 40,
        diskUsage: { usedBytes: 50, totalBytes: 200, percent: 25 },
        hostInfo: { version: '25.8.1', hostname: 'machine', timezone: 'Asia/Kathmandu' },
        metrics: { merges: 2, cpuCores: 8, maxReplicaDelaySeconds: 7 },
        unavailable: {},
      })
    expect(host.statements.toSorted()).toEqual([
      expect.stringContaining('FROM system.query_log'),
      expect.stringContaining('FROM system.databases'),
      expect.stringContaining('FROM system.asynchronous_metrics'),
    ])
  })

  it('reads everything in one statement if the cache is off', async () => {
    await using host = await startHost({ SVC_QUERY_CACHE: 'off' })
    for (let refresh = 0; refresh < 2; refresh++)
      expect(await host.overview()).toMatchObject({
        runningQueries: 4,
        tableCount: 40,
        hostInfo: { uptimeSeconds: 77 },
      })
    expect(host.statements).toHaveLength(2)
  })
})
