// @module-tag long
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { describeWith } from '../../testing/servers.ts'
import { type HealthAnswer, startStarvedProduct } from './starved-product.ts'

vi.setConfig({ testTimeout: 300_000 })

/** A variable selects the long form; the short one leaves CPU time to concurrent tests. */
const isLongForm = process.env.FAULTS_BUSY !== undefined
const processors = isLongForm ? availableParallelism() : 1
const busyProcesses = Number(process.env.FAULTS_BUSY ?? 20) * processors
const seconds = isLongForm ? 15 : 5
const services = isLongForm
  ? ['query', 'query', 'query', 'report', 'mcp', 'alert-dispatcher', 'ingest', 'ingest', 'agent', 'agent', 'gateway']
  : ['query', 'alert-dispatcher', 'ingest', 'gateway']
const callers = 32
/** Starting that many processes takes time. */
const untilBusyMs = 1_000
/** The probe timeout of `/readyz` in the chart, the shorter one. */
const answersWithinMs = 2_000

/** Opens pages concurrently for this long; both responses and rejections are fine here. */
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

/** A process may be unready if Redis or NATS are also starved; it must still be alive. */
const isLate = ({ path, status, tookMs }: HealthAnswer): boolean =>
  tookMs > answersWithinMs || (path === '/livez' ? status !== 200 : status === 0)

const figuresOf = (answers: readonly HealthAnswer[]): string => {
  const sorted = answers.map(({ tookMs }) => Math.round(tookMs)).toSorted((a, b) => a - b)
  return `p50 ${sorted[Math.floor(sorted.length * 0.5)]} ms, p99 ${sorted[Math.floor(sorted.length * 0.99)]} ms, max ${sorted.at(-1)} ms`
}

const hasTaskset = existsSync('/usr/bin/taskset')
if (!hasTaskset) process.stderr.write('LEFT OUT: a machine without processor time to spare (taskset not found)\n')

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
