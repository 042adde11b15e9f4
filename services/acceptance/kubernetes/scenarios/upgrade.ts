import { setTimeout as wait } from 'node:timers/promises'
import type { Cluster } from '../cluster.ts'
import { compareMessages } from '../compare-messages.ts'
import { describeRequests, listFailures, sendAlerts, startRequests } from '../load.ts'
import { applyRelease, awaitRelease, rollBack } from '../release.ts'
import { type Outcome, problemIf } from '../scenario.ts'
import { install } from './install.ts'
import { uninstall } from './uninstall.ts'

const alerts = 600
const alertsPerSecond = 2
/** Time under load before, between and after the changes. */
const quietMs = 15_000

/**
 * Installs the last release, upgrades it to the working tree and rolls back, under load and while alerts arrive. No
 * request may fail and no alert may be lost.
 */
export const upgradeAndRollBack = async (cluster: Cluster): Promise<Outcome> => {
  if (cluster.lastRelease === undefined) return { measured: 'stopped', problems: ['the last release has no image'] }
  await uninstall(cluster, 'fleet')
  const installed = await install(cluster, 'fleet', { load: 'for load', version: cluster.lastRelease })
  const load = startRequests(cluster)
  const sending = sendAlerts(cluster, alerts, alertsPerSecond)
  await wait(quietMs)
  const upgrade = await measurePhase('upgrade', async () => {
    await applyRelease(cluster, 'upgrade', 'fleet', { load: 'for load' })
    await awaitRelease(cluster)
  })
  await wait(quietMs)
  const rollback = await measurePhase('rollback', async () => {
    await rollBack(cluster)
    await awaitRelease(cluster)
  })
  const { accepted, repeated } = await sending
  await wait(quietMs)
  const results = await load.stop()
  const { lost, needless } = await compareMessages(cluster, accepted, [])
  const failed = results.filter(({ problem }) => problem !== '')
  const ofAlerts = `${accepted.length} of ${alerts} alerts accepted (${repeated} repeated), ${lost.length} lost, ${needless.length} duplicated`
  return {
    measured: `${describeRequests(results)}; ${ofAlerts}`,
    problems: [
      ...installed.problems,
      ...problemIf(failed.length > 0, 'requests failed'),
      ...problemIf(accepted.length < alerts, 'alerts were not accepted'),
      ...problemIf(lost.length > 0, `lost: ${lost.slice(0, 10).join(', ')}`),
      ...problemIf(needless.length > 0, `duplicated: ${needless.slice(0, 10).join(', ')}`),
    ],
    details: [upgrade, rollback, ...listFailures(results)],
  }
}

/** Runs a phase and returns a sentence with its period. */
const measurePhase = async (name: string, work: () => Promise<void>): Promise<string> => {
  const [startedAt, startedMs] = [new Date(), performance.now()]
  await work()
  const seconds = Math.round((performance.now() - startedMs) / 1_000)
  return `${startedAt.toISOString().slice(11, 19)} ${name}, ${seconds} s`
}
