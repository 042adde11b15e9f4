import { createClock } from '#shared/time/clock.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Deployment } from '#proto/deployments.ts'
import { openDatabase } from '#shared/store/sql/connection.ts'
import { describeWith, startPostgres } from '../testing/describe-with.ts'
import { createDeploymentHandlers, type DeploymentStore, openDeploymentStore } from './deployments.ts'

const max = 5

const inDatabase = async (opened: AsyncDisposableStack, kind: 'postgres' | 'sqlite', url: string) =>
  openDeploymentStore(opened.use(await openDatabase({ kind, url, token: undefined, tablePrefix: 'd_' })), max)

const implementations: Record<string, (opened: AsyncDisposableStack) => Promise<DeploymentStore>> = {
  memory: async () => openDeploymentStore(undefined, max),
  libSQL: async (opened) => {
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-deployments-'))
    opened.defer(() => rm(directory, { recursive: true }))
    return inDatabase(opened, 'sqlite', `file:${join(directory, 'state.db')}`)
  },
  PostgreSQL: async (opened) => inDatabase(opened, 'postgres', opened.use(await startPostgres()).url),
}

const needs: Record<string, readonly 'postgres'[]> = { PostgreSQL: ['postgres'] }

const deploymentOf = (more: Partial<Deployment> = {}): Deployment => ({
  id: 'deployment:1',
  kind: 'deployment',
  repository: 'acme/shop',
  version: 'main a1b2c3d',
  environment: 'production',
  outcome: null,
  title: 'production: main a1b2c3d',
  by: 'grace',
  url: null,
  atMs: 1_000,
  ...more,
})

describe.each(Object.keys(implementations))('deployments', (name) => {
  describeWith(needs[name] ?? [], `in ${name}`, () => suite(name))
})

function suite(name: string): void {
  const opened = new AsyncDisposableStack()
  let deployments: DeploymentStore
  beforeAll(async () => {
    const open = implementations[name]
    if (!open) throw new Error(`no implementation ${name}`)
    deployments = await open(opened)
  })
  afterAll(() => opened.disposeAsync())
  const listed = async (fromMs = 0, toMs = Infinity) =>
    (await deployments.list({ fromMs, toMs: Math.min(toMs, Number.MAX_SAFE_INTEGER), limit: 10 })).map(
      ({ id, atMs, outcome }) => [id, atMs, outcome],
    )

  it('store the latest state, regardless of the order of arrival', async () => {
    await deployments.put(deploymentOf({ title: `it's \u0000 ключ` }))
    await deployments.put(deploymentOf({ outcome: 'success', atMs: 3_000 }))
    await deployments.put(deploymentOf({ outcome: 'created', atMs: 2_000 }))
    await deployments.put(deploymentOf({ id: 'release:1', atMs: 2_500 }))
    expect(await listed()).toEqual([
      ['deployment:1', 3_000, 'success'],
      ['release:1', 2_500, null],
    ])
    expect(await listed(2_500, 3_000)).toEqual([['release:1', 2_500, null]])
  })

  it('are hidden after the retention and deleted by prune', async () => {
    const clock = createClock(() => 2 * 86_400_000 + 2_600)
    const handlers = createDeploymentHandlers({ deployments, env: { SVC_DEPLOYMENTS_DAYS: '2' }, clock })
    // The handler ignores the call context.
    const listedDeployments = await handlers.deployments(
      { limit: 10 },
      {} as Parameters<typeof handlers.deployments>[1],
    )
    expect(listedDeployments.map(({ id }) => id)).toEqual(['deployment:1'])
    expect(await deployments.prune(2_600)).toBe(1)
    expect(await listed()).toEqual([['deployment:1', 3_000, 'success']])
  })

  it('are limited in number', async () => {
    for (let number = 1; number <= max; number++) {
      await deployments.put(deploymentOf({ id: `push:${number}`, atMs: 10_000 + number }))
    }
    expect(await listed(0, 10_001)).toEqual([])
    expect(await listed(10_001, 10_002)).toHaveLength(1)
    await deployments.put(deploymentOf({ id: 'push:0', atMs: 20_000 }))
    expect(await listed(0, 10_002)).toEqual([])
  })
}
