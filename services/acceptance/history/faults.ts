import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { z } from 'zod'
import { fetchJson, queryClickHouse, retryUntil } from '../../testing/fetch-json.ts'
import { type Product, startProduct } from '../../testing/product.ts'
import { findFaketimeLibrary } from '../../testing/servers/faketime.ts'
import type { ServerProcess } from '../../testing/servers/process.ts'
import { mountFileSystem, unmountFileSystem } from '../cluster-faults/small-disks.ts'
import { startTcpProxy, type TcpProxy } from '../cluster-faults/tcp-proxy.ts'
import { createHistoryUser, failureOf, serverGrants } from './grants.ts'
import { compareHost, waitUntilRecorded } from './kills.ts'
import { historyUser, openHistory, openInstallation } from './open-history.ts'
import { startRealServer } from './real-server.ts'
import { startQueryLoad } from './query-load.ts'
import type { Report } from './report.ts'

const version = '25.8'
const diskMebibytes = 400
const queriesPerSecond = 20
const requestEveryMs = 100
const baselineMs = 20_000
const recoverWithinMs = 150_000
/** A host is up to date if no more than this is missing: a batch of a minute, and the time until its log is written. */
const upToDateSeconds = 90
/** The overview may become slower by this factor and time, which also cover the load of the machine. */
const slowerFactor = 2
const slowerMs = 150

interface Engines {
  host: ServerProcess
  history: ServerProcess
  historyDirectory: string
  proxy: TcpProxy
}

/** Longer than a batch, so that at least one attempt to record fails. */
const usualFaultMs = 70_000
/** Longer than the usual lag, so that the metric must show the fault. */
const longFaultMs = 120_000

/** A fault of the history server. */
interface Fault {
  name: string
  begin(engines: Engines): Promise<unknown>
  end(engines: Engines): Promise<unknown>
  /** What the product reports in its log. */
  reason: RegExp
  /** How long the fault lasts. Default: long enough for each process to notice it. */
  forMs?: number
}

const findProcess = async (directory: string): Promise<number> => {
  const { stdout } = await promisify(execFile)('pgrep', ['-f', `config-file=${directory}/config.xml`])
  return Number(stdout.trim().split('\n')[0])
}

const signal = async ({ historyDirectory }: Engines, name: NodeJS.Signals): Promise<void> => {
  process.kill(await findProcess(historyDirectory), name)
}

const setReadonly = ({ history }: Engines, value: number): Promise<unknown> =>
  queryClickHouse(
    history.url,
    `ALTER USER ${historyUser.user} SETTINGS ${value === 0 ? 'NONE' : `readonly = ${value}`}`,
  )

const fillPath = ({ historyDirectory }: Engines): string => join(historyDirectory, 'data/fill')

const faults: readonly Fault[] = [
  {
    name: 'down',
    begin: ({ history }) => history.kill(),
    end: ({ history }) => history.restart(),
    forMs: longFaultMs,
    reason: /cannot be reached or does not respond/,
  },
  {
    name: 'hung',
    begin: (engines) => signal(engines, 'SIGSTOP'),
    end: (engines) => signal(engines, 'SIGCONT'),
    reason: /cannot be reached or does not respond/,
  },
  {
    name: 'slow: 12 s for every request',
    begin: async ({ proxy }) => proxy.delay(12_000),
    end: async ({ proxy }) => proxy.delay(0),
    reason: /cannot be reached or does not respond/,
  },
  {
    name: 'full disk',
    begin: async (engines) => {
      // The file takes all that is left.
      await promisify(execFile)('dd', ['if=/dev/zero', `of=${fillPath(engines)}`, 'bs=1M']).catch(() => undefined)
    },
    end: (engines) => rm(fillPath(engines)),
    reason: /NOT_ENOUGH_SPACE|CANNOT_WRITE|No space left/,
  },
  {
    name: 'read-only user (readonly = 1)',
    begin: (engines) => setReadonly(engines, 1),
    end: (engines) => setReadonly(engines, 0),
    reason: /READONLY 164/,
  },
  {
    name: 'read-only user (readonly = 2)',
    begin: (engines) => setReadonly(engines, 2),
    end: (engines) => setReadonly(engines, 0),
    reason: /READONLY 164/,
  },
  {
    name: 'revoked grant',
    begin: ({ history }) => queryClickHouse(history.url, `REVOKE INSERT ON watchhouse.* FROM ${historyUser.user}`),
    end: ({ history }) => queryClickHouse(history.url, `GRANT INSERT ON watchhouse.* TO ${historyUser.user}`),
    reason: /lacks the grant INSERT/,
  },
]

