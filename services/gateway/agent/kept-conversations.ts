import type { Identity } from '#proto/call.ts'
import type { ConversationSummary } from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'
import { read } from '#shared/config/setting.ts'
import { providerOf } from '../auth/provider.ts'
import { conversationFeatureSettings } from '../features/config.ts'
import type { Gateway } from '../gateway.ts'
import type { HostList } from '../hosts/host-list.ts'

type Place = Pick<Gateway, 'env' | 'build'>

const built = { CLIENT_FEATURE_CONVERSATION_DB: conversationFeatureSettings.SVC_FEATURE_CONVERSATION_DB }

/** Why the conversations of a caller live in its browser; undefined when they are kept here. */
export const notKeptHere = ({ env, build }: Place, { kind }: Identity): ServiceError | undefined => {
  const CLIENT_FEATURE_CONVERSATION_DB = build?.client.CLIENT_FEATURE_CONVERSATION_DB ?? undefined
  if (!read(built, { CLIENT_FEATURE_CONVERSATION_DB }).CLIENT_FEATURE_CONVERSATION_DB) {
    return missing('the web was built without SVC_FEATURE_CONVERSATION_DB')
  }
  if (providerOf(env, build) !== 'idp') return missing('people do not sign in by an identity provider')
  return kind === 'user' ? undefined : new ServiceError('unauthenticated', 'sign in to keep conversations')
}

/** Throws `not-implemented`, or `unauthenticated` for callers who are no signed-in person. */
export const requireKeptHere = (place: Place, identity: Identity): void => {
  const reason = notKeptHere(place, identity)
  if (reason) throw reason
}

const missing = (what: string): ServiceError =>
  new ServiceError('not-implemented', `conversations live in the browser here: ${what}`)

/** How callers see conversations: keys of hosts stay inside, as callers know hosts by their position and name. */
export const showing = async (hosts: HostList) => {
  const byKey = new Map((await hosts.all()).map(({ key, id, name }) => [key, { hostId: id, host: name }]))
  return <T extends ConversationSummary>({ hostKey, ...conversation }: T) => ({
    ...conversation,
    ...(byKey.get(hostKey ?? '') ?? { hostId: null, host: null }),
  })
}
