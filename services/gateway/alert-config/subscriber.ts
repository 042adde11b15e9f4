import type { CallContext } from '#proto/call.ts'
import type { SubscriptionScope } from '#proto/delivery.ts'
import { ServiceError } from '#proto/errors.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { areWebhookSubscriptionsEnabled } from '#shared/config/shared-settings.ts'
import { authSettings } from '../auth/config.ts'
import { deviceSettings } from '../auth/device/config.ts'
import { computeOwnerId } from '../connections/user-connections.ts'
import { canManageUsers } from '../features/authorization.ts'
import type { Gateway } from '../gateway.ts'

const { IDP_SECRET_KEY } = authSettings
const { CONVERSATIONS_EDGESQL } = deviceSettings
const requiredSettings = { IDP_SECRET_KEY, CONVERSATIONS_EDGESQL }

/**
 * Returns the owner id of the subscriptions of a caller. Throws `not-implemented` with the missing setting, and
 * `unauthenticated` for anonymous callers.
 */
export const requireSubscriber = (gateway: Part, { identity }: CallContext): string => {
  const missing = missingFor(gateway)
  if (missing !== undefined)
    throw new ServiceError('not-implemented', `webhook subscriptions are unavailable: ${missing} is not set`)
  if (identity.kind !== 'user' && identity.kind !== 'key')
    throw new ServiceError('unauthenticated', 'sign in to subscribe your own webhooks')
  return computeOwnerId(identity)
}

/** Returns whose deliveries the caller may list: those of all users if it may manage users, otherwise its own. */
export const resolveSubscriptionScope = async (gateway: Gateway, call: CallContext): Promise<SubscriptionScope> =>
  (await canManageUsers(gateway, call)) ? 'everybody' : { owner: computeOwnerId(call.identity) }

type Part = Pick<Gateway, 'env' | 'auth'>

/**
 * Returns whether users can subscribe their own webhooks. `alert-dispatcher` is queried too, because only that service
 * knows whether an encryption key is set.
 */
export const canSubscribeWebhooks = async (
  call: CallContext,
  gateway: Part & Pick<Gateway, 'alerts'>,
): Promise<boolean> =>
  missingFor(gateway) === undefined &&
  gateway.alerts.subscriptionsOffered({}, call).then(
    ({ isOffered }) => isOffered,
    () => false,
  )

/** Returns the first required setting that is missing. */
const missingFor = ({ env, auth }: Part): string | undefined => {
  const settings = parseSettings(requiredSettings, env)
  if (!areWebhookSubscriptionsEnabled(env)) return 'SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS'
  if (auth.provider() !== 'idp') return 'SVC_AUTH_PROVIDER=idp'
  if (settings.IDP_SECRET_KEY === undefined) return 'IDP_SECRET_KEY'
  return settings.CONVERSATIONS_EDGESQL === undefined ? 'CONVERSATIONS_EDGESQL' : undefined
}
