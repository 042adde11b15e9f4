import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import type { z } from 'zod'
import { ChecksResponse } from '#proto/http/alerts.ts'
import { openDefinitions } from '../../query/definitions/definitions.ts'
import { fetchJson } from '../../testing/fetch-json.ts'
import { type Product, startProduct } from '../../testing/product.ts'
import { type FaultCluster, serverNames, type ServerName, startFaultCluster, watchUser } from './cluster.ts'
import type { Fault } from './fault.ts'
import { faults, recordedRules } from './faults/index.ts'
import { createLoadTables, startLoad } from './load.ts'

const usage = `usage: npm run test:cluster-faults [-- [--quiet <minutes>] [rule …]]

Produces the fault of each rule on a real cluster, and checks that the rule fires on the right host with the right
severity and value within two sweeps, and recovers. With --quiet, runs the healthy cluster under load instead, and
checks that no rule fires.`

const version = '25.8'
/** A fault starts another version. Sweeps wait for the logs. */
const faultOptions = { otherVersions: ['24.8'], flushLogsEveryMs: 500 }
/** Number of faults that are produced at the same time. */
const waveSize = 8
/** Maximum number of evaluations of a rule until it fires and until it has recovered. */
const evaluationsToFire = 2
const evaluationsToRecover = 4
/** Pause between two sweeps. Metrics that the servers sample every second change in it. */
const betweenSweepsMs = 2_500
/** Maximum duration of each step of a fault. */
const stepLimitMs = 90_000
const quietSweepEveryMs = 60_000
const secret = 'of the schedule'

type Check = z.infer<typeof ChecksResponse>['data'][number]
interface Result {
  rule: string
  /** Empty if the rule did what the fault requires. */
  problems: string[]
  seen: string
}

const { rules } = await openDefinitions(pino({ level: 'silent' }))

/** Returns how often the rule of a fault is evaluated while it is ok. */
const everySweeps = (fault: Fault): number => rules.find(({ name }) => name === fault.rule)?.everySweeps ?? 1

const main = async (): Promise<void> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quiet: { type: 'string' }, help: { type: 'boolean' } },
  })
  if (values.help) return print(usage)
  const unknown = positionals.filter((rule) => faults.every((fault) => fault.rule !== rule))
  if (unknown.length > 0) throw new Error(`no fault for: ${unknown.join(', ')}`)
  const selected = positionals.length === 0 ? faults : faults.filter(({ rule }) => positionals.includes(rule))
  await using scope = new AsyncDisposableStack()
  const cluster = scope.use(await startFaultCluster(version, values.quiet === undefined ? faultOptions : {}))
  await createLoadTables(cluster)
  scope.use(startLoad(cluster))
  // A healthy cluster is checked with the settings that operators have.
  const settings = values.quiet === undefined ? faultSettings : {}
  const product = scope.use(await startWatchingProduct(cluster, settings, scope))
  // Rules that compare with an earlier sweep have no value in the first one.
  for (let sweep = 0; sweep < 2; sweep++) await runSweep(product)
  if (values.quiet !== undefined) return await checkQuietCluster(product, Number(values.quiet) * 60_000)
  const results: Result[] = []
  for (const wave of toWaves(selected)) results.push(...(await playWave(wave, cluster, product)))
  report(results, positionals.length > 0)
}

/** The settings of all rules with a fault: enabled, with its thresholds, and firing and recovering in one evaluation. */
const faultSettings = Object.fromEntries(
  faults.map(({ rule, thresholds }) => [rule, { ...thresholds, enabled: true, breaches: 1, clears: 1 }]),
)

/** Starts the product with all servers and with these settings of rules. */
const startWatchingProduct = async (
  { servers, authorityFile }: FaultCluster,
  checks: Readonly<Record<string, object>>,
  scope: AsyncDisposableStack,
): Promise<Product> => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-health-'))
  scope.defer(() => rm(directory, { recursive: true }))
  // JSON is YAML.
  await writeFile(join(directory, 'alerts.yaml'), JSON.stringify({ checks }))
  return startProduct({
    hosts: serverNames.map((name) => ({ url: servers[name].httpsUrl ?? servers[name].url, name, ...watchUser })),
    env: {
      NODE_EXTRA_CA_CERTS: authorityFile,
      CRON_SECRET: secret,
      SVC_HEALTH_CONFIG_DIRECTORY: directory,
      SVC_QUERY_CACHE: 'off',
    },
  })
}

/** Groups the faults into waves of at most `waveSize`. */
const toWaves = (selected: readonly Fault[]): Fault[][] => {
  const waves: Fault[][] = []
  for (const fault of selected) {
    const room = waves.find((wave) => !fault.alone && !wave[0]?.alone && wave.length < waveSize)
    if (room) room.push(fault)
    else waves.push([fault])
  }
  return waves
}

