import type { Severity } from '#proto/rules.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Settings } from '#shared/config/setting.ts'
import type { Dialer } from '#shared/net/dial.ts'
import type { RequestSender } from '#shared/net/net.ts'
import type { Message } from '../messages/message.ts'
import type { Notification } from '../notification.ts'
import type { Policy, NotificationRoute } from '../policy.ts'

/** Rate limits of one target. */
export interface TargetLimits {
  /** Maximum number of concurrent requests. */
  concurrency: number
  perSecond: number
  /** Number of messages that may be sent at once after a pause. */
  burst: number
  /**
   * Number of consecutive messages about one rule after which further ones are grouped. Absent if each condition needs
   * its own message.
   */
  groupAfter?: number
}

/** A kind of notification channel. */
export interface Channel {
  /** Letters, digits and dashes; used in routes, metrics and responses. */
  id: string
  /** Name and description on the channels page; without them it shows the id. */
  words?: { name: string; doc: string }
  settings: Settings
  /** The variable with the address; absent if the service has a fixed one. */
  address?: string
  /** Whether the channel pages people; its messages are retried for longer. */
  isPaging: boolean
  /**
   * Set if an alert opens an incident that its recovery closes. Such channels receive no digest, because nothing would
   * close its incident.
   */
  opensIncidents?: true
  /** Set if the channel also sends notifications of other services, such as weekly reports. */
  announces?: true
  limits: TargetLimits
  /** Returns the configured targets; none if a required setting is missing. */
  targets(
    env: Environment,
    policy: Pick<Policy, 'webhookTargets' | 'subscriptions' | 'chatApplications'>,
  ): readonly ChannelTarget[]
}

/** One address of a channel, with the secrets that it requires. */
export interface ChannelTarget {
  /** Letters, digits, dashes and underscores; does not change with the settings. */
  id: string
  /** Name in routes. */
  name: string
  isEnabled: boolean
  minSeverity: Severity | null
  /** Whether the address was saved through the API instead of coming from a variable. */
  isSaved?: boolean
  /** Whether a saved address was entered on this machine, so that it may be private. */
  isLocal?: boolean | undefined
  /** Matchers of a user subscription, which replace the routes of the operator. */
  own?: Pick<NotificationRoute, 'matchRule' | 'matchHost'>
  /** Returns whether a notification must be sent alone; if absent, the limits of the channel decide. */
  needsOwnMessage?(notification: Notification): boolean
  /**
   * Sends once, within `maxSendMs`, over HTTP (`way`) or SMTP (`dial`). Failures of the receiver are returned, not
   * thrown.
   */
  send(message: Message, way: RequestSender, dial: Dialer): Promise<SendResult>
}

/** Result of a send. Reasons contain neither addresses nor response texts. */
export type SendResult =
  /** `remark` informs the operator about a problem despite the success. */
  | { kind: 'ok'; remark?: string }
  /** May succeed later. `mayHaveArrived` is set if the request had no response. */
  | { kind: 'retry'; reason: string; afterMs?: number | undefined; mayHaveArrived?: boolean }
  /** The receiver will never accept this message. */
  | { kind: 'permanent'; reason: string }
  /** The receiver accepts no messages until the settings change. */
  | { kind: 'config'; reason: string }

/** Maximum duration of one send, in milliseconds. */
export const maxSendMs = 15_000
