import type { Handlers } from '#proto/contract.ts'
import type { deploymentMethods } from '#proto/deployments.ts'
import type { ingest } from '#proto/ingest.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { settings } from '../config.ts'
import type { Deployments } from './store.ts'

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
