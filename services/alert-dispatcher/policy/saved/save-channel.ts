import type { ChannelSaving } from '#proto/alert-policy.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { Net } from '#shared/net/net.ts'
import { sealKey } from '#shared/seal/config.ts'
import type { Channel } from '../../channels/channel.ts'
import { readProvider } from '../../channels/mail/provider.ts'
import type { PolicyStore } from '../../stores/stores.ts'
import { ChannelEntry, sealText } from './channel-entry.ts'
import { type Field, fieldsOf } from './fields.ts'

/** What saving needs. */
export interface Saving {
  env: Environment
  net: Pick<Net, 'check' | 'mail'>
  store: Pick<PolicyStore, 'all'>
}

/**
 * The entry of a channel once this is saved: switch and floor are replaced, and of its settings those that are named, since
 * nobody who reads them gets the secrets that they would have to send back.
 */
export const channelEntry = async (
  { env, net, store }: Saving,
  channel: Channel,
  { settings = {}, ...own }: ChannelSaving,
): Promise<ChannelEntry> => {
  const { variables, sealed } = await savedOf(store, channel)
  for (const [name, text] of Object.entries(settings)) {
    const field = requireField(channel, name)
    const { variable, setting } = field
    delete variables[variable]
    delete sealed[variable]
    if (text === null) continue
    requireMeant(field, text)
    if (/^(https?|smtps?):/i.test(text)) await requireAllowed(net, `settings.${name}`, text)
    if (setting.audience === 'secret') sealed[variable] = sealText(text, channel.id, variable, requireKey(env))
    else variables[variable] = text
  }
  return { ...own, variables, sealed }
}

const savedOf = async (
  store: Saving['store'],
  { id }: Channel,
): Promise<Pick<ChannelEntry, 'variables' | 'sealed'>> => {
  const entry = (await store.all()).find((each) => each.kind === 'channel' && each.id === id)
  const { variables = {}, sealed = {} } = ChannelEntry.safeParse(entry?.body).data ?? {}
  return { variables: { ...variables }, sealed: { ...sealed } }
}

const requireField = (channel: Channel, name: string): Field => {
  const fields = fieldsOf(channel)
  const field = fields.find((each) => each.field === name)
  const names = fields.map((each) => each.field).join(', ')
  if (!field) throw wrong(`settings.${name}`, `is not known here; known are ${names || 'none'}`)
  return field
}

/** What cannot be meant, with the name of the parameter and never with its text. */
export const wrong = (parameter: string, sentence: string): ServiceError =>
  new ServiceError('invalid', `${parameter} ${sentence}`, { details: { parameter } })

/** What settings say of a text never repeats it. */
const requireMeant = ({ field, setting }: Field, text: string): void => {
  try {
    setting.parse(text)
  } catch (error) {
    throw wrong(`settings.${field}`, error instanceof Error ? error.message : 'cannot be meant')
  }
}

/** An address that leads where it may not is refused now, and again whenever it is used. */
export const requireAllowed = async (net: Saving['net'], parameter: string, text: string): Promise<void> => {
  try {
    const provider = readProvider(text)
    await (provider?.kind === 'smtp' ? net.mail.check(provider) : net.check(text, 'notification'))
  } catch (error) {
    if (!(error instanceof NetFailure)) throw error
    throw wrong(parameter, 'must be an address that may be asked: public, or private where the operator allows that')
  }
}

/** The key for secrets, without which nothing secret is saved. */
export const requireKey = (env: Environment): RotatingKey => {
  const key = sealKey(env)
  if (key) return key
  const missing = 'secrets of channels cannot be saved: the operator has not set SVC_USER_CONNECTIONS_ENCRYPTION_KEY'
  throw new ServiceError('not-implemented', missing)
}
