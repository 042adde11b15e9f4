import { setTimeout as pause } from 'node:timers/promises'
import { startSandbox } from '../sandbox/start.ts'
import { buildCommandLine, findTerminal, startOnTerminal } from '../testing/command-line.ts'
import { startProduct } from '../testing/product.ts'
import type { Benchmark } from './benchmark.ts'
import { readCpuMs } from './cpu-time.ts'

/** Time until the code of the command line is compiled and its view is complete. */
const warmUpMs = 10_000
const measuredMs = 30_000
const runningQueries = 10
/** The share of a core that the view may take. */
const maxPercent = 1

/** Measures the CPU time of `watchhouse top`, which refreshes ten running queries every second, as a share of a core. */
export const liveQueries: Benchmark = {
  name: 'top',
  async run() {
    buildCommandLine()
    await using host = await startSandbox({ label: 'one' })
    await using product = await startProduct({ hosts: [{ url: host.url, name: 'one' }] })
    const ended = new AbortController()
    const sql = 'SELECT sleepEachRow(1), {n:UInt8} FROM numbers(3600) SETTINGS max_block_size = 1'
    const queries = Array.from({ length: runningQueries }, (_, n) =>
      fetch(`${host.url}/?param_n=${n}`, { method: 'POST', body: sql, signal: ended.signal })
        .then((response) => response.text())
        .catch(() => undefined),
    )
    const running = startOnTerminal(['top'], { env: { WATCHHOUSE_URL: product.url }, columns: 160, rows: 40 })
    const { pid } = await findTerminal(running)
    await pause(warmUpMs)
    const before = readCpuMs(pid)
    await pause(measuredMs)
    const percent = ((readCpuMs(pid) - before) / measuredMs) * 100
    running.child.stdin?.write('q')
    await running.ended
    ended.abort()
    await Promise.all(queries)
    const name = 'CPU time of watchhouse top with a refresh each second'
    return [{ name, unit: '% of a core', ours: [percent], reference: [maxPercent], bar: { atMost: 1 } }]
  },
}
