import { type Environment, overrideVariables } from '#shared/config/environment.ts'
import { InvalidSettings, listSecretNames } from '#shared/config/setting.ts'
import type { Net } from '#shared/net/net.ts'
import type { Severity } from '#proto/rules.ts'
import type { Message } from '../messages/message.ts'
import type { Notification } from '../notification.ts'
import type { ChannelPolicy, Policy, NotificationRoute } from '../policy.ts'
import type { Channel, ChannelTarget, SendResult } from './channel.ts'

/** Network access of channels. */
export type ChannelNetwork = Pick<Net, 'trusted' | 'guarded' | 'mail'> & {
  local: Pick<Net['local'], 'guarded' | 'mail'>
}

/** An enabled target with its effective minimum severity, as routing and delivery use it. */
export interface NotificationTarget {
  channel: string
  id: string
  name: string
  minSeverity: Severity | null
  /** Whether it receives each condition separately instead of a digest. */
  opensIncidents: boolean
  /** Whether it also receives notifications of other services. */
  announces: boolean
  /** Matchers of a user subscription, which replace the routes of the operator. */
  own?: Pick<NotificationRoute, 'matchRule' | 'matchHost'> | undefined
  /** Returns whether a notification must be sent alone. */
  needsOwnMessage?: ((notification: Notification) => boolean) | undefined
  send(message: Message, net: ChannelNetwork): Promise<SendResult>
}

interface TargetContext {
  channels: readonly Channel[]
  env: Environment
  policy: Pick<Policy, 'channels' | 'webhookTargets' | 'subscriptions' | 'chatApplications'>
}

/**
 * Returns all enabled targets; saved settings override files and variables, field by field. A channel that cannot be
 * read has no targets and is returned by `findBrokenChannels`, so that the others keep working.
 */
export const listEnabledTargets = ({ channels, env, policy }: TargetContext): NotificationTarget[] =>
  channels.flatMap((channel) => {
    const configured = policy.channels[channel.id]
    if (configured?.enabled === false) return []
    const { targets } = readChannel(channel, env, policy)
    return targets
      .filter(({ isEnabled }) => configured?.enabled ?? isEnabled)
      .map(({ id, name, minSeverity, own, needsOwnMessage, send, ...target }) => ({
        channel: channel.id,
        id,
        name,
        minSeverity: configured?.minSeverity ?? minSeverity,
        opensIncidents: channel.opensIncidents === true,
        announces: channel.announces === true,
        own,
        needsOwnMessage,
        send: (message, net) =>
          send(message, ...selectNetworkAccess(net, findAddressOrigin(channel, configured, target))),
      }))
  })

/** A channel with unusable settings. */
export interface BrokenChannel {
  channel: string
  /** Names the variables and what is wrong with each, never their values. */
  reason: string
  /** The internal error, if the settings are not the cause. */
  defect?: unknown
}

/** Returns channels that cannot be read, and those with saved values that the current key cannot decrypt. */
export const findBrokenChannels = ({ channels, env, policy }: TargetContext): BrokenChannel[] =>
  channels.flatMap((channel) => {
    const unreadable = policy.channels[channel.id]?.unreadable ?? []
    const sealed = unreadable.map((variable) => `${variable}: the saved value cannot be decrypted; save it again`)
    const { problem, defect } = readChannel(channel, env, policy)
    const reasons = problem === undefined ? sealed : [...sealed, problem]
    if (reasons.length === 0) return []
    return [{ channel: channel.id, reason: reasons.join('; '), ...(defect !== undefined && { defect }) }]
  })

interface ChannelReadResult {
  targets: readonly ChannelTarget[]
  problem?: string
  defect?: unknown
}

/** Returns the targets of one channel, or why they cannot be read. Never throws, so that the others keep working. */
const readChannel = (channel: Channel, env: Environment, policy: TargetContext['policy']): ChannelReadResult => {
  try {
    return { targets: channel.targets(resolveChannelVariables(channel, env, policy.channels[channel.id]), policy) }
  } catch (error) {
    if (!(error instanceof InvalidSettings)) return { targets: [], problem: 'internal error', defect: error }
    return { targets: [], problem: error.problems.map(({ name, sentence }) => `${name}: ${sentence}`).join('; ') }
  }
}

/** The sources of a channel's variables. */
export type ChannelSources = Pick<ChannelPolicy, 'fromFiles' | 'variables'>

/**
 * Returns the variables of a channel with values from files and the database, which takes precedence. If the address
 * comes from the database, the secrets of the operator are unset, so that they are never sent there.
 */
export const resolveChannelVariables = (
  channel: Pick<Channel, 'address' | 'settings'>,
  env: Environment,
  configured: ChannelSources | undefined,
): Environment => {
  if (configured === undefined) return env
  const secrets = hasSavedAddress(channel, configured) ? listSecretNames(channel.settings) : []
  const withheld = Object.fromEntries(secrets.map((name) => [name, '']))
  return overrideVariables(env, { ...configured.fromFiles, ...withheld, ...configured.variables })
}

const hasSavedAddress = ({ address }: Pick<Channel, 'address'>, configured: ChannelSources | undefined): boolean =>
  address !== undefined && configured?.variables[address] !== undefined

/** Who chose the address of a target. */
type AddressOrigin = 'operator' | 'user' | 'local-user'

const findAddressOrigin = (
  channel: Channel,
  configured: ChannelPolicy | undefined,
  { isSaved, isLocal }: Pick<ChannelTarget, 'isSaved' | 'isLocal'>,
): AddressOrigin => {
  if (!(isSaved ?? hasSavedAddress(channel, configured))) return 'operator'
  return (isLocal ?? configured?.isLocal) ? 'local-user' : 'user'
}

/**
 * Returns the network access of a target. Saved addresses must not reach internal networks, unless they were entered on
 * this machine and `Net.local` allows them; the operator's may.
 */
const selectNetworkAccess = ({ trusted, guarded, mail, local }: ChannelNetwork, origin: AddressOrigin) => {
  if (origin === 'operator') return [trusted, mail.trusted] as const
  const allowed = origin === 'local-user' ? local : { guarded, mail }
  return [allowed.guarded('notification'), allowed.mail.guarded] as const
}
