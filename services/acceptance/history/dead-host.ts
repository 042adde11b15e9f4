import { setTimeout as wait } from 'node:timers/promises'
import { readRecordedMetrics } from '../../query/history/recorded-metrics.ts'
import { openRecorder } from '../../query/history/recorder.ts'
import {
  createCall,
  createSilentTelemetry,
  openTestService,
  type TestService,
} from '../../query/testing/test-service.ts'
import { startQueryLoad } from './query-load.ts'
import { startRealServer } from './real-server.ts'
import type { Report } from './report.ts'

const recordedMs = 200_000
const maxAgeMs = 75_000
const queriesPerSecond = 20
const charts = ['cpu-usage', 'memory-usage', 'query-count', 'query-duration-percentiles', 'failed-query-count']
const pages = ['slow-query-patterns', 'error-log', 'query-count-baseline']

/** Kills a real server under load with SIGKILL, and checks what the product still shows of it. */
export const checkDeadHost = async (version: string, report: Report): Promise<void> => {
  await using scope = new AsyncDisposableStack()
  const history = scope.use(await startRealServer(version, 'history'))
  const host = scope.use(await startRealServer(version, 'host'))
  scope.use(startQueryLoad([host.url], queriesPerSecond))
  const env = { COLUMNDB_HOST: host.url, COLUMNDB_NAME: 'box', SVC_HISTORY_URL: history.url, SVC_QUERY_CACHE: 'off' }
  const service = scope.use(await openTestService(env))
  scope.use(openRecorder({ ...service, telemetry: createSilentTelemetry(), recorded: readRecordedMetrics() }))
  const readLastHour = () => service.handlers.lastHour({ hostKey: 'box' }, createCall())
  const readAge = async () => Date.now() - ((await readLastHour()).lastSampleMs ?? 0)

  await report(`${version}: the data age of a host stays at most ${maxAgeMs / 1_000} s`, async () => {
    const startedMs = performance.now()
    while ((await readAge()) > maxAgeMs) {
      if (performance.now() - startedMs > recordedMs) throw new Error('the host is not recorded')
      await wait(1_000)
    }
    let oldestMs = 0
    while (performance.now() - startedMs < recordedMs) {
      oldestMs = Math.max(oldestMs, await readAge())
      await wait(1_000)
    }
    if (oldestMs > maxAgeMs) throw new Error(`the age was ${Math.round(oldestMs / 1_000)} s`)
    return `highest age ${(oldestMs / 1_000).toFixed(1)} s over ${recordedMs / 1_000} s`
  })
  const ageMs = await readAge()
  await host.kill()
  const killedMs = Date.now()
  await report(`${version}: the last minute of a killed host is shown`, async () => {
    const { lastSampleMs, samples, patterns, errors } = await readLastHour()
    if (lastSampleMs === null || killedMs - lastSampleMs > maxAgeMs) throw new Error(`last sample ${lastSampleMs}`)
    const last = samples.findLast(({ memoryBytes }) => memoryBytes !== null)
    if (!last || killedMs - last.timeMs > maxAgeMs + 60_000) throw new Error('the last minute has no memory')
    if (last.loadAverage === null || last.runningQueries === null) throw new Error('the last minute has no load')
    if (patterns.length === 0 || errors.length === 0) throw new Error('there are no queries or errors')
    return `last sample ${Math.round(ageMs / 1_000)} s before the kill, ${patterns.length} patterns, ${errors.length} errors`
  })
  await report(`${version}: charts and pages of a killed host are read from the history`, async () => {
    for (const name of charts) {
      const data = await service.handlers.chart({ hostKey: 'box', name, lastMinutes: 15, parameters: {} }, createCall())
      if (data.history?.reason !== 'host-unreachable' || !hasValue(data.rows)) throw new Error(`${name} is empty`)
    }
    for (const name of pages) await checkPage(service, name)
    return `${charts.length} charts, ${pages.length} pages`
  })
}

const hasValue = (rows: readonly Record<string, unknown>[]): boolean =>
  rows.some((row) => Object.entries(row).some(([name, value]) => name !== 'time' && Number(value) > 0))

const checkPage = async ({ handlers }: TestService, name: string): Promise<void> => {
  const request = { hostKey: 'box', name, lastMinutes: 15, parameters: {}, filters: [], offset: 0, total: false }
  const { head, frames } = await handlers.table(request, createCall())
  let bytes = 0
  for await (const frame of frames) bytes += frame.byteLength
  if (head.history?.reason !== 'host-unreachable' || bytes === 0) throw new Error(`the page ${name} is empty`)
}
