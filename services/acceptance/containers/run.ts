import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compareRuns, StatementRuns } from '../../query/testing/statement-runs.ts'
import { type Cluster, fetchImages, startCluster } from './cluster.ts'
import { fetchPythonPackage, startPythonPackageCluster } from './python-package-cluster.ts'

/** The oldest supported ClickHouse version, one of each later year, and the current one. */
const versions = ['23.8', '24.8', '25.3', '25.8', 'latest']
const everyStatement = 'services/query/definitions/every-statement.test.ts'

/** Runs every statement on the embedded engine and on two replicas of each version. Prints where each statement ran. */
const main = async (wanted: readonly string[]): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-containers-'))
  const reports: string[] = []
  const check = async (name: string, files: readonly string[], variables: Record<string, string> = {}) => {
    const report = join(directory, name)
    reports.push(report)
    if (!(await testsPass(files, { ...variables, TEST_STATEMENT_REPORT: report }))) process.exitCode = 1
  }
  await check('embedded', [everyStatement])
  for (const version of wanted.length > 0 ? wanted : versions) {
    const found = await sourceOf(version)
    if (typeof found === 'string') {
      print(`SKIPPED: ClickHouse ${version} (${found})`)
      continue
    }
    await using cluster = await found(version)
    const { a, b } = cluster.urls
    await check(version, [], { TEST_CLICKHOUSE_REPLICAS: `${a},${b}`, TEST_CLICKHOUSE_URL: b })
  }
  print(compareRuns(await readReports(reports)))
  await rm(directory, { recursive: true })
}

type Start = (version: string) => Promise<Cluster>

/** Sources of clusters, in order of preference: those most like production servers first. */
const sources: readonly { fetch(version: string): Promise<void>; start: Start }[] = [
  { fetch: fetchImages, start: startCluster },
  { fetch: fetchPythonPackage, start: startPythonPackageCluster },
]

/**
 * Returns the function that starts a cluster of this version, or why the version is unavailable. Only unavailable
 * versions are skipped; a cluster that does not start is a failure.
 */
const sourceOf = async (version: string): Promise<Start | string> => {
  const reasons: string[] = []
  for (const { fetch, start } of sources) {
    try {
      await fetch(version)
      return start
    } catch (error) {
      // A programming error must not look like an unavailable version.
      if (error instanceof TypeError) throw error
      reasons.push(error instanceof Error ? error.message : String(error))
    }
  }
  return reasons.join('; ')
}

const testsPass = async (files: readonly string[], variables: Record<string, string>): Promise<boolean> => {
  const config = 'services/acceptance/containers/vitest.config.ts'
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', config, ...files]
  const child = spawn(process.execPath, vitest, { stdio: 'inherit', env: { ...process.env, ...variables } })
  const [code] = await once(child, 'exit')
  return code === 0
}

/** Reads the reports of all suites. A suite that did not start has none, and its failure is already reported. */
const readReports = async (files: readonly string[]): Promise<StatementRuns[]> => {
  const texts = await Promise.allSettled(files.map((file) => readFile(file, 'utf8')))
  return texts.flatMap((text) => (text.status === 'fulfilled' ? StatementRuns.parse(JSON.parse(text.value)) : []))
}

const print = (text: string): void => void process.stdout.write(`${text}\n`)

await main(process.argv.slice(2))
