// @module-tag long
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { describeWith } from '../../testing/describe-with.ts'
import { type HealthAnswer, startStarvedProduct } from './starved-product.ts'

vi.setConfig({ testTimeout: 300_000 })

/** Whether this is a longer run, as in `npm run test:faults`. Shorter runs leave CPU time to other tests. */
const isLongForm = process.env.FAULTS_BUSY !== undefined
const processors = isLongForm ? availableParallelism() : 1
const busyProcesses = Number(process.env.FAULTS_BUSY ?? 20) * processors
const seconds = isLongForm ? 15 : 5
const services = isLongForm
  ? ['query', 'query', 'query', 'report', 'mcp', 'alert-dispatcher', 'ingest', 'ingest', 'agent', 'agent', 'gateway']
  : ['query', 'alert-dispatcher', 'ingest', 'gateway']
const callers = 32
/** Time until all busy processes have started, in milliseconds. */
const untilBusyMs = 1_000
/** The probe timeout of `/readyz` in the chart, in milliseconds. It is shorter than that of `/livez`. */
const answersWithinMs = 2_000

/** Requests pages concurrently for `lengthMs`. Returns the number of responses with any status. */
const openPages = async (url: string, lengthMs: number): Promise<number> => {
  const paths = ['/api/v1/overview?hostId=0', '/api/v1/host-status?hostId=0', '/api/v1/hosts', '/api/health']
  const until = performance.now() + lengthMs
  let answered = 0
  const caller = async (_: unknown, index: number): Promise<void> => {
    while (performance.now() < until) {
      const answer = await fetch(url + paths[index % paths.length]).catch(() => undefined)
      await answer?.text()
      if (answer) answered += 1
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return answered
}

/** Returns whether a probe would fail. A process may be unready while Redis or NATS are starved, but must be alive. */
const isLate = ({ path, status, tookMs }: HealthAnswer): boolean =>
  tookMs > answersWithinMs || (path === '/livez' ? status !== 200 : status === 0)

const figuresOf = (answers: readonly HealthAnswer[]): string => {
  const sorted = answers.map(({ tookMs }) => Math.round(tookMs)).toSorted((a, b) => a - b)
  return `p50 ${sorted[Math.floor(sorted.length * 0.5)]} ms, p99 ${sorted[Math.floor(sorted.length * 0.99)]} ms, max ${sorted.at(-1)} ms`
}

const hasTaskset = existsSync('/usr/bin/taskset')
if (!hasTaskset) process.stderr.write('SKIPPED: a machine without spare CPU time (taskset not found)\n')

describeWith(['nats', 'redis'], 'a machine without processor time to spare', () => {
  it.runIf(hasTaskset)('gets an answer about its health from every process before a probe gives up', async () => {
    await using product = await startStarvedProduct(services, processors)
    using _busy = product.starve(busyProcesses, seconds)
    await wait(untilBusyMs)
    const [answers, pages] = await Promise.all([
      product.probe(seconds * 1_000),
      openPages(product.url, seconds * 1_000),
    ])
    const load = `${services.length} processes beside ${busyProcesses} busy ones on ${processors} processors, ${pages} pages`
    process.stdout.write(`${load}: ${answers.length} answers to /livez and /readyz, ${figuresOf(answers)}\n`)
    for (const name of new Set(answers.map(({ process: each }) => each))) {
      const own = answers.filter(({ process: each }) => each === name)
      process.stdout.write(`  ${name}: ${own.length} answers, ${figuresOf(own)}\n`)
    }
    expect(answers.length).toBeGreaterThanOrEqual(services.length * seconds)
    expect(answers.filter(isLate)).toEqual([])
  })
})
