import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'

/** Hosts with example data, each with amounts of its own. */
export type SeededHost = 'one' | 'two'
const hosts: readonly SeededHost[] = ['one', 'two']

/** Names the folder that has the folder of each host that was seeded for the whole run. */
const variable = 'TEST_SEEDED_SANDBOXES'

/** Hosts that were seeded before the tests, which are told of them by these variables. */
export interface Seeded extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
}

/** Seeds each host once for all tests of a run; disposing it removes their folders. */
export const seedHosts = async (): Promise<Seeded> => {
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

/** A host with all its example data: a copy of the one that was seeded for this run, if any, which takes a tenth of seeding it. */
export const startSeeded = async (label: SeededHost): Promise<Sandbox> => {
  const folder = process.env[variable]
  const copied = folder === undefined ? {} : { copyOf: join(folder, label) }
  await using scope = new AsyncDisposableStack()
  const sandbox = scope.use(await startSandbox({ label, seed: true, ...copied }))
  await sandbox.seeded
  scope.move()
  return sandbox
}
