import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'

/** Hosts with example data of different amounts. */
export type SeededHost = 'one' | 'two'
const hosts: readonly SeededHost[] = ['one', 'two']

/** The variable with the folder of the hosts that are seeded for the whole run. */
const variable = 'TEST_SEEDED_SANDBOXES'

/** Hosts that are seeded before the tests, with the variables that locate them. */
export interface SeededHosts extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
}

/** Seeds each host once for all tests of a run. Disposing removes their folders. */
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

/** Starts a host with example data. It copies the host that was seeded for this run, if any, which is ten times faster. */
export const startSeeded = async (label: SeededHost): Promise<Sandbox> => {
  const folder = process.env[variable]
  const copied = folder === undefined ? {} : { copyOf: join(folder, label) }
  await using scope = new AsyncDisposableStack()
  const sandbox = scope.use(await startSandbox({ label, seed: true, ...copied }))
  await sandbox.seeded
  scope.move()
  return sandbox
}
