import { hash } from 'node:crypto'
import { z } from 'zod'
import { Unit } from '#proto/catalogue.ts'
import { HostKey } from '#proto/host.ts'
import { Announcement } from '#proto/notify.ts'
import { Severity } from '#proto/rules.ts'
import type { OutboxMessage } from '#shared/store/store.ts'

/**
 * Something that people are to be told about one episode of one condition: written to the outbox in the step that decided it,
 * and delivered to targets from there. Its id is `<episode>:<sequence>`, so that a repeated step writes it once.
 */
export const Notice = z.object({
  id: z.string().max(200),
  kind: z.enum(['fire', 'escalate', 'remind', 'recover', 'digest', 'test', 'notify']),
  /** Names one time of being not ok, from the first breach to the recovery. */
  episode: z.string().max(160),
  /** Grows within the episode: a target that knows a later one is not told of an earlier one. */
  sequence: z.number().int().min(0),
  /** Null when it is about no host of the list, such as an inbound event. */
  hostKey: HostKey.nullable(),
  /** Where it comes from when it is no rule of ours: the source of the inbound event. */
  source: z.string().max(128).nullable().default(null),
  ruleId: z.string().max(160),
  title: z.string().max(300),
  /** Of a recovery: the severity it recovers from. */
  severity: Severity,
  value: z.number().nullable(),
  threshold: z.number().nullable(),
  unit: Unit,
  offenders: z.array(z.string().max(200)).max(5),
  runbook: z.string().max(4_000),
  /** Epoch milliseconds of the first breach, and of the decision. */
  sinceMs: z.number().int(),
  atMs: z.number().int(),
  /** Why it is told now, in words. */
  reason: z.string().max(300),
  /** What a digest gathers, each as it would have been told alone; `recovered` where it ended within the window. */
  gathered: z
    .array(
      z.object({
        /** Who gets the digest has been told of these episodes. */
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
  /** Of an end: nobody found it well, it is only not looked at any more, or nothing was heard of it. */
  isUnseen: z.boolean().optional(),
  /** It goes out again because the state store lost who took it: those of whom that is on record do not get it again. */
  isAgain: z.boolean().optional(),
  /** What another service says, where it is no condition that is told. */
  announced: Announcement.pick({ text: true, facts: true, path: true }).optional(),
})
export type Notice = z.infer<typeof Notice>

/** The topic under which the outbox holds notices. */
export const noticeTopic = 'notice'

/** A notice as the outbox holds it until each of its targets has an end. */
export const asMessage = (notice: Notice): OutboxMessage => ({ id: notice.id, topic: noticeTopic, payload: notice })

/** One notice for one target, as a dead letter holds it and as the outbox holds what is for nobody else. */
export const Addressed = z.object({ notice: Notice, channel: z.string().max(40), target: z.string().max(64) })
export type Addressed = z.infer<typeof Addressed>

/** The topic under which the outbox holds notices for one target alone. */
export const addressedTopic = 'addressed'

/** The same for the same notice and target: so each of them has one record of its end. */
export const deliveryIdOf = ({ notice, channel, target }: Addressed): string => `${notice.id}:${channel}:${target}`

/** A short name for a name that people gave. */
export const tokenOf = (name: string): string =>
  /^[A-Za-z0-9_-]{1,64}$/.test(name) ? name : hash('sha256', name).slice(0, 32)
