import { setTimeout as wait } from 'node:timers/promises'
import type { Channel, SendResult } from '../../alert-dispatcher/channels/channel.ts'
import type { Notification } from '../../alert-dispatcher/notification.ts'

/** How a target responds: `lost` accepts the message but never responds, `slow` responds late. */
export type TargetMode = 'ok' | 'failing' | 'lost' | 'slow' | 'refusing'
export const targetModes: readonly TargetMode[] = ['ok', 'ok', 'failing', 'lost', 'slow', 'refusing']

/** A message that reached a target, whether or not the target accepted it. */
export interface SendAttempt {
  target: string
  episode: string
  sequence: number
  kind: Notification['kind']
  taken: boolean
  /** Whether the sender received the response. */
  isAnswered: boolean
  beganMs: number
}

/** Fake notification targets. The test sets how they respond; they record all messages in order. */
export interface FakeTargets {
  readonly sends: readonly SendAttempt[]
  readonly modes: Map<string, TargetMode>
  /** Returns a channel to the targets. Messages reach them only while `isAlive` returns true. */
  channelOf(isAlive: () => boolean): Channel
}

export const targetNames = ['a', 'b', 'c'] as const
const slowMs = 60

export const openFakeTargets = (): FakeTargets => {
  const sends: SendAttempt[] = []
  const modes = new Map<string, TargetMode>(targetNames.map((name) => [name, 'ok']))
  const send = async (
    target: string,
    notifications: readonly Notification[],
    isAlive: () => boolean,
  ): Promise<SendResult> => {
    // A send that never ends would keep the timers of every killed dispatcher running.
    if (!isAlive()) throw new Error('the dispatcher was killed by the test')
    const beganMs = performance.now()
    const mode = modes.get(target) ?? 'ok'
    if (mode === 'slow') await wait(slowMs)
    const taken = mode === 'ok' || mode === 'lost' || mode === 'slow'
    for (const { episode, sequence, kind } of notifications)
      sends.push({ target, episode, sequence, kind, taken, isAnswered: mode !== 'lost' && isAlive(), beganMs })
    if (mode === 'lost') return { kind: 'retry', reason: 'did not answer in time', mayHaveArrived: true }
    if (mode === 'refusing') return { kind: 'permanent', reason: 'HTTP 400' }
    return taken ? { kind: 'ok' } : { kind: 'retry', reason: 'HTTP 500' }
  }
  return {
    sends,
    modes,
    channelOf: (isAlive) => ({
      id: 'model',
      settings: {},
      isPaging: false,
      limits: { concurrency: 4, perSecond: 1_000, burst: 1_000, groupAfter: 3 },
      targets: () =>
        targetNames.map((name) => ({
          id: name,
          name,
          isEnabled: true,
          minSeverity: null,
          send: ({ notification, members }) => send(name, members.length > 0 ? members : [notification], isAlive),
        })),
    }),
  }
}