/** Breaks the history server in every way while the product serves requests. With `isShort`, in two ways. */
export const checkFaults = async (isShort: boolean, report: Report): Promise<void> => {
  await using scope = new AsyncDisposableStack()
  const engines = await startEngines(scope)
  const { host, history } = engines
  const product = scope.use(await startRecordingProduct(engines))
  using _load = startQueryLoad([host.url], queriesPerSecond)
  const recorded = { host: 'box', hostUrl: host.url, historyUrl: history.url }
  await waitUntilUpToDate(product)
  const normal = await sendRequests(product, baselineMs)
  process.stdout.write(`without a fault: ${describe(normal)}\n`)
  for (const fault of isShort ? faults.slice(0, 2) : faults)
    await report(fault.name, () => playFault(fault, engines, product, normal))
  await report('nothing is lost or duplicated', async () => {
    await waitUntilRecorded(recorded)
    const { gaps, overlaps, seconds, calls, recordedCalls } = await compareHost(recorded)
    assert.deepEqual({ gaps, overlaps, seconds, calls }, { gaps: 0, overlaps: 0, seconds: 0, calls: 0 })
    return `${recordedCalls} calls`
  })
  if (!isShort) await checkLostTables(engines, product, report)
  if (!isShort) await checkClock(engines, product, report)
  await report('a second installation is refused', async () => {
    await using store = await openInstallation()
    await using second = openHistory(store, history.url)
    const failure = await failureOf(second.select('SELECT 1 AS one', z.unknown()))
    assert.match(failure, /belongs to the installation "watchhouse-.*choose another SVC_HISTORY_DATABASE/)
  })
}

/** Starts a host, and a history server whose data has a small file system of its own. */
const startEngines = async (scope: AsyncDisposableStack): Promise<Engines> => {
  const host = scope.use(await startRealServer(version, 'host'))
  let historyDirectory = ''
  const history = await startRealServer(version, 'history', (directory) => {
    historyDirectory = directory
    return {}
  })
  const data = join(historyDirectory, 'data')
  scope.defer(async () => {
    await history.kill()
    await unmountFileSystem(data)
    await history.stop()
  })
  await history.kill()
  await mountFileSystem(data, diskMebibytes)
  await history.restart()
  await createHistoryUser(history.url, serverGrants)
  const proxy = scope.use(await startTcpProxy(Number(new URL(history.url).port)))
  return { host, history, historyDirectory, proxy }
}

const startRecordingProduct = ({ host, proxy }: Engines): Promise<Product> =>
  startProduct({
    hosts: [{ url: host.url, name: 'box' }],
    env: {
      SVC_HISTORY_URL: `http://127.0.0.1:${proxy.port}`,
      SVC_HISTORY_USER: historyUser.user,
      SVC_HISTORY_PASSWORD: historyUser.password,
      LOG_LEVEL: 'info',
    },
  })

const playFault = async (fault: Fault, engines: Engines, product: Product, normal: Requests): Promise<string> => {
  const { forMs = usualFaultMs } = fault
  const logged = product.output().length
  await fault.begin(engines)
  const during = await sendRequests(product, forMs)
  const behind = await readBehind(product)
  await fault.end(engines)
  assert.match(product.output().slice(logged), fault.reason)
  assert.ok(behind >= forMs / 1_000, `the metric says ${behind} s after ${forMs / 1_000} s`)
  assert.equal(during.failures, 0, `${during.failures} requests failed`)
  const limit = slowerFactor * quantile(normal, 0.95) + slowerMs
  assert.ok(quantile(during, 0.95) <= limit, `requests take ${describe(during)}, and ${describe(normal)} without`)
  await waitUntilUpToDate(product)
  return `${describe(during)}; ${behind} s behind, then caught up`
}

const checkLostTables = async ({ history }: Engines, product: Product, report: Report): Promise<void> => {
  await report('lost tables are created again', async () => {
    for (const table of ['samples', 'query_patterns', 'owner'])
      await queryClickHouse(history.url, `DROP TABLE watchhouse.${table} SYNC`)
    await retryUntil(
      () => queryClickHouse(history.url, 'SELECT count() AS rows FROM watchhouse.query_patterns').catch(() => []),
      ([row]) => Number(row?.rows) > 0,
      recoverWithinMs,
    )
    await waitUntilUpToDate(product)
  })
}

/** Sets the clock of the host ahead and back by hours. */
const checkClock = async ({ host, history }: Engines, product: Product, report: Report): Promise<void> => {
  const library = findFaketimeLibrary()
  if (library === undefined) throw new Error('libfaketime not found; install the package faketime')
  for (const hours of [3, -5]) {
    await report(`clock of the host off by ${hours} h`, async () => {
      await host.restart({ LD_PRELOAD: library, FAKETIME: `${hours > 0 ? '+' : ''}${hours}h` })
      await wait(60_000)
      await waitUntilUpToDate(product)
      const [row] = await queryClickHouse(
        history.url,
        `SELECT dateDiff('minute', now(), max(until)) AS minutes FROM (SELECT until, recorded_ms FROM watchhouse.samples WHERE metric = '' AND label = 'metrics' ORDER BY recorded_ms DESC LIMIT 1)`,
      )
      assert.ok(Math.abs(Number(row?.minutes) - hours * 60) <= 3, `recorded until ${String(row?.minutes)} min from now`)
    })
  }
}

const behindMetric = /^watchhouse_history_behind_seconds\{[^}]*host="box"[^}]*\} (\d+)/m

