import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Cluster } from './cluster.ts'
import { openExistingCluster } from './existing-cluster.ts'
import { startOwnCluster } from './own-cluster.ts'
import type { Profile } from './release.ts'
import type { Outcome, Scenario } from './scenario.ts'
import { runHelmTest } from './scenarios/helm-test.ts'
import { scenarios } from './scenarios/index.ts'
import { allowLoad, install } from './scenarios/install.ts'
import { uninstall } from './scenarios/uninstall.ts'
import { removeSurroundings, startSurroundings } from './surroundings.ts'

const usage = `usage: npm run test:cluster [-- [--keep] [profile or scenario …]]

Installs each profile of the chart on a Kubernetes cluster, tests it under load with restarts and failures, and
uninstalls it. Without arguments, runs everything. Profiles: default, fleet, single.
Scenarios: ${scenarios.map(({ name }) => name).join(', ')}.

Builds a cluster of two nodes on this machine, which needs root, and removes it at the end. With --keep, waits for an
interruption before that. With TEST_CLUSTER=1, uses the cluster of KUBECONFIG and the image in TEST_CLUSTER_IMAGE.`

const profiles: readonly Profile[] = ['default', 'fleet', 'single']
const keptForMs = 12 * 3_600_000

const main = async (): Promise<void> => {
  const options = { keep: { type: 'boolean' }, help: { type: 'boolean' } } as const
  const { values, positionals } = parseArgs({ allowPositionals: true, options })
  if (values.help) return print(usage)
  const names = [...profiles, ...scenarios.map(({ name }) => name)]
  const unknown = positionals.filter((name) => !names.includes(name))
  if (unknown.length > 0)
    throw new Error(`no such profile or scenario: ${unknown.join(', ')}; known: ${names.join(', ')}`)
  await using scope = new AsyncDisposableStack()
  // What the cluster has changed on this machine is restored, also after an interruption.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void scope.disposeAsync())
  const needsLastRelease = selectScenarios(positionals).some(({ startsFromLastRelease }) => startsFromLastRelease)
  const results = await runAll(await openCluster(scope, needsLastRelease), positionals)
  const failed = results.filter(({ problems }) => problems.length > 0)
  for (const { name, problems } of failed) print(`FAILED  ${name}: ${problems.join('; ')}`)
  print(`${results.length - failed.length} passed, ${failed.length} failed`)
  process.exitCode = failed.length === 0 ? 0 : 1
  if (values.keep) await keep()
}

/** Opens the cluster with what stands around the product. */
const openCluster = async (scope: AsyncDisposableStack, needsLastRelease: boolean): Promise<Cluster> => {
  if (process.env.TEST_CLUSTER !== '1') {
    const cluster = await startOwnCluster(scope, print, needsLastRelease)
    await startSurroundings(cluster)
    return cluster
  }
  const cluster = await openExistingCluster()
  scope.defer(() => removeSurroundings(cluster))
  await startSurroundings(cluster)
  return cluster
}

const isWholeProfile = (profile: Profile, selected: readonly string[]): boolean =>
  selected.length === 0 || selected.includes(profile)

const selectScenarios = (selected: readonly string[]): Scenario[] =>
  scenarios.filter(({ name, profile }) => isWholeProfile(profile, selected) || selected.includes(name))

interface Result extends Outcome {
  name: string
}

const runAll = async (cluster: Cluster, selected: readonly string[]): Promise<Result[]> => {
  const results: Result[] = []
  const record = async (name: string, work: Promise<Outcome>): Promise<void> => {
    const outcome = await work.catch((error: unknown) => ({ measured: 'stopped', problems: [String(error)] }))
    const { measured, problems, details = [] }: Outcome = outcome
    print(`${problems.length === 0 ? 'ok      ' : 'FAILED  '}${name}: ${[measured, ...problems].join('; ')}`)
    for (const line of details) print(`          ${line}`)
    results.push({ name, measured, problems })
  }
  for (const profile of profiles) {
    const isWhole = isWholeProfile(profile, selected)
    const chosen = selectScenarios(selected).filter((each) => each.profile === profile)
    if (!isWhole && chosen.length === 0) continue
    await record(`${profile}-install`, install(cluster, profile))
    if (isWhole) await record(`${profile}-helm-test`, runHelmTest(cluster))
    if (chosen.length > 0) await allowLoad(cluster, profile)
    for (const { name, run } of chosen) await record(name, run(cluster))
    await record(`${profile}-uninstall`, uninstall(cluster, profile))
  }
  return results
}

const keep = async (): Promise<void> => {
  print('waiting for an interruption (SIGINT)')
  const over = new AbortController()
  const limit = wait(keptForMs, undefined, { signal: over.signal }).catch(() => {})
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), limit])
  over.abort()
}

const print = (text: string): void => void process.stdout.write(`${text}\n`)

await main()
