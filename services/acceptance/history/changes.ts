import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { ChangesResponse } from '#proto/http/changes.ts'
import { fetchJson, queryClickHouse } from '../../testing/fetch-json.ts'
import { type Product, startProduct } from '../../testing/product.ts'
import { applyConfiguration, type SeededChange, seededStatements, statementsBefore } from './seeded-changes.ts'
import { startQueryLoad } from './query-load.ts'
import { startRealServer } from './real-server.ts'
import { type ChangeableServer, startChangeableServer } from './changeable-server.ts'
import type { Report } from './report.ts'

const host = 'box'
const secret = 'secret of the repository host'
const token = 'token of the senders'
const loadPerSecond = 2
const pollMs = 2_000
const usualToleranceMs = 60_000
const hourlyToleranceMs = 3_600_000
/** The snapshots of two minutes contain every change of a definition. */
const recordedWithinMs = 150_000
/** A shift of the workload is recorded after three buckets of five minutes, and an evaluation every ten minutes. */
const evaluatedWithinMs = 35 * 60_000
const minutesBefore = 60

/** The versions of the server before and after its upgrade. */
interface Upgrade {
  from: string
  to: string
}

/** Makes changes of all kinds on a real server, also an upgrade, and compares them with the timeline. */
export const checkChanges = async ({ from, to }: Upgrade, report: Report): Promise<void> => {
  await using scope = new AsyncDisposableStack()
  const server = scope.use(await startChangeableServer(from))
  const history = scope.use(await startRealServer('25.8', 'history'))
  for (const statement of statementsBefore) await queryClickHouse(server.url, statement)
  const lastCallMs = await seedPattern(server.url)
  const env = {
    SVC_HISTORY_URL: history.url,
    SVC_EVENTS_INGEST_TOKEN: token,
    REPO_HOST_WEBHOOK_SECRET: secret,
    SVC_HEALTH_SWEEP_ENABLED: 'false',
  }
  const product = scope.use(await startProduct({ hosts: [{ url: server.url, name: host }], env }))
  await waitForFirstSnapshot(history.url)
  const fromMs = Date.now()
  const made = await makeChanges(server, product, to)
  using _load = startQueryLoad([server.url], loadPerSecond)
  const loadMs = Date.now()
  made.push(
    { name: 'pattern that no longer runs', kind: 'workload', title: /no longer runs.*numbers/, atMs: lastCallMs },
    { name: 'new pattern', kind: 'workload', title: /new query pattern/, atMs: loadMs, isHourly: true },
    { name: 'shift', kind: 'workload', title: /a minute changed/, atMs: loadMs, isHourly: true },
  )
  const read = () => readChanges(product.url, Math.min(fromMs, lastCallMs - usualToleranceMs))
  const isComplete = (found: readonly Found[]) => made.every((change) => found.some((each) => isOf(change, each)))
  await waitUntil(async () => isComplete(await read()), evaluatedWithinMs)
  await reportChanges(`${from} to ${to}`, made, await read(), report)
}

type Found = Awaited<ReturnType<typeof readChanges>>[number]

const readChanges = async (url: string, fromMs: number) => {
  const range = `from=${Math.floor(fromMs / 1_000)}&to=${Math.ceil(Date.now() / 1_000)}`
  const { body } = await fetchJson(`${url}/api/v1/changes?limit=500&${range}`)
  const { data, metadata } = ChangesResponse.parse(body)
  assert.deepEqual(metadata, { isRecorded: true, problems: [] })
  return data
}

const isOf = ({ kind, title }: SeededChange, found: Pick<Found, 'kind' | 'title'>): boolean =>
  found.kind === kind && title.test(found.title)

/** Reports found, late and invented changes. */
const reportChanges = async (
  name: string,
  made: readonly SeededChange[],
  found: readonly Found[],
  report: Report,
): Promise<void> => {
  const offsets: number[] = []
  for (const change of made) {
    await report(`${name}: ${change.name}`, async () => {
      const matching = found.filter((each) => isOf(change, each))
      const kinds = found.filter(({ title }) => change.title.test(title)).map(({ kind }) => kind)
      assert.ok(
        matching.length > 0,
        `not found as ${change.kind}; kinds with this title: ${kinds.join(', ') || 'none'}`,
      )
      const offsetMs = Math.min(...matching.map(({ atMs }) => Math.abs(atMs - change.atMs)))
      assert.ok(offsetMs <= (change.isHourly ? hourlyToleranceMs : usualToleranceMs), `${offsetMs} ms off`)
      if (!change.isHourly) offsets.push(offsetMs)
      return `${matching[0]?.title}, ${(offsetMs / 1_000).toFixed(0)} s off`
    })
  }
  await report(`${name}: no change is invented`, async () => {
    const invented = found.filter((each) => !made.some((change) => isOf(change, each)))
    assert.deepEqual(
      invented.map(({ kind, title, detail, diff }) => ({ kind, title, detail, diff })),
      [],
    )
    return `${made.length} made, ${found.length} rows found, at most ${(Math.max(...offsets) / 1_000).toFixed(0)} s off`
  })
}