/** Returns what the product exports; `Infinity` if it does not know yet. */
const readBehind = async ({ operationsUrls }: Product): Promise<number> => {
  const texts = await Promise.all(operationsUrls.map(async (url) => (await fetch(`${url}/metrics`)).text()))
  const values = texts.flatMap((text) => behindMetric.exec(text)?.[1] ?? [])
  return values.length === 0 ? Infinity : Math.max(...values.map(Number))
}

const waitUntilUpToDate = (product: Product): Promise<unknown> =>
  retryUntil(
    () => readBehind(product),
    (seconds) => seconds <= upToDateSeconds - 15,
    recoverWithinMs,
  )

interface Requests {
  failures: number
  tookMs: number[]
}

/** Requests the overview of the host, like an open page. */
const sendRequests = async ({ url }: Product, forMs: number): Promise<Requests> => {
  const untilMs = performance.now() + forMs
  const requests: Requests = { failures: 0, tookMs: [] }
  while (performance.now() < untilMs) {
    const { status, tookMs } = await fetchJson(`${url}/api/v1/overview?hostId=0`)
    if (status !== 200) requests.failures++
    requests.tookMs.push(tookMs)
    await wait(requestEveryMs)
  }
  return requests
}

const quantile = ({ tookMs }: Requests, share: number): number =>
  tookMs.toSorted((a, b) => a - b)[Math.floor(tookMs.length * share)] ?? Infinity

const describe = (requests: Requests): string =>
  `${requests.tookMs.length} requests, p50 ${quantile(requests, 0.5).toFixed(0)} ms, p95 ${quantile(requests, 0.95).toFixed(0)} ms`
