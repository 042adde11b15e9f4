import { Deployment, mostDeployments } from '#proto/deployments.ts'
import { defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'

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
