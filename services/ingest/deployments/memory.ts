import { type Deployment, mostDeployments } from '#proto/deployments.ts'
import type { Deployments } from './store.ts'

/** Deployments that this process heard of; a restart forgets them. */
export const memoryDeployments = (most = mostDeployments): Deployments => {
  const known = new Map<string, Deployment>()
  const newestFirst = () => [...known.values()].toSorted((one, other) => other.atMs - one.atMs)
  const forget = (those: readonly Deployment[]): number => {
    for (const { id } of those) known.delete(id)
    return those.length
  }
  return {
    async put(deployment) {
      const before = known.get(deployment.id)
      if (before && before.atMs > deployment.atMs) return
      known.set(deployment.id, deployment)
      forget(newestFirst().slice(most))
    },
    list: async ({ fromMs, toMs, limit }) =>
      newestFirst()
        .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
        .slice(0, limit),
    prune: async (beforeMs) => forget(newestFirst().filter(({ atMs }) => atMs < beforeMs)),
  }
}
