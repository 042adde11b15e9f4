import { queryClickHouse } from '../../testing/fetch-json.ts'

const tables = ['numbers(10)', 'system.one', 'nothing']
const ticksPerSecond = 20

/** Runs queries on each of these servers until it is disposed. A third of them fail. */
export const startQueryLoad = (urls: readonly string[], perSecond: number): Disposable => {
  let due = 0
  const timer = setInterval(() => {
    for (due += perSecond / ticksPerSecond; due >= 1; due--) {
      const table = tables[Math.floor(Math.random() * tables.length)]
      for (const url of urls)
        queryClickHouse(url, `SELECT count() FROM ${table} WHERE 1 = ${Math.random()}`).catch(() => undefined)
    }
  }, 1_000 / ticksPerSecond)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
