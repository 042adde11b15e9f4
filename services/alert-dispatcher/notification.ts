import { hash } from 'node:crypto'
import { z } from 'zod'
import { Unit } from '#proto/catalogue.ts'
import { HostKey } from '#proto/host.ts'
import { Announcement } from '#proto/announcements.ts'
import { Severity } from '#proto/rules.ts'
import type { OutboxMessage } from '#shared/store/store.ts'

/**
 * One notification about an episode. It is written to the outbox together with the decision and delivered from there.
 * Its id is `<episode>:<sequence>`, so a repeated write adds no second one.
 */
export const Notification = z.object({
  id: z.string().max(200),
  kind: z.enum(['fire', 'escalate', 'remind', 'recover', 'digest', 'test', 'notify']),
  /** Identifies one activation of a condition, from the first breach to the recovery. */
  episode: z.string().max(160),
  /** Increases within the episode. A target that received a later notification never receives an earlier one. */
  sequence: z.number().int().min(0),
  /** Null for events that concern no listed host, such as inbound events. */
  hostKey: HostKey.nullable(),
  /** Source of the inbound event; null for the product's own rules. */
  source: z.string().max(128).nullable().default(null),
  ruleId: z.string().max(160),
  title: z.string().max(300),
  /** For a recovery, the highest severity of the episode. */
  severity: Severity,
  value: z.number().nullable(),
  threshold: z.number().nullable(),
  unit: Unit,
  offenders: z.array(z.string().max(200)).max(5),
  runbook: z.string().max(4_000),
  /** When the condition first breached, in epoch milliseconds. */
  sinceMs: z.number().int(),
  /** When the notification was decided, in epoch milliseconds. */
  atMs: z.number().int(),
  /** Why the notification is sent, as a sentence. */
  reason: z.string().max(300),
  /** The notifications that a digest merges; `recovered` marks those that recovered within the window. */
  gathered: z
    .array(
      z.object({
        /** Episode that counts as notified once the digest is delivered. */
        episode: z.string().max(160),
        ruleId: z.string().max(160),
        hostKey: HostKey.nullable(),
        source: z.string().max(128).nullable().default(null),
        title: z.string(),
        severity: Severity,
        recovered: z.boolean(),
        isUnseen: z.boolean().optional(),
      }),
    )
    .max(500)
    .default([]),
  /** Set on a recovery without an ok evaluation: the condition is no longer monitored, or its events expired. */
  isUnseen: z.boolean().optional(),
  /**
   * Set if the notification is repeated because the state store lost the delivery record. Targets with a stored
   * delivery do not receive it again.
   */
  isAgain: z.boolean().optional(),
  /**
   * Set on the first notification of a condition that fired while alerting was disabled. Such notifications are sent as
   * one digest, so that the first channel does not receive each old alert on its own.
   */
  isOverdue: z.boolean().optional(),
  /** The announcement of another service, such as a weekly report. Set if the notification is not about a condition. */
  announced: Announcement.pick({ text: true, facts: true, path: true }).optional(),
})
export type Notification = z.infer<typeof Notification>

/** Outbox topic of notifications. */
export const notificationTopic = 'notice'

/** Returns the outbox message of a notification. The outbox holds it until every delivery has ended. */
export const toOutboxMessage = (notification: Notification): OutboxMessage => ({
  id: notification.id,
  topic: notificationTopic,
  payload: notification,
})

/** A notification for one target, as dead letters and single-target outbox messages store it. */
export const AddressedNotification = z.object({
  notification: Notification,
  channel: z.string().max(40),
  target: z.string().max(64),
})
export type AddressedNotification = z.infer<typeof AddressedNotification>

/** Outbox topic of notifications for a single target. */
export const addressedNotificationTopic = 'addressed'

/** Returns the id of a delivery: one per notification and target. */
export const getDeliveryId = ({ notification, channel, target }: AddressedNotification): string =>
  `${notification.id}:${channel}:${target}`

/** Returns the name itself if it is short and has only simple characters, otherwise a hash of it. */
export const toShortId = (name: string): string =>
  /^[A-Za-z0-9_-]{1,64}$/.test(name) ? name : hash('sha256', name).slice(0, 32)
