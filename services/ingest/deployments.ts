import type { Handlers } from '#proto/contract.ts'
import { Deployment, mostDeployments, type deploymentMethods } from '#proto/deployments.ts'
import type { ingest } from '#proto/ingest.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import type { Clock } from '#shared/time/clock.ts'
import { settings } from './config.ts'

/** Keeps deployments, the newest `mostDeployments` of them. */
export interface Deployments {
  /** In place of what was known of it, unless that is later. */
  put(deployment: Deployment): Promise<void>
  /** The newest first. */
  list(filter: DeploymentFilter): Promise<Deployment[]>
  /** Removes those that were before; says how many. */
  prune(beforeMs: number): Promise<number>
}

/** From the first of these times, up to and without the second. */
interface DeploymentFilter {
  fromMs: number
  toMs: number
  limit: number
}

const deploymentRecords = defineCollection({
  name: 'watchhouse_deployments',
  schema: Deployment,
  columns: { atMs: 'integer' },
  indexes: [['atMs']],
  supersedes: { grows: 'atMs' },
  idOf: ({ id }) => id,
  valuesOf: ({ atMs }) => ({ atMs }),
})

/** Opens the deployments in the database; without one in memory, where a restart forgets them. */
export const openDeployments = async (database: Database | undefined, most = mostDeployments): Promise<Deployments> => {
  const deployments = (await openCollections('deployments', [deploymentRecords], database)).of(deploymentRecords)
  return {
    async put(deployment) {
      await deployments.put([deployment])
      const tooMany = (await deployments.count()) - most
      if (tooMany > 0) await deployments.remove({ id: await deployments.ids({ orderBy: 'atMs', limit: tooMany }) })
    },
    list: ({ fromMs, toMs, limit }) =>
      deployments.list({ where: { atMs: { from: fromMs, before: toMs } }, orderBy: 'atMs', descending: true, limit }),
    prune: (beforeMs) => deployments.remove({ atMs: { before: beforeMs } }),
  }
}

type Handled = Pick<Handlers<typeof ingest>, keyof typeof deploymentMethods>

interface Place {
  deployments: Deployments
  env: Environment
  clock: Clock
}

const dayMs = 86_400_000

/** Before this moment deployments are forgotten. */
export const forgottenBeforeMs = ({ env, clock }: Omit<Place, 'deployments'>): number =>
  Math.max(0, clock.now() - read(settings, env).SVC_DEPLOYMENTS_DAYS * dayMs)

/** Keeps deployments, and tells of those that are not too old, whether or not anybody has removed the others yet. */
export const deploymentHandlers = (place: Place): Handled => ({
  async keepDeployment(deployment) {
    await place.deployments.put(deployment)
    return {}
  },
  deployments: async ({ fromMs = 0, toMs = Number.MAX_SAFE_INTEGER, limit }) =>
    place.deployments.list({ fromMs: Math.max(fromMs, forgottenBeforeMs(place)), toMs, limit }),
})
