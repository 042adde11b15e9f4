import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'

/** The label of a host with example data. The two hosts have different amounts of data. */
export type SeededHost = 'one' | 'two'
const hosts: readonly SeededHost[] = ['one', 'two']

/** The environment variable with the folder of the hosts that are seeded once per test run. */
const variable = 'TEST_SEEDED_SANDBOXES'

/** Hosts that are seeded before the tests, with the environment variables that locate them. */
export interface SeededHosts extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
}

/** Seeds each host once for all tests of a run. Disposing deletes their data. */
export const seedHosts = async (): Promise<SeededHosts> => {
  await using scope = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'watchhouse-seeded-'))
  scope.defer(() => rm(folder, { recursive: true, force: true }))
  await Promise.all(
    hosts.map(async (label) => {
      await using sandbox = await startSandbox({ label, seed: true, directory: join(folder, label) })
      await sandbox.seeded
    }),
  )
  const kept = scope.move()
  return { env: { [variable]: folder }, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Starts a host with example data. Copies the host that was seeded for this run, if any, which is ten times faster. */
export const startSeededHost = async (label: SeededHost): Promise<Sandbox> => {
  const folder = process.env[variable]
  const copied = folder === undefined ? {} : { copyOf: join(folder, label) }
  await using scope = new AsyncDisposableStack()
  const sandbox = scope.use(await startSandbox({ label, seed: true, ...copied }))
  await sandbox.seeded
  scope.move()
  return sandbox
}
