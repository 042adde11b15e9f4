import type { ChannelSettingsUpdate } from '#proto/alert-policy.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { Net } from '#shared/net/net.ts'
import { readSealKey } from '#shared/seal/config.ts'
import type { Channel } from '../../channels/channel.ts'
import { parseMailProvider } from '../../channels/mail/mail.ts'
import { type ChannelSources, resolveChannelVariables } from '../../channels/targets.ts'
import type { PolicyStore } from '../../stores/stores.ts'
import { ChannelEntry, decryptChannelEntry, encryptChannelValue } from './entries.ts'
import { type ChannelSettingField, listFields } from './channel-fields.ts'
import { createInvalidParameterError, isOtherOrigin } from './errors.ts'

type AddressCheck = Pick<Net, 'check'> & { mail: Pick<Net['mail'], 'check'> }
/** The checks of addresses, for all callers and for those on this machine. */
export type SaveNetwork = AddressCheck & { local: AddressCheck }

/** Dependencies of saving channels and webhook targets. */
export interface SaveDeps {
  env: Environment
  net: SaveNetwork
  store: Pick<PolicyStore, 'all'>
  /** Whether the request comes from a caller on this machine. */
  isCallerLocal?: boolean
  /** Channel values from alert files. */
  fromFiles?: ChannelSources['fromFiles']
}

/**
 * Returns the new stored form of a channel. The request replaces `enabled`, `minSeverity` and the settings that it
 * contains. Other settings keep their values, because clients never receive secrets that they could send back.
 */
export const buildChannelEntry = async (
  deps: SaveDeps,
  channel: Channel,
  { settings = {}, ...own }: ChannelSettingsUpdate,
): Promise<ChannelEntry> => {
  const { env, store } = deps
  const before = await loadSavedTexts(store, channel)
  const [variables, sealed] = [{ ...before.variables }, { ...before.sealed }]
  let isLocal = before.isLocal ?? false
  for (const [name, text] of Object.entries(settings)) {
    const field = requireField(channel, name)
    const { variable, setting } = field
    delete variables[variable]
    delete sealed[variable]
    if (text === null) continue
    requireValid(field, text)
    if (/^(https?|smtps?):/i.test(text)) {
      await requireAllowedAddress(deps, `settings.${name}`, text)
      isLocal = deps.isCallerLocal ?? false
    }
    if (setting.audience === 'secret')
      sealed[variable] = encryptChannelValue(text, channel.id, variable, requireEncryptionKey(env))
    else variables[variable] = text
  }
  const saved = { variables, sealed }
  requireSecretsAgain(deps, channel, { before, saved, named: Object.keys(settings) })
  return { ...own, ...saved, ...(isLocal && { isLocal }) }
}

type SavedTexts = Pick<ChannelEntry, 'variables' | 'sealed' | 'isLocal'>

interface SavedChange {
  before: SavedTexts
  saved: SavedTexts
  /** Fields in the request, including those set to null. */
  named: readonly string[]
}

/**
 * Throws `invalid` and names the secret if the address moves to another server without a new secret. Otherwise a user
 * could redirect secrets to their own server.
 */
const requireSecretsAgain = (
  { env, fromFiles }: SaveDeps,
  channel: Channel,
  { before, saved, named }: SavedChange,
): void => {
  const { address } = channel
  if (address === undefined) return
  const read = (entry: SavedTexts) => {
    const { texts, unread } = decryptChannelEntry(channel.id, entry, readSealKey(env))
    const effective = resolveChannelVariables(channel, env, { fromFiles, variables: texts })
    return { effective, address: unread.includes(address) ? undefined : effective[address] }
  }
  const [old, now] = [read(before), read(saved)]
  const fields = listFields(channel)
  const isNamed = fields.some(({ field, variable }) => variable === address && named.includes(field))
  const isMoved = isNamed && isOtherOrigin(old.address, now.address)
  for (const { field, variable, setting } of fields) {
    if (setting.audience !== 'secret' || variable === address || named.includes(field)) continue
    // Secrets that cannot be decrypted count too, because the key may be restored.
    const follows = isMoved && (variable in saved.sealed || variable in saved.variables)
    // A secret of the operator is not sent to a saved address, so the request must contain the secret to use.
    const isWithheld = Boolean(old.effective[variable]) && !now.effective[variable]
    if (follows || isWithheld) throw createSecretRequiredError(`settings.${field}`)
  }
}

/** Returns the error for a secret that must not be sent to a new address. */
export const createSecretRequiredError = (parameter: string): ServiceError =>
  createInvalidParameterError(parameter, 'must be set again or removed: saved secrets are not sent to a new address')

const loadSavedTexts = async (store: SaveDeps['store'], { id }: Channel): Promise<SavedTexts> => {
  const entry = (await store.all()).find((each) => each.kind === 'channel' && each.id === id)
  return ChannelEntry.safeParse(entry?.body).data ?? { variables: {}, sealed: {} }
}

const requireField = (channel: Channel, name: string): ChannelSettingField => {
  const fields = listFields(channel)
  const field = fields.find((each) => each.field === name)
  const names = fields.map((each) => each.field).join(', ')
  if (!field) throw createInvalidParameterError(`settings.${name}`, `is unknown; allowed: ${names || 'none'}`)
  return field
}

/** Throws `invalid` for an invalid value. Parser messages never quote it. */
const requireValid = ({ field, setting }: ChannelSettingField, text: string): void => {
  try {
    setting.parse(text)
  } catch (error) {
    throw createInvalidParameterError(`settings.${field}`, error instanceof Error ? error.message : 'invalid value')
  }
}

/** Throws `invalid` for an address that must not be reached. The check is repeated at each use. */
export const requireAllowedAddress = async (
  { net, isCallerLocal = false }: Pick<SaveDeps, 'net' | 'isCallerLocal'>,
  parameter: string,
  text: string,
): Promise<void> => {
  const allowed = isCallerLocal ? net.local : net
  try {
    const provider = parseMailProvider(text)
    await (provider?.kind === 'smtp' ? allowed.mail.check(provider) : allowed.check(text, 'notification'))
  } catch (error) {
    if (!(error instanceof NetFailure)) throw error
    throw createInvalidParameterError(parameter, 'must be a public address, or a private one that the operator allows')
  }
}

/** Returns the encryption key; throws `not-implemented` if it is not set. */
export const requireEncryptionKey = (env: Environment): RotatingKey => {
  const key = readSealKey(env)
  if (key) return key
  const missing = 'cannot save secrets of channels: SVC_USER_CONNECTIONS_ENCRYPTION_KEY is not set'
  throw new ServiceError('not-implemented', missing)
}
