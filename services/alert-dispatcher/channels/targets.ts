import type { Environment } from '#shared/config/environment.ts'
import { InvalidSettings, type SettingProblem } from '#shared/config/setting.ts'
import type { Net } from '#shared/net/net.ts'
import type { Severity } from '#proto/rules.ts'
import type { Message } from '../delivery/message.ts'
import type { ChannelPolicy, Policy, Route } from '../policy/policy.ts'
import type { Channel, SendResult } from './channel.ts'

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
  send(message: Message, net: WayOut): Promise<SendResult>
}

interface Known {
  channels: readonly Channel[]
  env: Environment
  policy: Pick<Policy, 'channels' | 'webhookTargets' | 'subscriptions' | 'chatApplications'>
  /** Hears of a channel that is left out because a variable of it cannot be meant. */
  leftOut?(channel: string, problems: readonly SettingProblem[]): void
}

/** Every address that is switched on now: what operators have settled stands before the variables, field by field. */
export const targetsNow = ({ channels, env, policy, leftOut }: Known): Target[] =>
  channels.flatMap((channel) => {
    const settled = policy.channels[channel.id]
    if (settled?.enabled === false) return []
    const found = targetsOf(channel, withSettled(env, settled), policy, leftOut)
    return found
      .filter(({ isEnabled }) => settled?.enabled ?? isEnabled)
      .map(({ id, name, minSeverity, addressFrom, isSaved = false, own, send }) => ({
        channel: channel.id,
        id,
        name,
        minSeverity: settled?.minSeverity ?? minSeverity,
        opensIncidents: channel.opensIncidents === true,
        announces: channel.announces === true,
        own,
        send: (message, net) =>
          send(message, ...waysTo(net, isSaved || settled?.variables[addressFrom ?? ''] !== undefined)),
      }))
  })

/** A channel with a variable that cannot be meant has no targets, and the others go on. */
const targetsOf = (channel: Channel, env: Environment, policy: Known['policy'], leftOut: Known['leftOut']) => {
  try {
    return channel.targets(env, policy)
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error
    leftOut?.(channel.id, error.problems)
    return []
  }
}

/** Read through to the environment, where a secret may be in a file that changes. */
export const withSettled = (env: Environment, settled: ChannelPolicy | undefined): Environment =>
  settled === undefined
    ? env
    : // An object made over another reads as that other where it has nothing of its own.
      (Object.assign(Object.create(env), settled.fromFiles, settled.variables) as Environment)

/** Whoever may save an address in the product must not reach inside; the operator's own may be anywhere. */
const waysTo = ({ trusted, guarded, mail }: WayOut, isSaved: boolean) =>
  isSaved ? ([guarded('notification'), mail.guarded] as const) : ([trusted, mail.trusted] as const)
