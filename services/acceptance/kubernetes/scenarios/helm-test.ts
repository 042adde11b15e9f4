import type { Cluster } from '../cluster.ts'
import { namespace, releaseName } from '../release.ts'
import type { Outcome } from '../scenario.ts'

/** Runs the tests of the chart against the installed release. */
export const runHelmTest = async (cluster: Cluster): Promise<Outcome> => {
  const startedMs = performance.now()
  const words = ['test', releaseName, '--namespace', namespace, '--timeout', '3m']
  const problem = await cluster.helm(words).then(() => undefined, String)
  const seconds = Math.round((performance.now() - startedMs) / 1_000)
  if (problem === undefined) return { measured: `passed in ${seconds} s`, problems: [] }
  const log = await cluster.kubectl(['-n', namespace, 'logs', `${releaseName}-smoke`]).catch(String)
  return { measured: `failed after ${seconds} s`, problems: [problem], details: log.trim().split('\n') }
}