/** The faults of a wave with their results. */
class Wave {
  readonly #results: ReadonlyMap<Fault, Result>
  readonly #product: Product

  constructor(faults: readonly Fault[], product: Product) {
    this.#results = new Map(faults.map((fault) => [fault, { rule: fault.rule, problems: [], seen: '' }]))
    this.#product = product
  }

  get results(): readonly Result[] {
    return [...this.#results.values()]
  }

  /** Runs a step of each fault in turn. A failed step is the problem of its fault. */
  async run(what: string, step: (fault: Fault) => Promise<void> | undefined): Promise<void> {
    for (const fault of this.#results.keys()) {
      const limit = AbortSignal.timeout(stepLimitMs)
      await Promise.race([step(fault), rejectOnAbort(limit)]).catch((error: unknown) =>
        this.#fail(fault, `${what} failed: ${String(error).slice(0, 400)}`),
      )
    }
  }

  /** Runs sweeps until the rule of each produced fault fires as required, or until it was evaluated often enough. */
  async awaitFiring(): Promise<void> {
    const waiting = new Set([...this.#results].flatMap(([fault, { problems }]) => (problems.length === 0 ? fault : [])))
    const missed = new Map<Fault, string[]>()
    for (let sweep = 1; waiting.size > 0; sweep++) {
      if (sweep > 1) await wait(betweenSweepsMs)
      const checks = await sweepAndRead(this.#product)
      for (const fault of waiting) {
        const problem = findFiringProblem(fault, checks)
        const isOver = sweep >= evaluationsToFire * everySweeps(fault)
        const result = this.#results.get(fault)
        if (result) result.seen = describeChecks(fault.rule, checks)
        const ofSweeps = [...(missed.get(fault) ?? []), `sweep ${sweep}: ${problem}`]
        missed.set(fault, ofSweeps)
        if (problem !== undefined && isOver) this.#fail(fault, ofSweeps.join('; '))
        if (problem === undefined || isOver) waiting.delete(fault)
      }
    }
  }

  async awaitRecovery(): Promise<void> {
    const waiting = new Set([...this.#results.keys()].filter(({ keepsFiring }) => keepsFiring === undefined))
    for (let sweep = 1; waiting.size > 0; sweep++) {
      await wait(betweenSweepsMs)
      const checks = await sweepAndRead(this.#product)
      for (const fault of waiting) {
        const check = findCheck(checks, fault.host, fault.rule)
        const isOver = sweep >= evaluationsToRecover
        if (check?.status !== 'ok' && isOver) this.#fail(fault, `did not recover: ${describeCheck(check)}`)
        if (check?.status === 'ok' || isOver) waiting.delete(fault)
      }
    }
  }

  #fail(fault: Fault, problem: string): void {
    this.#results.get(fault)?.problems.push(problem)
  }
}

const playWave = async (faultsOfWave: readonly Fault[], cluster: FaultCluster, product: Product) => {
  print(`wave: ${faultsOfWave.map(({ rule }) => rule).join(', ')}`)
  const wave = new Wave(faultsOfWave, product)
  await wave.run('prepare', (fault) => fault.prepare?.(cluster))
  await runSweep(product)
  await wave.run('produce', (fault) => fault.produce(cluster))
  await wait(Math.max(betweenSweepsMs, ...faultsOfWave.map(({ visibleAfterMs = 0 }) => visibleAfterMs)))
  await wave.awaitFiring()
  await wave.run('recover', (fault) => fault.recover(cluster))
  await wave.awaitRecovery()
  await wave.run('cleanUp', async (fault) => {
    await dropFaultDatabases(cluster)
    await fault.cleanUp?.(cluster)
  })
  for (const { rule, problems, seen } of wave.results)
    print(problems.length === 0 ? `  ok      ${rule}: ${seen}` : `  FAILED  ${rule}: ${problems.join('; ')}`)
  return wave.results
}

const dropFaultDatabases = async ({ servers }: FaultCluster): Promise<void> => {
  for (const name of serverNames) {
    const databases = await servers[name].query("SELECT name FROM system.databases WHERE startsWith(name, 'fault_')")
    for (const database of databases) await servers[name].run(`DROP DATABASE ${String(database['name'])} SYNC`)
  }
}

/** Rejects when the signal aborts, so that a hanging step does not end the run. */
const rejectOnAbort = async (signal: AbortSignal): Promise<never> => {
  await once(signal, 'abort')
  throw signal.reason
}

const findFiringProblem = (fault: Fault, checks: Checks): string | undefined => {
  const check = findCheck(checks, fault.host, fault.rule)
  if (check?.status !== fault.severity) return `is not ${fault.severity} on ${fault.host}: ${describeCheck(check)}`
  const [min, max] = fault.value
  if (check.value === null || check.value < min || check.value > max)
    return `has the value ${check.value} on ${fault.host}, not one from ${min} to ${max}`
  const wrong = serverNames.find(
    (name) => name !== fault.host && !fault.mayAffect?.includes(name) && isFiring(findCheck(checks, name, fault.rule)),
  )
  return wrong && `fires on ${wrong} too: ${describeCheck(findCheck(checks, wrong, fault.rule))}`
}

const isFiring = (check: Check | undefined): boolean => check?.status === 'warning' || check?.status === 'critical'

/** The checks of each server by rule. */
type Checks = ReadonlyMap<ServerName, ReadonlyMap<string, Check>>

const findCheck = (checks: Checks, name: ServerName, rule: string): Check | undefined => checks.get(name)?.get(rule)

const sweepAndRead = async (product: Product): Promise<Checks> => {
  await runSweep(product)
  return readChecks(product)
}

const readChecks = async (product: Product): Promise<Checks> => {
  const read = async (hostId: number) => {
    const { body } = await fetchJson(`${product.url}/api/v1/health/checks?hostId=${hostId}`)
    return new Map(ChecksResponse.parse(body).data.map((check) => [check.ruleId, check]))
  }
  return new Map(await Promise.all(serverNames.map(async (name, index) => [name, await read(index)] as const)))
}

const runSweep = async (product: Product): Promise<void> => {
  const headers = { authorization: `Bearer ${secret}` }
  const { status, text } = await fetchJson(`${product.url}/api/cron/health-sweep`, { headers })
  if (status !== 200) throw new Error(`the sweep failed: ${text}`)
}

const describeCheck = (check: Check | undefined): string =>
  check === undefined
    ? 'not evaluated'
    : `${check.status}, value ${check.value}${check.reason === null ? '' : `, ${check.reason}`}`

const describeChecks = (rule: string, checks: Checks): string =>
  serverNames.map((name) => `${name} ${describeCheck(findCheck(checks, name, rule))}`).join('; ')

/** Runs sweeps on the healthy cluster under load and reports each rule that fires. */
const checkQuietCluster = async (product: Product, durationMs: number): Promise<void> => {
  // The start of the cluster loads the machine, which its rules rightly report.
  while ((loadavg()[1] ?? 0) > availableParallelism()) await wait(betweenSweepsMs)
  const until = performance.now() + durationMs
  const fired = new Map<string, string>()
  let sweeps = 0
  while (performance.now() < until) {
    const checks = await sweepAndRead(product)
    sweeps++
    for (const name of serverNames) {
      for (const [rule, check] of checks.get(name) ?? []) {
        if (!isFiring(check) || fired.has(`${rule} on ${name}`)) continue
        fired.set(`${rule} on ${name}`, describeCheck(check))
        print(`FIRED  ${rule} on ${name}: ${describeCheck(check)}`)
      }
    }
    await wait(Math.min(quietSweepEveryMs, Math.max(0, until - performance.now())))
  }
  print(`${sweeps} sweeps of the healthy cluster in ${Math.round(durationMs / 60_000)} min: ${fired.size} false alerts`)
  process.exitCode = fired.size === 0 ? 0 : 1
}

/** Prints how each rule was proved. Fails if a fault was missed, or if a rule has neither a fault nor a recorded case. */
const report = (results: readonly Result[], isPartial: boolean): void => {
  const failed = results.filter(({ problems }) => problems.length > 0)
  const proved = new Set(results.filter(({ problems }) => problems.length === 0).map(({ rule }) => rule))
  const ids = rules.map(({ name }) => name).toSorted()
  const recorded = ids.filter((id) => Object.hasOwn(recordedRules, id))
  const missing = ids.filter((id) => !proved.has(id) && !recorded.includes(id))
  for (const { rule, problems } of failed) print(`FAILED  ${rule}: ${problems.join('; ')}`)
  for (const id of recorded) print(`recorded  ${id}: ${recordedRules[id]}`)
  if (!isPartial) for (const id of missing) print(`MISSING  ${id}`)
  print(
    `rules: ${ids.length}; proved on real servers: ${proved.size}; by recorded rows: ${recorded.length}; missed: ${isPartial ? failed.length : missing.length}`,
  )
  print(`${results.length - failed.length} passed, ${failed.length} failed`)
  process.exitCode = failed.length > 0 || (!isPartial && missing.length > 0) ? 1 : 0
}

const print = (text: string): void => void process.stdout.write(`${text}\n`)

await main()