/** Adds calls of a pattern to the log, once a minute for an hour until it stops. Returns the time of the last one. */
const seedPattern = async (url: string): Promise<number> => {
  await queryClickHouse(url, 'SELECT sum(number) FROM numbers(1000)')
  await queryClickHouse(url, 'SYSTEM FLUSH LOGS')
  const seed = (log: string, last: number, condition: string): Promise<unknown> => {
    const moment = `now() - 60 * arrayJoin(range(${last}, ${minutesBefore + 2}))`
    return queryClickHouse(
      url,
      `INSERT INTO system.${log} SELECT * REPLACE (${moment} AS event_time, toDate(${moment}) AS event_date) FROM (SELECT * FROM system.${log} WHERE ${condition} LIMIT 1)`,
    )
  }
  await seed('metric_log', 1, '1')
  await seed('query_log', 1, "type = 'QueryFinish' AND query LIKE 'SELECT sum(number) FROM numbers(%'")
  return Date.now()
}

/** Waits until the definitions and the workload of the host are recorded for the first time. */
export const waitForFirstSnapshot = async (historyUrl: string): Promise<void> => {
  const sql = "SELECT uniqExact(name) AS marks FROM watchhouse.objects WHERE kind = ''"
  const isRecorded = async () => Number((await queryClickHouse(historyUrl, sql).catch(() => []))[0]?.marks) === 2
  assert.ok(await waitUntil(isRecorded, 300_000), 'no first snapshot was recorded')
}

/** Returns whether the condition was met within this time. */
const waitUntil = async (isMet: () => Promise<boolean>, withinMs: number): Promise<boolean> => {
  const limit = performance.now() + withinMs
  while (performance.now() < limit) {
    if (await isMet()) return true
    await wait(pollMs)
  }
  return false
}

/** Makes all changes but those of the workload, and waits until they are recorded. */
const makeChanges = async (server: ChangeableServer, product: Product, version: string): Promise<SeededChange[]> => {
  const made: SeededChange[] = []
  for (const { statement, ...change } of seededStatements) {
    await queryClickHouse(server.url, statement)
    made.push({ ...change, atMs: Date.now() })
    await wait(1_100)
  }
  for (const change of await applyConfiguration(server, 'live')) made.push(change)
  made.push(...(await makeOuterChanges(product)))
  await wait(recordedWithinMs)
  made.push(...(await applyConfiguration(server, 'restart')))
  await server.restart(version)
  const atMs = Date.now()
  made.push({ name: 'restart', kind: 'restart', title: /^server restarted$/, atMs })
  // A user with all privileges also has those that the new version adds.
  made.push({ name: 'privileges of the version', kind: 'access', title: /^grants default changed$/, atMs })
  made.push({ name: 'version', kind: 'version', title: /^version server changed$/, atMs })
  return made
}

/** A deployment, an alert of another system and an action of an operator. */
const makeOuterChanges = async ({ url }: Product): Promise<SeededChange[]> => {
  const atMs = Date.now()
  const now = new Date(atMs).toISOString()
  const repository = { id: 7, full_name: 'acme/shop', default_branch: 'main' }
  const deployment = { id: 1, sha: 'a'.repeat(40), ref: 'main', environment: 'production', description: null }
  const event = JSON.stringify({
    action: 'created',
    repository,
    deployment: { ...deployment, created_at: now, creator: { login: 'grace', id: 9 } },
  })
  const signature = createHmac('sha256', secret).update(event).digest('hex')
  await post(`${url}/api/webhooks/repository`, event, {
    'x-github-event': 'deployment',
    'x-github-delivery': 'seeded',
    'x-hub-signature-256': `sha256=${signature}`,
  })
  const labels = { alertname: 'DiskFull', severity: 'critical', instance: 'db-9' }
  const annotations = { summary: 'Disk full' }
  const alert = {
    status: 'firing',
    labels,
    annotations,
    startsAt: now,
    endsAt: '0001-01-01T00:00:00Z',
    fingerprint: 'f',
  }
  const alerts = JSON.stringify({ version: '4', status: 'firing', receiver: 'w', alerts: [alert] })
  await post(`${url}/api/events/ingest`, alerts, { authorization: `Bearer ${token}` })
  const action = JSON.stringify({ action: 'optimizeTable', params: { database: 'shop', table: 'orders' } })
  await post(`${url}/api/v1/actions?hostId=0`, action, {})
  return [
    { name: 'deployment', kind: 'deployment', title: /^acme\/shop/, atMs },
    { name: 'alert', kind: 'alert', title: /^Disk full.* fired$/, atMs },
    { name: 'action', kind: 'action', title: /^optimize table$/, atMs },
  ]
}

const post = async (url: string, body: string, headers: Record<string, string>): Promise<void> => {
  const answer = await fetchJson(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  assert.ok(answer.status < 300, `${url}: ${answer.status} ${JSON.stringify(answer.body)}`)
}
