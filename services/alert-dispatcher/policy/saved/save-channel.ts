import type { ChannelSaving } from '#proto/alert-policy.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { Net } from '#shared/net/net.ts'
import { sealKey } from '#shared/seal/config.ts'
import type { Channel } from '../../channels/channel.ts'
import { readProvider } from '../../channels/mail/mail.ts'
import { type ChannelSources, variablesOf } from '../../channels/targets.ts'
import type { PolicyStore } from '../../stores/stores.ts'
import { ChannelEntry, openEntry, sealText } from './entries.ts'
import { type Field, fieldsOf } from './fields.ts'
import { wrong, isOtherOrigin } from './refusals.ts'

/** What saving needs. */
export interface Saving {
  env: Environment
  net: Pick<Net, 'check' | 'mail'>
  store: Pick<PolicyStore, 'all'>
  /** What alert files have of channels. */
  fromFiles?: ChannelSources['fromFiles']
}

/**
 * The entry of a channel once this is saved: switch and floor are replaced, and of its settings those that are named, since
 * nobody who reads them gets the secrets that they would have to send back.
 */
export const channelEntry = async (
  saving: Saving,
  channel: Channel,
  { settings = {}, ...own }: ChannelSaving,
): Promise<ChannelEntry> => {
  const { env, net, store } = saving
  const before = await savedOf(store, channel)
  const [variables, sealed] = [{ ...before.variables }, { ...before.sealed }]
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
  const saved = { variables, sealed }
  requireSecretsAgain(saving, channel, { before, saved, named: Object.keys(settings) })
  return { ...own, ...saved }
}

type SavedTexts = Pick<ChannelEntry, 'variables' | 'sealed'>

interface SavedChange {
  before: SavedTexts
  saved: SavedTexts
  /** Fields that the request names, with a text or with null. */
  named: readonly string[]
}

/**
 * Throws `invalid` with the name of the first secret that was given for the server of another address: whoever may change the
 * address must not have it sent to a server of theirs.
 */
const requireSecretsAgain = (
  { env, fromFiles }: Saving,
  channel: Channel,
  { before, saved, named }: SavedChange,
): void => {
  const { address } = channel
  if (address === undefined) return
  const read = (entry: SavedTexts) => {
    const { texts, unread } = openEntry(channel.id, entry, sealKey(env))
    const effective = variablesOf(channel, env, { fromFiles, variables: texts })
    return { effective, address: unread.includes(address) ? undefined : effective[address] }
  }
  const [old, now] = [read(before), read(saved)]
  const fields = fieldsOf(channel)
  const isNamed = fields.some(({ field, variable }) => variable === address && named.includes(field))
  const isMoved = isNamed && isOtherOrigin(old.address, now.address)
  for (const { field, variable, setting } of fields) {
    if (setting.audience !== 'secret' || variable === address || named.includes(field)) continue
    // A secret that the present key does not decrypt counts too: the key that does may come back.
    const follows = isMoved && (variable in saved.sealed || variable in saved.variables)
    // A secret of the operator is not sent to an address that was saved: whoever saves one says which secret it gets.
    const isWithheld = Boolean(old.effective[variable]) && !now.effective[variable]
    if (follows || isWithheld) throw secretAgain(`settings.${field}`)
  }
}

/** The failure that asks for a secret which must not follow its address to another server. */
export const secretAgain = (parameter: string): ServiceError =>
  wrong(parameter, 'must be given again or removed: what was set for another address is not sent to a new one')

const savedOf = async (store: Saving['store'], { id }: Channel): Promise<SavedTexts> => {
  const entry = (await store.all()).find((each) => each.kind === 'channel' && each.id === id)
  return ChannelEntry.safeParse(entry?.body).data ?? { variables: {}, sealed: {} }
}

const requireField = (channel: Channel, name: string): Field => {
  const fields = fieldsOf(channel)
  const field = fields.find((each) => each.field === name)
  const names = fields.map((each) => each.field).join(', ')
  if (!field) throw wrong(`settings.${name}`, `is not known here; known are ${names || 'none'}`)
  return field
}

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
