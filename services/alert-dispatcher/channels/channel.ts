import type { Severity } from '#proto/rules.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Settings } from '#shared/config/setting.ts'
import type { Dial } from '#shared/net/dial.ts'
import type { Send } from '#shared/net/net.ts'
import type { Message } from '../messages/message.ts'
import type { Notice } from '../notice.ts'
import type { Policy, Route } from '../policy.ts'

/** How much one target is asked to take. */
export interface TargetLimits {
  /** Messages on their way to it at once. */
  concurrency: number
  perSecond: number
  /** Messages that may follow one another without a pause when none came before. */
  burst: number
  /** After this many messages about one rule in a row, further ones are grouped; absent where each condition needs its own message. */
  groupAfter?: number
}

/** One way of telling people. */
export interface Channel {
  /** Letters, digits and dashes; names it in routes, metrics and answers. */
  id: string
  /** How the page of channels calls it, and what it says of it; without them it shows the id. */
  words?: { name: string; doc: string }
  settings: Settings
  /** The variable that its address is from; absent where the address is the service's own. */
  address?: string
  /** Wakes people: its messages are tried for longer. */
  isPaging: boolean
  /** Opens something with each fire that its recovery closes: what a digest opened nobody would close. */
  opensIncidents?: true
  /** Also takes what other services tell, such as a weekly report. */
  announces?: true
  limits: TargetLimits
  /** Where it sends to, as its settings are now; none while one that it needs is missing. */
  targets(
    env: Environment,
    policy: Pick<Policy, 'webhookTargets' | 'subscriptions' | 'chatApplications'>,
  ): readonly ChannelTarget[]
}

/** One address of a channel. It holds the secrets that it needs where nobody else sees them. */
export interface ChannelTarget {
  /** Letters, digits, dashes and underscores; stays the same while its settings change. */
  id: string
  /** What routes call it. */
  name: string
  isEnabled: boolean
  minSeverity: Severity | null
  /** The address was saved in the product, and no variable has it. */
  isSaved?: boolean
  /** Of what a person brought: what it is told of, in place of the operator's routes. */
  own?: Pick<Route, 'matchRule' | 'matchHost'>
  /** Whether a notice must not be in a message with others; absent where the limits of the channel alone decide. */
  needsOwnMessage?(notice: Notice): boolean
  /** Sends once, within `sendWithinMs`: by HTTP the one way, by mail the other. Never throws for the other end. */
  send(message: Message, way: Send, dial: Dial): Promise<SendResult>
}

/** How a send ended. Reasons hold neither addresses nor what the other end said. */
export type SendResult =
  /** `remark`: what the operator should know although it was taken. */
  | { kind: 'ok'; remark?: string }
  /** Might go well later; `mayHaveArrived` when no answer came to what was sent. */
  | { kind: 'retry'; reason: string; afterMs?: number | undefined; mayHaveArrived?: boolean }
  /** This message will never be taken. */
  | { kind: 'permanent'; reason: string }
  /** Nothing will be taken until somebody changes the settings. */
  | { kind: 'config'; reason: string }

/** The longest that one send may take. */
export const sendWithinMs = 15_000
