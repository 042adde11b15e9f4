import type { Deployment } from '#proto/deployments.ts'

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
export interface DeploymentFilter {
  fromMs: number
  toMs: number
  limit: number
}
