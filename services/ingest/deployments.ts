import type { ServiceHandlers } from '#proto/contract.ts'
import { Deployment, maxDeployments, type deploymentMethods } from '#proto/deployments.ts'
import type { ingest } from '#proto/ingest.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import type { Clock } from '#shared/time/clock.ts'
import { settings } from './config.ts'

/** Stores the newest `maxDeployments` deployments. */
export interface DeploymentStore {
  /** Inserts or updates a deployment, unless the stored state is newer. */
  put(deployment: Deployment): Promise<void>
  /** Returns deployments, newest first. */
  list(filter: DeploymentFilter): Promise<Deployment[]>
  /** Deletes deployments from before the given time and returns their number. */
  prune(beforeMs: number): Promise<number>
}

/** Time range in epoch milliseconds: `fromMs` inclusive, `toMs` exclusive. */
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

/** Opens the deployment store in the database, or in memory without one. */
export const openDeploymentStore = async (
  database: Database | undefined,
  max = maxDeployments,
): Promise<DeploymentStore> => {
  const deployments = (await openCollections('deployments', [deploymentRecords], database)).of(deploymentRecords)
  return {
    async put(deployment) {
      await deployments.put([deployment])
      const tooMany = (await deployments.count()) - max
      if (tooMany > 0) await deployments.remove({ id: await deployments.ids({ orderBy: 'atMs', limit: tooMany }) })
    },
    list: ({ fromMs, toMs, limit }) =>
      deployments.list({ where: { atMs: { from: fromMs, before: toMs } }, orderBy: 'atMs', descending: true, limit }),
    prune: (beforeMs) => deployments.remove({ atMs: { before: beforeMs } }),
  }
}

type DeploymentHandlers = Pick<ServiceHandlers<typeof ingest>, keyof typeof deploymentMethods>

interface DeploymentDeps {
  deployments: DeploymentStore
  env: Environment
  clock: Clock
}

const dayMs = 86_400_000

/** Returns the start of the retention period in epoch milliseconds. */
export const getRetentionStartMs = ({ env, clock }: Omit<DeploymentDeps, 'deployments'>): number =>
  Math.max(0, clock.now() - parseSettings(settings, env).SVC_DEPLOYMENTS_DAYS * dayMs)

/**
 * Returns the handlers for deployments; those beyond the retention are not returned, even if they are not deleted yet.
 */
export const createDeploymentHandlers = (deps: DeploymentDeps): DeploymentHandlers => ({
  async storeDeployment(deployment) {
    await deps.deployments.put(deployment)
    return {}
  },
  deployments: async ({ fromMs = 0, toMs = Number.MAX_SAFE_INTEGER, limit }) =>
    deps.deployments.list({ fromMs: Math.max(fromMs, getRetentionStartMs(deps)), toMs, limit }),
})
