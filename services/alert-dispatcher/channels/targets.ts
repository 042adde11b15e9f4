import { type Environment, withOverrides } from '#shared/config/environment.ts'
import { InvalidSettings, secretNames } from '#shared/config/setting.ts'
import type { Net } from '#shared/net/net.ts'
import type { Severity } from '#proto/rules.ts'
import type { Message } from '../messages/message.ts'
import type { Notice } from '../notice.ts'
import type { ChannelPolicy, Policy, Route } from '../policy.ts'
import type { Channel, ChannelTarget, SendResult } from './channel.ts'

/** What channels need of the way out. */
export type WayOut = Pick<Net, 'trusted' | 'guarded' | 'mail'>

/** An address as routing and delivery know it. */
export interface Target {
  channel: string
  id: string
  name: string
  minSeverity: Severity | null
  /** Gets each condition by itself, never a digest. */
  opensIncidents: boolean
  /** Also takes what other services tell. */
  announces: boolean
  /** Of what a person brought: what it is told of, in place of the operator's routes. */
  own?: Pick<Route, 'matchRule' | 'matchHost'> | undefined
  /** Whether a notice must not be in a message with others. */
  needsOwnMessage?: ((notice: Notice) => boolean) | undefined
  send(message: Message, net: WayOut): Promise<SendResult>
}

interface Known {
  channels: readonly Channel[]
  env: Environment
  policy: Pick<Policy, 'channels' | 'webhookTargets' | 'subscriptions' | 'chatApplications'>
}

/**
 * Every address that is switched on now: what operators have saved goes before files and variables, field by field. A channel that
 * cannot be read has no targets, so that the others go on; `brokenChannels` names it.
 */
export const targetsNow = ({ channels, env, policy }: Known): Target[] =>
  channels.flatMap((channel) => {
    const settled = policy.channels[channel.id]
    if (settled?.enabled === false) return []
    const { targets } = readChannel(channel, env, policy)
    return targets
      .filter(({ isEnabled }) => settled?.enabled ?? isEnabled)
      .map(({ id, name, minSeverity, isSaved = hasSavedAddress(channel, settled), own, needsOwnMessage, send }) => ({
        channel: channel.id,
        id,
        name,
        minSeverity: settled?.minSeverity ?? minSeverity,
        opensIncidents: channel.opensIncidents === true,
        announces: channel.announces === true,
        own,
        needsOwnMessage,
        send: (message, net) => send(message, ...waysTo(net, isSaved)),
      }))
  })

/** A channel with settings that cannot be used. */
export interface BrokenChannel {
  channel: string
  /** Names the variables and what is wrong with each, never their texts. */
  reason: string
  /** The defect that keeps the channel from being read, where its settings are not to blame. */
  defect?: unknown
}

/** Channels that cannot be read as they are set up now, and those with saved texts that the present key does not decrypt. */
export const brokenChannels = ({ channels, env, policy }: Known): BrokenChannel[] =>
  channels.flatMap((channel) => {
    const unreadable = policy.channels[channel.id]?.unreadable ?? []
    const sealed = unreadable.map((variable) => `${variable}: the saved value cannot be decrypted; save it again`)
    const { problem, defect } = readChannel(channel, env, policy)
    const reasons = problem === undefined ? sealed : [...sealed, problem]
    if (reasons.length === 0) return []
    return [{ channel: channel.id, reason: reasons.join('; '), ...(defect !== undefined && { defect }) }]
  })

interface ReadChannel {
  targets: readonly ChannelTarget[]
  problem?: string
  defect?: unknown
}

/** Reads one channel. Whatever is wrong with it stops neither the other channels nor the sweep that needs them. */
const readChannel = (channel: Channel, env: Environment, policy: Known['policy']): ReadChannel => {
  try {
    return { targets: channel.targets(variablesOf(channel, env, policy.channels[channel.id]), policy) }
  } catch (error) {
    if (!(error instanceof InvalidSettings)) return { targets: [], problem: 'internal error', defect: error }
    return { targets: [], problem: error.problems.map(({ name, sentence }) => `${name}: ${sentence}`).join('; ') }
  }
}

/** What decides which variables a channel reads. */
export type ChannelSources = Pick<ChannelPolicy, 'fromFiles' | 'variables'>

/**
 * The variables of a channel with what files and the database have in place of them, the database first. Secrets that the operator
 * set in files and variables read as unset while the address is one that was saved in the product: they are not sent there.
 */
export const variablesOf = (
  channel: Pick<Channel, 'address' | 'settings'>,
  env: Environment,
  settled: ChannelSources | undefined,
): Environment => {
  if (settled === undefined) return env
  const secrets = hasSavedAddress(channel, settled) ? secretNames(channel.settings) : []
  const withheld = Object.fromEntries(secrets.map((name) => [name, '']))
  return withOverrides(env, { ...settled.fromFiles, ...withheld, ...settled.variables })
}

const hasSavedAddress = ({ address }: Pick<Channel, 'address'>, settled: ChannelSources | undefined): boolean =>
  address !== undefined && settled?.variables[address] !== undefined

/** Whoever may save an address in the product must not reach inside; the operator's own may be anywhere. */
const waysTo = ({ trusted, guarded, mail }: WayOut, isSaved: boolean) =>
  isSaved ? ([guarded('notification'), mail.guarded] as const) : ([trusted, mail.trusted] as const)
