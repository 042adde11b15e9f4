import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compareRuns, StatementRuns } from '../../query/testing/statement-runs.ts'
import { fetchImages, startCluster } from './cluster.ts'

/** The oldest server that is supported, one of each year since, and the current one. */
const versions = ['23.8', '24.8', '25.8', 'latest']
const everyStatement = 'services/query/definitions/every-statement.test.ts'

/** Every statement on the embedded engine and on two replicas of each version; ends with where each of them ran. */
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
    const lacking = await lackingImages(version)
    if (lacking !== undefined) {
      say(`LEFT OUT: ClickHouse ${version} in containers (${lacking})`)
      continue
    }
    await using cluster = await startCluster(version)
    const { a, b } = cluster.urls
    await check(version, [], { TEST_CLICKHOUSE_REPLICAS: `${a},${b}`, TEST_CLICKHOUSE_URL: b })
  }
  say(compareRuns(await readReports(reports)))
  await rm(directory, { recursive: true })
}

/** Why the images of a version cannot be had here; a cluster that does not start although they can is a failure. */
const lackingImages = async (version: string): Promise<string | undefined> => {
  try {
    return void (await fetchImages(version))
  } catch (error) {
    // A defect of ours must not look like a missing image.
    if (error instanceof TypeError) throw error
    return error instanceof Error ? error.message : String(error)
  }
}

const testsPass = async (files: readonly string[], variables: Record<string, string>): Promise<boolean> => {
  const config = 'services/acceptance/containers/vitest.config.ts'
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', config, ...files]
  const child = spawn(process.execPath, vitest, { stdio: 'inherit', env: { ...process.env, ...variables } })
  const [code] = await once(child, 'exit')
  return code === 0
}

/** A suite that could not begin has written none; that it failed is known already. */
const readReports = async (files: readonly string[]): Promise<StatementRuns[]> => {
  const texts = await Promise.allSettled(files.map((file) => readFile(file, 'utf8')))
  return texts.flatMap((text) => (text.status === 'fulfilled' ? StatementRuns.parse(JSON.parse(text.value)) : []))
}

const say = (text: string): void => void process.stdout.write(`${text}\n`)

await main(process.argv.slice(2))
