import type { Scenario } from '../scenario.ts'
import { killEachPod } from './kill-each-pod.ts'
import { restartAll } from './restart-all.ts'
import { upgradeAndRollBack } from './upgrade.ts'
import { runWithoutRedis } from './without-redis.ts'

/** The scenarios that need load, by profile. All profiles are also installed, tested and uninstalled. */
export const scenarios: readonly Scenario[] = [
  { name: 'default-restart', profile: 'default', run: (cluster) => restartAll(cluster, 2) },
  { name: 'default-without-redis', profile: 'default', run: runWithoutRedis },
  { name: 'fleet-restart', profile: 'fleet', run: (cluster) => restartAll(cluster, 0) },
  { name: 'fleet-kills', profile: 'fleet', run: killEachPod },
  { name: 'fleet-upgrade', profile: 'fleet', run: upgradeAndRollBack, startsFromLastRelease: true },
]
