import { setTimeout as wait } from 'node:timers/promises'
import type { Cluster } from '../cluster.ts'
import { applyRelease, awaitRelease, listPods, prepareNamespace, type Profile } from '../release.ts'
import { type Outcome, problemIf } from '../scenario.ts'
import { startStores } from '../surroundings.ts'

/** Time after which a pod that started too early has restarted. */
const observedMs = 20_000

/** Installs a profile on a cluster without it. No pod may restart. */
export const install = async (
  cluster: Cluster,
  profile: Profile,
  options?: Parameters<typeof applyRelease>[3],
): Promise<Outcome> => {
  await cluster.prepareVolumes()
  await prepareNamespace(cluster, profile)
  if (profile === 'fleet') await startStores(cluster)
  const startedMs = performance.now()
  await applyRelease(cluster, 'install', profile, options)
  await awaitRelease(cluster)
  const seconds = Math.round((performance.now() - startedMs) / 1_000)
  await wait(observedMs)
  const pods = await listPods(cluster)
  const restarted = pods.filter(({ restarts }) => restarts > 0)
  const names = restarted.map(({ name, restarts }) => `${name} ${restarts} times`).join(', ')
  return {
    measured: `${pods.length} pods ready in ${seconds} s, ${restarted.length} restarted`,
    problems: problemIf(restarted.length > 0, `restarted: ${names}`),
  }
}

/** Upgrades the installed profile so that it accepts the load of the following scenarios. */
export const allowLoad = async (cluster: Cluster, profile: Profile): Promise<void> => {
  await applyRelease(cluster, 'upgrade', profile, { load: 'for load' })
  await awaitRelease(cluster)
}
